#!/usr/bin/env bash
# A periodic box in expanding space on so many ranks is the same as on one, byte for byte: initial conditions, the run's
# snapshots, energies and power spectra, also where it was stopped and went on with other ranks, and the power spectrum of a file.
#
#   cosmological_box.sh GROVE RANKS MPIRUN...      (MPIRUN with its options, up to the number of ranks)
set -uo pipefail
# shellcheck source=tests/support/command_test.sh
. "$(dirname "$0")/../support/command_test.sh"
ranks=$2
shift 2
mpirun=("$@")

cat >run.yml <<EOF
initial_conditions: {file: ic.hdf5}
cosmology: {preset: planck2018}
box: {periodic: true, size: 40 Mpc}
gravity: {softening: 200 kpc}
decomposition: {leaf_size: 128}
time: {end: z=2, step_ln_a: 0.1}
output: {times: ["z=9", "z=5", "z=2"], render: false, power: true}
EOF

# on RANKS FOLDER: all that there; a run in the folder `stopped` is stopped and goes on with other ranks.
on() {
  mkdir "$2" && cd "$2" || return
  local start=("${mpirun[@]}" "$1" "$grove") status
  "${start[@]}" ic cosmological-box --sites 12 --box-size '40 Mpc' --redshift 9 -o ic.hdf5 >out 2>err || fail "$2: no box"
  if [ "$2" = stopped ]; then
    for _ in 1 2 3; do # steps: a run finds the file after its first one
      mkdir -p run && touch run/stop
      "${start[@]}" run --quiet --resume auto ../run.yml -P output.folder=run 2>err
      status=$?
      [ $status = 3 ] || fail "$2: status $status, wanted 3"
    done
    start=("${mpirun[@]}" $(($1 % 3 + 1)) "$grove")
  fi
  "${start[@]}" run --quiet --resume auto ../run.yml -P output.folder=run 2>err || fail "$2: no run"
  "${start[@]}" power run/snapshot_002.hdf5 --folds 1 -o power.csv >out 2>err || fail "$2: no power"
  sha256sum ic.hdf5 power.csv run/snapshot_*.hdf5 run/snapshot_*_power.csv run/energy.csv >sums
  cd ..
}

on 1 alone
[ "$(wc -l <alone/sums)" = 9 ] || fail "$(wc -l <alone/sums) files, wanted 9"
[ "$ranks" = 1 ] || on "$ranks" together
on "$ranks" stopped
for folder in together stopped; do
  [ ! -d "$folder" ] || diff alone/sums "$folder/sums" || fail "$folder: other bytes on $ranks ranks"
done
exit $((failures > 0))
