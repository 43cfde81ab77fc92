#!/usr/bin/env bash
# The sweeps of jobs/scaling on small numbers: tables with the right efficiency, pictures, and what is refused.
#
#   scaling.sh GROVE
set -uo pipefail
GROVE=$(realpath "$1")
export GROVE RANKS="1 3" REPEAT=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scripts=$(cd "$(dirname "$0")/../../jobs/scaling" && pwd)
failures=0
fail() {
  echo "FAILED: $*"
  cat "$folder/log"
  failures=$((failures + 1))
}

# column NAME FILE: of the last row.
column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } END { print $k }' "$2"; }

for kind in strong weak; do
  out=$folder/$kind
  OUT=$out N=3000 "$scripts/$kind.sh" >"$folder/log" 2>&1 || fail "$kind: status $?"
  n=3000
  [ $kind = strong ] || n=9000
  [ "$(column ranks "$out/$kind.csv") $(column n "$out/$kind.csv")" = "3 $n" ] || fail "$kind: the row of 3 ranks"
  # By the seconds in the table: particles per second and rank on 3 ranks over those on one.
  awk -F, -v n=$n 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { base = 3000 / $at["seconds"] }
    NR == 3 { found = $at["efficiency"]; error = found - n / $at["seconds"] / 3 / base }
    END { exit !(found > 0 && error ^ 2 < 1e-20) }' "$out/$kind.csv" || fail "$kind: efficiency"
  for picture in efficiency phases imbalance bytes_moved; do
    [ -s "$out/${kind}_$picture.png" ] || fail "$kind: no picture of $picture"
  done
done

# refused KIND N TEXT: a sweep that would mix what was measured with runs of other sizes.
refused() {
  rm "$folder/$1/runs/1.json"
  OUT=$folder/$1 N=$2 "$scripts/$1.sh" >"$folder/log" 2>&1
  [ $? -eq 1 ] || fail "$1: runs of other sizes: status"
  grep -q "$3" "$folder/log" || fail "$1: runs of other sizes: message"
}
refused strong 2000 'runs of other particles'
refused weak 2000 'different numbers of particles'
exit $((failures > 0))
