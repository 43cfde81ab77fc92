#!/usr/bin/env bash
# Figures 1 to 4 and both tables of the paper on the published kd-tree (docs/measurements/kd-tree-paper.md), re-made on one GPU, or
# on the host where there is none: errors of forces by alpha, interactions against errors of several trees, errors at 1000
# interactions, times of build and walk, and the energy of a run by three rules of rebuilds.
#
#   kd_figures.sh GROVE FOLDER [--small]
#
# GROVE: the program. FOLDER gets the tables (forces.md, energy.md), which are also printed, the curves (figures.csv, energy_*.csv)
# and, where matplotlib is, figures.png; elsewhere `kd_plots.py FOLDER` draws it. --small: a trial of seconds on a CPU; there are no
# other options, as those of kd_forces.py and kd_energy.py differ.
set -euo pipefail
if [ $# -lt 2 ] || [ $# -gt 3 ] || [ "${3:---small}" != --small ]; then
  sed -n '2,10p' "$0"
  exit 2
fi
here=$(dirname "$(realpath "$0")")
grove=$1 folder=$2
shift 2
python3 "$here/kd_forces.py" "$grove" "$folder" "$@"
echo
python3 "$here/kd_energy.py" "$grove" "$folder" "$@"
if python3 -c 'import matplotlib' 2>/dev/null; then
  python3 "$here/kd_plots.py" "$folder"
else
  echo "no matplotlib here: draw the figures elsewhere by kd_plots.py $folder"
fi
