#!/usr/bin/env bash
# The module of Python finds the same bits as `grove force` and `grove run`, on any number of ranks, with mpi4py and without.
#
#   same_bits.sh GROVE PYTHON MPIRUN...
set -euo pipefail
grove=$(realpath "$1") python=$2
shift 2
script=$(realpath "$(dirname "$0")")/same_bits.py
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$grove" ic hernquist -n 3000 -o start.hdf5 >/dev/null
"$grove" force start.hdf5 --softening 0.02 --delta 0.001 --audit 100 -o forces.hdf5 --json forces.json >/dev/null
cat >run.yml <<EOF
units: {system: none}
initial_conditions: {file: start.hdf5}
gravity: {softening: 0.02, delta: 0.001}
time: {end: 0.03, step: 0.01, eta: 0.5}
output: {folder: output, times: [0.03], render: false}
EOF
"$grove" ic evrard -n 500 --units none -o gas.hdf5 >/dev/null
cat >gas.yml <<EOF
units: {system: none}
initial_conditions: {file: gas.hdf5}
gravity: {softening: 0.05}
time: {end: 0.2, step: 0.1}
output: {folder: gas_output, times: [0.2], render: false}
EOF
for run in run gas; do
  "$grove" run $run.yml 2>err || { cat err; exit 1; }
done
for ranks in 1 2 3; do
  "$@" $ranks "$python" "$script" own >"result_$ranks"
  cmp result_1 "result_$ranks"
done
# An error on one rank alone, which the other would wait for, ends both.
if timeout 60 "$@" 2 "$python" -c 'import grove
if grove.rank() == 1: raise ValueError("on rank 1")
grove.centre_of_mass([[0, 0, 0]], [1])' 2>err || [ $? -eq 124 ] || ! grep -q 'ValueError: on rank 1' err; then
  echo "an error on one rank:"
  cat err
  exit 1
fi
# mpi4py starts MPI then, and ends it.
if "$python" -c 'import mpi4py' 2>/dev/null; then
  "$@" 2 "$python" "$script" mpi4py >result_mpi4py
  cmp result_1 result_mpi4py
else
  echo "mpi4py is not installed: not tried with it"
fi
