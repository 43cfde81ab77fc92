#!/usr/bin/env bash
# The price of sharing one core of two with another program, with leaves shared out by measured time: the merger
# of 40,000 particles on two ranks, each bound to a core. Compare builds; give the machine no other work.
#
#   slow_rank.sh BUILD_FOLDER...
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
here=$(realpath "$(dirname "$0")")
job=$here/../../jobs/examples/merger.yml
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
work=$(mktemp -d)
other=
trap '[ -z "$other" ] || kill "$other"; rm -rf "$work"' EXIT

# run BUILD NAME -P ...
run() {
  local grove name=$2
  grove=$(realpath "$1")/grove
  shift 2
  # shellcheck disable=SC2016 # to be expanded by each rank
  mpirun --bind-to none -n 2 bash -c 'exec taskset -c "$OMPI_COMM_WORLD_LOCAL_RANK" "$@"' bash "$grove" run --overwrite "$job" \
    -P initial_conditions.n=40000 -P time.end=1.6 -P audit.every=0 -P output.render=false -P "output.folder=$work/out" "$@" \
    >/dev/null 2>"$work/log" || { cat "$work/log"; exit 1; }
  python3 "$here/phase_means.py" "$work/out" "$name"
}

all() {
  for build in "${builds[@]}"; do
    run "$build" "$build, $1, shared steps:"
    run "$build" "$build, $1, cuts every 20 steps:" -P tuning.rebuild_interval=20
    run "$build" "$build, $1, block steps:" -P time.step=0.08 -P time.eta=0.2
  done
}

builds=("$@")
all "both cores alone"
taskset -c 1 bash -c 'while :; do :; done' &
other=$!
all "one core shared"
