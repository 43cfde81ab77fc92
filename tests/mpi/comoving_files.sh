#!/usr/bin/env bash
# Comoving files of other programs run as what they are: GADGET-2's in both byte orders, and SWIFT's, end where Grove's own
# file of the same particles does.
#
#   comoving_files.sh GROVE
set -uo pipefail
# shellcheck source=tests/support/command_test.sh
. "$(dirname "$0")/../support/command_test.sh"
tool=$OLDPWD/${0%/*}/../support/comoving_as.py
[ "${0:0:1}" != / ] || tool=${0%/*}/../support/comoving_as.py
as() { PATH=/usr/bin:$PATH python3 "$tool" "$@"; }

"$grove" ic cosmological-box --sites 10 --box-size '50 Mpc' --redshift 9 -o own.hdf5 >out 2>err || fail "no box"
for kind in gadget-little gadget-big swift; do as "$kind" own.hdf5 "$kind" 2>err || fail "no file of $kind"; done
mv swift swift.hdf5

# Space expands by a factor of 2.5 until the end, and particles move by a tenth of their mean distance and more.
cat >run.yml <<EOF
cosmology: {preset: planck2018}
box: {periodic: true} # as large as the files say, in kpc/h or Mpc
gravity: {softening: 500 kpc}
time: {end: z=3, step_ln_a: 0.1}
output: {times: ["z=3"], render: false}
EOF
for file in own.hdf5 gadget-little gadget-big swift.hdf5; do
  "$grove" run --quiet run.yml -P initial_conditions.file="$file" -P output.folder="of-$file" 2>err || fail "no run of $file"
done
last=snapshot_000.hdf5

# A run that goes on and a check have the file's size, too.
own() { "$grove" run run.yml -P initial_conditions.file=own.hdf5 -P output.folder=of-own.hdf5 "$@" >out 2>err; }
own --resume auto || fail "a complete run does not go on"
grep -q "the run is complete" out err || fail "a complete run is not told as such"
own --resume auto -P 'box.size=49 Mpc' && fail "a run goes on with another box"
grep -q "box.size" err || fail "no word of the other box"
own --resume auto -P time.end=z=2.5 && fail "a run goes on to no whole number of its steps"
grep -q "such as .* Gyr (z = 2.64[0-9]*) or .* Gyr (z = 2.33[0-9]*), not .* (z = 2.5)" err || fail "no redshifts of ends that would do: $(cat err)"
end=$(sed -n 's/.*such as \([0-9.]* Gyr\) (z.*/\1/p' err | head -1)
own --resume auto -P output.types=[4] -P time.end="$end" && fail "a run goes on to snapshots of types that are not there"
grep -q "output.types: there are no particles of type 4; their types are 1" err || fail "no word of types: $(cat err)"

# A run goes on without the file, to the same bytes.
last_of() { find "$1"/checkpoints -mindepth 1 -maxdepth 1 -name 'step_*' | sort | tail -1; }
own -P output.folder=short -P checkpoint.every='1e-9 s' || fail "no run with many checkpoints"
mv own.hdf5 elsewhere.hdf5
mv short/snapshot_000.hdf5 whole.hdf5
rm -r "$(last_of short)"
own -P output.folder=short --resume "$(last_of short)" --check || fail "no check of a run that goes on without its file: $(cat err)"
own -P output.folder=short --resume auto || fail "a run needs its file to go on: $(cat err)"
grep -q "goes on after step .*, time .* (z = [0-9.]*)" out err || fail "no redshift of where a run goes on"
cmp short/snapshot_000.hdf5 whole.hdf5 || fail "a run that goes on without its file comes to something else"
own -P output.folder=short --resume never --check && fail "a new run needs no file"
grep -q "own.hdf5: no such file" err || fail "no word of the file that is not there"
mv elsewhere.hdf5 own.hdf5

# A file over another h is told as such, before its box is.
own -P output.folder=other --check -P cosmology.h=0.7 && fail "a run takes a file over another h"
grep -q "HubbleParam is 0.6" err || fail "no word of another h: $(cat err)"

own --resume never -P output.folder=never --check || fail "no check of a run in the file's box"
grep -q "^  size: 50000" of-own.hdf5/used-parameters.yml || fail "used-parameters.yml does not have the file's size"

# Particles of z = 9 that a run takes to be of z = 5.
"$grove" run --quiet run.yml -P initial_conditions.file=own.hdf5 -P output.folder=late -P time.begin=z=5 -P time.end=z=4.5 -P 'output.times=[]' \
  2>err >out || fail "no run from z = 5"
grep -q "warning: .*is of z = 9, and the run begins at z = 5" err || fail "no warning of the begin"
"$grove" run --check run.yml -P initial_conditions.file=own.hdf5 -P output.folder=never -P time.begin=z=5 -P time.end=z=4.5 \
  -P 'output.times=[]' 2>err >out || fail "no check of a run from z = 5"
grep -q "^warning .*is of z = 9, and the run begins at z = 5" out || fail "no warning of the begin by --check"
grep -q "^times .*(z = 5) to .*(z = 4.5)" out || fail "no redshifts of begin and end by --check"
"$grove" run --check run.yml -P initial_conditions.file=own.hdf5 -P output.folder=never -P box.periodic=false 2>err >out ||
  fail "no check of a run in open space"
grep -q "^warning .*states a .*box of .*; space is taken to be open" out || fail "no warning of open space: $(cat out)"
"$grove" run --check run.yml -P initial_conditions.file=own.hdf5 -P output.folder=never -P time.end=0 -P 'output.times=[]' 2>err >out &&
  fail "a run that ends at time 0"
grep -q "a redshift is written z=0" err || fail "no word of how redshifts are written: $(cat err)"
"$grove" run run.yml -P initial_conditions.file=own.hdf5 -P output.folder=never -P time.end=z=12 -P 'output.times=[]' 2>err >out &&
  fail "a run that ends before its begin"
grep -q "(z = 12) must be later than the begin, .* (z = 9)" err || fail "no redshifts of end and begin"

# difference FILE FILE: of the ends, in mean distances of particles.
difference() { as compare "$1" "$2" 2>err || fail "$1 and $2 cannot be compared"; }
below() { awk -v value="$1" -v bound="$2" 'BEGIN { exit !(value != "" && value < bound) }'; }

moved=$(difference own.hdf5 "of-own.hdf5/$last")
below "$moved" 0.05 && fail "particles moved by $moved alone"
for order in little big; do
  # The same numbers of 64 bits in the same units: the same bits.
  apart=$(difference "of-own.hdf5/$last" "of-gadget-$order/$last")
  below "$apart" 1e-12 || fail "gadget-$order ends $apart off"
done
# h and sqrt(a) round the numbers of SWIFT's file differently, by 1e-16, and so do accelerations in single precision then: by 6e-8
# of what particles move, over some 15 steps, and a little more as neighbours fall together.
apart=$(difference "of-own.hdf5/$last" "of-swift.hdf5/$last")
below "$apart" 1e-5 || fail "swift ends $apart off"
exit $((failures > 0))
