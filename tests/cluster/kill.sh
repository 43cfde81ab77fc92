#!/usr/bin/env bash
# Kills a run at random moments, also while it writes checkpoints and snapshots, goes on with other numbers of
# ranks, and compares the end with that of a run that was left alone: snapshots and logs, byte for byte.
#
#   kill.sh GROVE [KILLS] [SEED]      (KILLS: 50, one run each)
set -uo pipefail
grove=$(realpath "$1")
kills=${2:-50}
RANDOM=${3:-1}
# shellcheck source=tests/cluster/ranks.sh
source "$(dirname "$0")/ranks.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# A checkpoint after each step, so that much of the time goes into writing.
cat >run.yml <<EOF
units: {system: none}
initial_conditions: {model: merger, n: 2000}
gravity: {softening: 0.02}
time: {end: 0.2, step: 0.05, eta: 0.1}
output: {folder: alone, every: 0.02, render: false}
checkpoint: {every: 1e-9 s}
EOF

run() { # RANKS OUTPUT
  mpirun -n "$1" "$grove" run run.yml --resume auto -P output.folder="$2"
}
# Results that must be the same, whatever happened on the way; no measured times, and nothing that depends on ranks.
results() { # OUTPUT
  (cd "$1" && sha256sum snapshot_*.hdf5 energy.csv && cut -d, -f1-5 timing.csv && cut -d, -f1-8 rungs.csv)
}
milliseconds() { date +%s%3N; }

length=60000
for _ in 1 2; do # the first one also brings the program into memory
  rm -rf alone
  begin=$(milliseconds)
  run 3 alone 2>alone.err || { cat alone.err; exit 1; }
  took=$(($(milliseconds) - begin))
  length=$((took < length ? took : length))
done
results alone >alone.txt
steps=$(tail -n 1 alone/timing.csv | cut -d, -f1)
echo "left alone: $length ms, $steps steps"

# reach CHECKPOINT PROCESS: waits for that checkpoint, or a later one, or for the end of the process.
reach() {
  local there
  while kill -0 "$2" 2>/dev/null; do
    for there in "${1%/*}"/step_?????????; do
      [[ $there < $1 ]] || [[ $there == *'?'* ]] || return
    done
    sleep 0.002
  done
}

failures=0 begun=0 unfinished=0 fresh=0
others=(1 2 4 5)
for ((i = 1; i <= kills; ++i)); do
  rm -rf killed
  mpirun -n 3 "$grove" run run.yml --resume auto -P output.folder=killed 2>killed.err &
  mpirun=$!
  # One in four at any moment from the start on; the others behind some step, however busy this machine is.
  if ((i % 4 == 0)); then
    delay=$(((RANDOM * 32768 + RANDOM) % length))
  else
    reach "killed/checkpoints/step_$(printf %09d $((RANDOM % steps)))" $mpirun
    delay=$((RANDOM % 30))
  fi
  sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
  ranks=$(pgrep -P $mpirun)
  # shellcheck disable=SC2086
  was_killed=no && [ -n "$ranks" ] && kill -KILL $ranks 2>/dev/null && was_killed=yes
  wait $mpirun 2>/dev/null
  # Not in the start of MPI, before anything was written, nor behind the last step.
  [ $was_killed = yes ] && [ -s killed/log.jsonl ] && begun=$((begun + 1))
  [ -n "$(find killed -name '*.tmp' 2>/dev/null | head -n 1)" ] && unfinished=$((unfinished + 1))
  count=${others[i % ${#others[@]}]}
  status=0
  run "$count" killed 2>resumed.err || status=$?
  grep -q 'goes on after\|is complete' resumed.err || fresh=$((fresh + 1))
  if [ $status -ne 0 ] || ! results killed 2>&1 | cmp -s - alone.txt || [ -n "$(find killed -name '*.tmp')" ]; then
    echo "FAILED: kill $i after $delay ms, then $count ranks: status $status, or not as the run that was left alone"
    results killed 2>&1 | diff - alone.txt | head -n 5
    [ $status -eq 0 ] || tail -n 5 resumed.err
    failures=$((failures + 1))
  fi
done
echo "$((kills - failures)) of $kills ended as the run that was left alone; $begun were killed on their way," \
  "$unfinished of them while they wrote, $fresh began afresh"
[ "$begun" -gt 0 ] || { echo "FAILED: none was killed in time" && failures=$((failures + 1)); }
# Some 50 kills hit many writes; a few may hit none.
[ "$kills" -lt 20 ] || [ "$unfinished" -gt 0 ] || { echo "FAILED: none was killed while it wrote" && failures=$((failures + 1)); }
exit $((failures > 0))
