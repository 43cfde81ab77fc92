#!/usr/bin/env bash
# The cosmological sphere of Nakasato 2012 (J. Comput. Sci. 3, 132) from redshift 49 to 0, of 2.9 million particles, with figures:
# four pictures of 30 Mpc, and the interactions of each step.
#
#   cosmology.sh GROVE FOLDER [--published] [--sites N] [--ranks P]
#
# GROVE: the program. FOLDER gets the run and panels.png, interactions.png. Without more the run has Grove's default accuracy, in block
# steps even in the logarithm of the scale factor. --published: as published, 3584 shared steps even in time, monopoles, one octree with a
# particle in each bucket, opening angle 0.6, ropes, 29 snapshots. --sites: along an edge of the box, 256; 64 are a run for a
# CPU. --ranks: by mpirun. A python3 with h5py and matplotlib draws the figures: PYTHON, or that of the user, or the
# system's.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,11p' "$0"; exit 2; }
here=$(dirname "$(realpath "$0")")
grove=$1 folder=$2 way=default sites=256 ranks=0
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --published) way=published; shift ;;
    --sites) sites=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    *) echo "cosmology.sh: no such option: $1"; exit 2 ;;
  esac
done
python=$("$here/../python-with.sh" h5py matplotlib)
mkdir -p "$folder"
"$python" "$here/cosmology.py" parameters "$sites" "$way" "$folder" > "$folder/sphere.yml"
run=("$grove" run "$folder/sphere.yml" --overwrite)
[ "$ranks" = 0 ] || run=(mpirun -n "$ranks" "${run[@]}")
"${run[@]}"
"$python" "$here/cosmology.py" figures "$sites" "$way" "$folder"
