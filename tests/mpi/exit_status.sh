#!/usr/bin/env bash
# Bad input ends every command with status 2, one message and no half-written file, on any number of ranks.
#
#   exit_status.sh GROVE [MPIRUN...]      (MPIRUN with its options, up to the program)
set -uo pipefail
grove=$1
shift
mpirun=("$@")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# expect STATUS TEXT COMMAND...: what the command must end with, and a part of its message.
expect() {
  local status=$1 text=$2 actual messages
  shift 2
  "${mpirun[@]}" "$grove" "$@" >out 2>err
  actual=$?
  messages=$(grep -c '^grove: ' err)
  if grep -q MPI_ABORT out err; then
    echo "FAILED: grove $*: MPI aborted"
    failures=$((failures + 1))
  fi
  if [ "$actual" -ne "$status" ] || { [ "$status" -ne 0 ] && [ "$messages" -ne 1 ]; } || ! grep -qF -- "$text" out err; then
    echo "FAILED: grove $*: status $actual (wanted $status), $messages messages (wanted 1), wanted the text: $text"
    cat out err
    failures=$((failures + 1))
  fi
}

parameters() { cat >"$1"; }
parameters good.yml <<EOF
units: {system: none}
initial_conditions: {model: plummer, n: 200}
gravity: {softening: 0.05}
time: {end: 0.02, step: 0.01}
output: {folder: out-good, every: 0.02, render: false}
EOF
sed 's/softening/softning/' good.yml >unknown-key.yml
sed 's/every: 0.02/every: 0.02, times: [0.01]/' good.yml >contradiction.yml
sed 's/model: plummer, n: 200/file: cut.hdf5/; s/out-good/out-cut/' good.yml >cut.yml

expect 0 '200 particles' ic plummer -n 200 -o good.hdf5
head -c 3000 good.hdf5 >cut.hdf5
expect 0 'longest steps: 2 of 0.01, from' run good.yml
done_at_end() { [ "$(tail -n 1 out-good/energy.csv | cut -d, -f2)" = 0.02 ] || { echo "FAILED: the run is not done"; failures=$((failures + 1)); }; }
done_at_end
[ -f out-good/snapshot_001.hdf5 ] || { echo "FAILED: no snapshot of the end"; failures=$((failures + 1)); }

expect 2 '--overwrite' run good.yml
exec 9<out-good/lock
flock 9
expect 2 'process ' run good.yml --overwrite
expect 2 'is writing to it' run good.yml --resume auto
exec 9<&-
expect 0 'longest steps: 2' run good.yml --overwrite
done_at_end
expect 0 'verdict: energy: largest |dE/E|' run good.yml --overwrite --quiet
grep -q 'longest steps\|ETA\|peak' err && { echo "FAILED: --quiet says more than the verdict"; failures=$((failures + 1)); }
expect 0 'cells/p' run good.yml --overwrite --verbose
expect 2 'write "time.end=1 Gyr" in quotes' run good.yml -P time.end=1 Gyr
expect 2 'excludes' run good.yml --verbose --quiet
expect 2 'good.hdf5: is a snapshot' run good.hdf5
expect 0 'holds the results of an earlier run' run good.yml --check
expect 2 'the run does not fit' run good.yml --overwrite -P initial_conditions.n=2e10
expect 2 'the run does not fit: memory' ic plummer -n 2e10 -o huge.hdf5
done_at_end

# A run that ends before its first step leaves nothing in the way.
galaxy=(-P units.system=galactic -P time.step=0.001 -P time.end=0.002 -P initial_conditions.scale='1 kpc' -P output.folder=out-galaxy)
expect 2 'was a unit forgotten' run good.yml "${galaxy[@]}" -P initial_conditions.mass=1e11
expect 3 'stopped before its first step, as asked by limits.wall_clock' run good.yml "${galaxy[@]}" -P limits.wall_clock=1e-3
expect 0 'longest steps: 2' run good.yml "${galaxy[@]}" -P initial_conditions.mass='1e11 Msun'

expect 2 'no-such-command' no-such-command
expect 2 'missing.yml' run missing.yml
expect 2 'softening' run unknown-key.yml
expect 2 'times' run contradiction.yml
expect 2 'cut.hdf5' run cut.yml
expect 2 'time.step' run good.yml -P time.step=-1
expect 2 'gravity.softening' run good.yml -P 'gravity.softening=16 Msun'
expect 2 '500 leaves' run good.yml --overwrite -P decomposition.rule=halves -P decomposition.leaves=500
expect 2 '/proc/nowhere' run good.yml -P output.folder=/proc/nowhere
expect 2 'cut.hdf5' force cut.hdf5
expect 2 'missing.hdf5' info missing.hdf5
expect 2 'lost beside the extent' force good.hdf5 --softening 1e-30
expect 2 '--softening leaves out type 1, of which there are 200' force good.hdf5 --softening '{2: 0.1}'
expect 2 '--softening {1: 3 Msun}' force good.hdf5 --softening '{1: 3 Msun}'
expect 2 'gravity.softening leaves out type 1, of which there are 200' run good.yml --overwrite -P 'gravity.softening={0: 0.1}'
expect 2 '--overwrite to replace it' ic plummer -n 100 -o good.hdf5
expect 2 '/proc/nowhere' ic plummer -n 200 -o /proc/nowhere/file.hdf5
expect 2 'nowhere: the output folder does not exist' decompose good.hdf5 --json nowhere/x.json
expect 2 'is the input too' decompose good.hdf5 --json good.hdf5
expect 2 'is the input too' info good.hdf5 --json ./good.hdf5
expect 2 'give --tree octree or kd' force good.hdf5 --bucket 4
expect 2 'give --tree octree, or leave it out' force good.hdf5 --tree kd --curve morton
expect 2 'takes the cells of octrees' force good.hdf5 --criterion opening_cell
expect 2 'give --tree kd' force good.hdf5 --tree octree --split median
expect 2 'is the input too' force good.hdf5 -o good.hdf5
expect 2 '--candidates' decompose good.hdf5 --candidates 4
expect 2 '--payload' decompose good.hdf5 --backend kokkos --payload nccl
expect 2 '--seed' decompose good.hdf5 --seed 3
expect 2 'not both' decompose good.hdf5 --uniform 100
expect 2 '2.5' decompose good.hdf5 --repeat 2.5
expect 2 'no-such-model' ic no-such-model -o file.hdf5

expect 2 'nowhere: the output folder does not exist' doctor --json nowhere/x.json
expect 0 'processors' doctor --json doctor.json
[ -s doctor.json ] || { echo "FAILED: no report of the doctor"; failures=$((failures + 1)); }

# Snapshots with a fault: each is refused where forces are computed, and nothing is computed without softening.
mkdir bad
env -i /usr/bin/python3 "$here/../support/make_bad_snapshots.py" good.hdf5 bad >bad.txt
[ -s bad.txt ] || { echo "FAILED: no bad snapshots were made"; failures=$((failures + 1)); }
sed 's/model: plummer, n: 200/file: good.hdf5/; s/softening: 0.05/softening: 0/; s/step: 0.01/step: 0.01, steps: shared/; s/out-good/out-file/' good.yml >from-file.yml
while read -r file text <&3; do
  expect 2 "$text" force "$file" --softening 0
done 3<bad.txt
expect 2 'softening' run from-file.yml -P initial_conditions.file=bad/same-place.hdf5
expect 2 'Redshift' run from-file.yml -P initial_conditions.file=bad/comoving.hdf5
expect 2 'Redshift' decompose bad/comoving.hdf5
expect 2 'unique' decompose bad/same-id.hdf5
expect 0 'exact' decompose bad/same-place.hdf5 --backend kokkos
expect 0 'Redshift' info bad/comoving.hdf5

expect 0 'checksum   right' validate good.hdf5
expect 1 'PartType1/Coordinates, particle 0, id 1: (nan, 0, 0)' validate bad/nan-position.hdf5
expect 2 'no such file' validate missing.hdf5
expect 0 'checksum   right' validate good.hdf5 good.hdf5
expect 1 '1 of 2 are not valid' validate bad/nan-position.hdf5 good.hdf5
expect 2 '2 of 3 are not valid' validate bad/nan-position.hdf5 missing.hdf5 good.hdf5

# A file written under a link goes where the link leads; something that is no file stays as it is.
ln -s target.json link.json
expect 0 'exact' decompose good.hdf5 --backend kokkos --json link.json
mkfifo pipe
cat pipe >from-pipe.json &
expect 0 'exact' decompose good.hdf5 --backend kokkos --json pipe
wait
if [ ! -L link.json ] || [ ! -s target.json ] || [ ! -p pipe ] || [ ! -s from-pipe.json ]; then
  echo "FAILED: a link or a pipe was not written through"
  failures=$((failures + 1))
fi

left=$(find . -name '*.tmp' -o -name 'file.hdf5')
if [ -n "$left" ]; then
  echo "FAILED: left behind: $left"
  failures=$((failures + 1))
fi
exit $((failures > 0))
