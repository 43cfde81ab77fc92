#!/usr/bin/env bash
# How forces scale with ranks, or GPUs, on the same particles. Writes OUT/runs/RANKS.json, one a run, OUT/strong.csv, and
# pictures of efficiency, phases, imbalance and bytes.
#
#   jobs/scaling/strong.sh [--plots | --help]      (--plots: of the runs that are there)
#
# An interrupted sweep goes on where it stopped, with the settings that it had. Its status is 1 if a run failed. All is set by
# the environment; paths are relative to the clone:
#
#   RANKS     numbers of ranks                         1 2 4 8
#   N         particles in all                         1000000
#   SNAPSHOT  or a file of them                        MODEL, made once
#   MODEL     of `grove ic`                            plummer
#   REPEAT    passes, of which the median counts       5
#   OPTIONS   of `grove force`, such as --delta 0.001  none
#   LAUNCH    starts ranks; their number follows it    mpirun --oversubscribe -n
#   GROVE     the executable                           build/grove
#   OUT       folder of the results                    scaling-strong
#   PLOTS     0: no table, no pictures
#   PYTHON    with matplotlib, for these               python3, /usr/bin/python3
#   REDO      1: repeat runs that are there already; those of other settings go
set -euo pipefail
OUT=${OUT:-scaling-strong}
# shellcheck source=jobs/scaling/sweep.sh
source "$(dirname "$0")/sweep.sh"

if [ "$only_plots" = 0 ]; then
  same_settings "${SNAPSHOT:-$MODEL, ${N:-1000000} in all}"
  snapshot=${SNAPSHOT:-$(initial_conditions "${N:-1000000}")}
  for ranks in $RANKS; do measure "$ranks" "$snapshot"; done
fi
finish strong
