#!/bin/bash
# Block time steps on one GPU: the model m31 with block and with shared steps, by number of particles, by fixed and by
# tuned intervals between new trees (also of an NFW sphere), and for 1 Gyr. usage: tests/bench/block_steps_gpu.sh BUILD
# [LOG2N [BACKEND]], by default 23 and cuda. Takes some five minutes on an H200. One line per run (phase_means.py).
set -euo pipefail
grove=$1/grove
log2n=${2:-23}
backend=${3:-cuda}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/m31.yml" <<END
units: {system: galactic}
initial_conditions: {file: $work/ic.hdf5}
gravity: {softening: 16 pc, delta: 0.0078}
time: {end: 102.4 Myr, step: 3.2 Myr, eta: 0.5, min_step: 0.09 Myr}
output: {folder: $work/out, render: false, fields: [ParticleIDs]}
END
cat >"$work/nfw.yml" <<END
units: {system: none}
initial_conditions: {file: $work/ic.hdf5}
gravity: {softening: 0.001, delta: 0.0078}
time: {end: 3, step: 0.25, eta: 0.5}
output: {folder: $work/out, render: false, fields: [ParticleIDs]}
END

# make MODEL LOG2N [OPTION]...
make() {
  local model=$1 log2=$2
  shift 2
  "$grove" ic --overwrite "$model" -n $((1 << log2)) -o "$work/ic.hdf5" "$@" 2>"$work/log" >&2 || { cat "$work/log"; exit 1; }
}
# run NAME PARAMETERS [OPTION]...
run() {
  local name=$1 parameters=$2
  shift 2
  "$grove" run "$work/$parameters" --backend "$backend" --overwrite "$@" 2>"$work/log" || { cat "$work/log"; exit 1; }
  python3 "$here/phase_means.py" "$work/out" "$name"
}

make m31 "$log2n" --units galactic
for delta in 0.0078 0.0005; do
  run "delta $delta, block" m31.yml -P gravity.delta=$delta
  for step in 0.1 0.2; do
    run "delta $delta, shared $step Myr" m31.yml -P gravity.delta=$delta -P time.steps=shared -P "time.step=$step Myr" \
      -P time.min_step=0
  done
done
run "without a shortest step" m31.yml -P time.min_step=0
run "1 Gyr" m31.yml -P gravity.delta=0.0017 -P "time.end=1 Gyr" -P "output.every=250 Myr" -P "output.types=[2]" \
  -P "output.fields=[Coordinates,Velocities,Masses,ParticleIDs]"
python3 "$here/m31_disk.py" "$work/out"

for model in m31 nfw; do
  if [ $model = m31 ]; then make m31 $((log2n - 1)) --units galactic; else make nfw $((log2n - 1)); fi
  for interval in 0 1 2 3 4 5 6 8 12 16 24 32 64; do
    run "$model, interval $interval" $model.yml -P tuning.rebuild_interval=$interval \
      -P "time.end=$([ $model = m31 ] && echo 12.8 Myr || echo 3)"
  done
done
for ((log2 = 10; log2 < log2n; ++log2)); do
  make m31 "$log2" --units galactic
  run "2^$log2" m31.yml -P "time.end=12.8 Myr"
done
