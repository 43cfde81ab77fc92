#!/usr/bin/env bash
# `grove report`: one page with all parts, complete in itself, of a run that is done, of one that died, and of an old one that
# did not begin.
#
#   report.sh GROVE
set -uo pipefail
grove=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

cat >run.yml <<EOF
units: {system: none}
initial_conditions: {model: plummer, n: 1000}
gravity: {softening: 0.001}
time: {end: 0.2, step: 0.05}
output: {folder: "a & b", every: 0.1}
audit: {every: 2, particles: 50}
EOF
"$grove" run run.yml 2>err || { cat err; exit 1; }

# has PAGE TEXT...
has() {
  local page=$1 text
  shift
  for text in "$@"; do grep -qF -- "$text" "$page" || fail "$page: no '$text'"; done
}

"$grove" report 'a & b' >out || fail "no report"
page='a & b/report.html'
[ "$(cat out)" = "$page" ] || fail "said $(cat out)"
has "$page" '<h1>a &amp; b</h1>' '<b>1,000</b>' '<b>0.2 of 0.2</b>' 'data:image/png;base64,' 'snapshot_002' 'model: plummer' \
  'commit' 'total energy is from its begin' 'Energies at the ends' 'Conserved quantities' 'Forces of a sample' \
  'Phases of the steps' 'interacts with' 'Memory of the rank' 'Particles by level' 'What the levels cost'
# One rank sends nothing and is in balance: these are all figures that there are.
[ "$(grep -c '<svg' "$page")" -eq 9 ] || fail "$(grep -c '<svg' "$page") figures"
grep -qE '(src|href)="[^#d]' "$page" && fail "needs other files"
grep -qF 'has not reached its end' "$page" && fail "the run was done"

# Killed while it wrote: the last lines are torn, and there is no end.
cp -r 'a & b' killed
for file in killed/energy.csv killed/timing.csv killed/timebins.csv; do truncate -s -5 "$file"; done
sed -i '/"event":"end"/d' killed/log.jsonl
truncate -s -5 killed/log.jsonl
"$grove" report killed -o killed.html >out || fail "no report of a killed run"
has killed.html 'has not reached its end' 'Phases of the steps' 'commit'

# Of a run by an older version that had not made a step.
cp -r 'a & b' old
rm old/log.jsonl old/*.png old/used-parameters.yml
for file in old/*.csv; do head -n 1 "$file" >header && mv header "$file"; done
"$grove" report old >out || fail "no report of empty tables"

# refused STATUS TEXT COMMAND...
refused() {
  local status=$1 text=$2
  shift 2
  "$@" >out 2>err
  [ $? -eq "$status" ] || fail "status of $*"
  grep -qF -- "$text" err || fail "no '$text' of $*: $(cat err)"
}
mkdir empty
refused 2 'no timing.csv' "$grove" report empty
refused 2 'does not exist' "$grove" report old -o nowhere/page.html
refused 2 'python3-matplotlib' env PYTHONHOME=/nowhere "$grove" report old
exit $((failures > 0))
