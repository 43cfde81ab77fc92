#!/bin/bash
# The separation at which groups that walk octrees are split: the tuned one beside fixed ones, of an NFW sphere, the
# model m31 and a Plummer sphere. usage: tests/bench/critical_separation.sh BUILD [LOG2N [BACKEND [LEAF_SIZE]]], by default 21,
# cuda, and all particles in one leaf. One line per run (phase_means.py), and the separation.
set -euo pipefail
grove=$1/grove
log2n=${2:-21}
backend=${3:-cuda}
leaf=${4:-$((1 << log2n))}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME SEPARATION UNITS SOFTENING STEP END
run() {
  "$grove" run "$work/run.yml" --backend "$backend" --overwrite 2>"$work/log" \
    -P gravity.critical_separation="$2" || { cat "$work/log"; exit 1; }
  python3 "$here/phase_means.py" "$work/out" "$1, separation $2"
  grep "groups were split" "$work/log" || true
}
# model NAME UNITS SOFTENING STEP END EDGE [OPTION]...
model() {
  local name=$1 units=$2 softening=$3 step=$4 end=$5 edge=$6
  shift 6
  "$grove" ic --overwrite "$name" -n $((1 << log2n)) -o "$work/ic.hdf5" --units "$units" "$@" 2>"$work/log" >&2 || { cat "$work/log"; exit 1; }
  cat >"$work/run.yml" <<END
units: {system: $units}
initial_conditions: {file: $work/ic.hdf5}
gravity: {softening: $softening, delta: 0.007, tree: octree}
decomposition: {leaf_size: $leaf}
time: {end: $end, step: $step, steps: shared}
output: {folder: $work/out, render: false, fields: [ParticleIDs]}
END
  run "$name" 0
  for power in 0 2 3 4 5 6 7 8 9 10 12 14; do
    run "$name" "$(python3 -c "print($edge / 2**$power)")"
  done
}

model plummer none 0.001 0.01 0.4 4096
model nfw none 0.001 0.01 0.4 32
model m31 galactic 0.016 0.0001 0.004 512
