#!/usr/bin/env bash
# A long run of a small system, with a checkpoint every thousand steps or so, uses no more memory at its end than after a
# tenth of it: 1 % of growth fails. Minutes on two cores.
#
#   soak.sh GROVE [STEPS]      (STEPS: 100000, on two ranks)
set -uo pipefail
grove=$(realpath "$1")
steps=${2:-100000}
# shellcheck source=tests/cluster/ranks.sh
source "$(dirname "$0")/ranks.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

run() { # OUTPUT STEPS [OPTION OF grove run...]
  local end
  end=$(awk "BEGIN { print $2 * 0.005 }")
  cat >"$1.yml" <<END
units: {system: none}
initial_conditions: {model: plummer, n: 1000, seed: 3}
gravity: {softening: 0.05}
time: {end: $end, step: 0.005, eta: 0.03, min_step: 0.005}
output: {folder: $1, every: $(awk "BEGIN { print $end / 20 }"), render: false}
END
  mpirun -n 2 "$grove" run "$1.yml" "${@:3}" >"$1.log" 2>&1
}
taken() { tail -n 1 "$1/timing.csv" | cut -d, -f1; }

# Checkpoints are due by the clock, so a short run tells how long a thousand steps take, by the median: some write snapshots.
run short 2000 || { cat short.log; exit 1; }
every=$(tail -n +2 short/timing.csv | cut -d, -f7 | sort -g | awk '{ all[NR] = $1 } END { print 1000 * all[int(NR / 2)] }')

# step, resident kB of both ranks
watch() {
  while sleep 0.5; do
    [ -s long/timing.csv ] || continue
    pgrep -f "^$grove run long.yml" | while read -r rank; do cat "/proc/$rank/status" 2>/dev/null; done |
      awk -v step="$(taken long)" '/VmRSS/ { sum += $2; n += 1 } END { if (n == 2) print step, sum }'
  done >memory.txt
}
watch &
watcher=$!
run long "$steps" -P checkpoint.every="$every s"
status=$?
pkill -P "$watcher"
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
[ "$status" -eq 0 ] || { echo "FAILED: status $status"; tail long.log; exit 1; }
awk -v steps="$steps" -v checkpoints="$(grep -c '"checkpoint":[0-9.e-]*[1-9]' long/log.jsonl)" -v taken="$(taken long)" '
  $1 >= steps / 10 && !early { early = $2 }
  { late = $2 }
  END {
    printf "%d steps, %d checkpoints; %d kB after a tenth, %d kB at the end\n", taken, checkpoints, early, late
    if (!early || taken < steps || checkpoints < steps / 4000 || late > 1.01 * early) { print "FAILED"; exit 1 }
  }' memory.txt
