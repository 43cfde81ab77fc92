#!/usr/bin/env bash
# How forces scale with ranks, or GPUs, each with the same number of particles. Writes OUT/runs/RANKS.json, one a run,
# OUT/weak.csv, and pictures of efficiency, phases, imbalance and bytes.
#
#   jobs/scaling/weak.sh [--plots | --help]      (--plots: of the runs that are there)
#
# An interrupted sweep goes on where it stopped, with the settings that it had. N are the particles of one rank, 200000 unless
# told otherwise; OUT is scaling-weak; all else is set by the environment as for jobs/scaling/strong.sh, but there is no SNAPSHOT.
set -euo pipefail
OUT=${OUT:-scaling-weak}
# shellcheck source=jobs/scaling/sweep.sh
source "$(dirname "$0")/sweep.sh"

if [ "$only_plots" = 0 ]; then
  same_settings "$MODEL, ${N:-200000} on each rank"
  for ranks in $RANKS; do measure "$ranks" "$(initial_conditions $((ranks * ${N:-200000})))"; done
fi
finish weak
