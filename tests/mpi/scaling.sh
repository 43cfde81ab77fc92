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

# refused STATUS TEXT KIND [ARGUMENT...]: by which sweep.
refused() {
  OUT=$folder/$3 "$scripts/$3.sh" "${@:4}" >"$folder/log" 2>&1
  local status=$?
  [ $status -eq "$1" ] || fail "$3, $2: status $status"
  grep -q "$2" "$folder/log" || fail "$3: no message '$2'"
}
# Measured runs are not taken for runs of other settings, nor removed.
N=2000 refused 2 '> particles: plummer, 2000 in all' strong
N=2000 refused 2 '> particles: plummer, 2000 on each rank' weak
N=3000 MODEL=uniform refused 2 '> particles: uniform' strong
N=3000 OPTIONS="--delta 0.01" refused 2 '> options: --delta 0.01' weak
SNAPSHOT=$folder/strong/plummer-3000.hdf5 refused 2 '> particles: .*/plummer-3000.hdf5' strong
OUT=$folder/strong N=3000 PLOTS=0 "$scripts/strong.sh" >"$folder/log" 2>&1 || fail "the same settings: status $?"
[ "$(grep -c 'is there' "$folder/log")" -eq 2 ] || fail "runs of the same settings were repeated"
# With REDO=1 they go, those on other numbers of ranks, too.
OUT=$folder/strong N=2000 RANKS=1 REDO=1 "$scripts/strong.sh" >"$folder/log" 2>&1 || fail "REDO=1: status $?"
[ "$(column n "$folder/strong/strong.csv")" = 2000 ] || fail "REDO=1: particles"
[ ! -e "$folder/strong/runs/3.json" ] || fail "REDO=1: runs of other settings are left"

# Nor does a table mix runs that were put together by hand.
cp "$folder/weak/runs/3.json" "$folder/strong/runs"
refused 1 'runs of other particles' strong --plots
cp "$folder/strong/runs/1.json" "$folder/weak/runs"
refused 1 'different numbers of particles' weak --plots

# A number of ranks that fails does not keep the others from being measured, but the sweep has failed.
cat >"$folder/launch" <<'END'
#!/bin/sh
[ "$1" != 2 ] || exit 1
exec mpirun --oversubscribe -n "$@"
END
chmod +x "$folder/launch"
OUT=$folder/partly LAUNCH=$folder/launch RANKS="2 1" N=1000 "$scripts/strong.sh" >"$folder/log" 2>&1
status=$?
[ $status -eq 1 ] || fail "a run that fails: status $status"
grep -q 'numbers of ranks: 2$' "$folder/log" || fail "a run that fails: message"
[ "$(column ranks "$folder/partly/strong.csv")" = 1 ] || fail "a run that fails: no run after it"
exit $((failures > 0))
