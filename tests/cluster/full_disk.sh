#!/usr/bin/env bash
# A disk that is full when a checkpoint is to be written: the run says how much room is missing and goes on, the
# checkpoints of before stay whole, nothing half-written is left, and where there is room again the run goes on
# from them to the end that it has anywhere. Needs leave to mount a tmpfs in a namespace of its own.
#
#   full_disk.sh GROVE
set -uo pipefail
if [ "${in_namespace:-}" != yes ]; then
  in_namespace=yes exec unshare --user --map-root-user --mount "$0" "$@"
fi
grove=$(realpath "$1")
# shellcheck source=tests/cluster/ranks.sh
source "$(dirname "$0")/ranks.sh"
folder=$(mktemp -d)
trap 'umount "$folder/small" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir small
mount -t tmpfs -o size=1100k tmpfs small || exit 1

cat >run.yml <<EOF
units: {system: none}
initial_conditions: {model: merger, n: 3000}
gravity: {softening: 0.02}
time: {end: 0.05, step: 0.05, eta: 0.1}
output: {folder: roomy, every: 1, render: false}
checkpoint: {every: 1e-9 s}
EOF
failures=0
check() { # WHAT COMMAND...
  local what=$1
  shift
  "$@" >/dev/null || { echo "FAILED: $what" && failures=$((failures + 1)); }
}

mpirun -n 3 "$grove" run run.yml 2>roomy.err || exit 1
# A snapshot of 200 kB and two checkpoints of 360 kB: a third one has no room.
mpirun -n 3 "$grove" run run.yml -P output.folder=small/out 2>full.err
check 'the run goes on' grep -q '^ *8 ' full.err
check 'it says how many bytes are wanted and how many are free' \
  grep -Eq 'warning: no checkpoint of step 3: .*: [0-9]+ bytes are needed, [0-9]+ are free' full.err
check 'two checkpoints stay' [ "$(cd small/out/checkpoints && echo *)" = 'step_000000001 step_000000002' ]
dd if=/dev/zero of=small/rest 2>dd.err
check 'a check of another run finds no room' grep -q 'disk: .*, 0 MB are available' <(
  "$grove" run run.yml -P output.folder=small/other --check 2>&1)
rm small/rest
mount -o remount,size=4m small
mpirun -n 2 "$grove" run run.yml -P output.folder=small/out --resume auto 2>resumed.err
check 'they are valid' grep -q 'goes on after step 2' resumed.err
check 'no warning any more' [ "$(grep -c warning resumed.err)" -eq 0 ]
check 'the end is that of a run with room' cmp small/out/snapshot_001.hdf5 roomy/snapshot_001.hdf5

# Asked to stop where there is no room for the last checkpoint: an error, and those of before are kept.
rm -rf small/out
mount -o remount,size=1100k small
(until [ -d small/out/checkpoints/step_000000002 ]; do sleep 0.01; done && touch small/out/stop) &
mpirun -n 3 "$grove" run run.yml -P time.end=5 -P output.folder=small/out 2>stopped.err
status=$?
wait
check 'a stop without a checkpoint is an error' [ $status -eq 2 ]
check 'that says so' grep -Eq '^grove: .*: [0-9]+ bytes are needed, [0-9]+ are free' stopped.err
check 'two checkpoints stay after a stop' [ "$(cd small/out/checkpoints && echo *)" = 'step_000000001 step_000000002' ]

# Full when a snapshot is due: the run ends, with a checkpoint if there is room for one, and goes on with that snapshot.
rm -rf small/out
mount -o remount,size=8m small
mpirun -n 3 "$grove" run run.yml -P checkpoint.every=1h -P output.folder=small/out 2>/dev/null
cp small/out/snapshot_001.hdf5 whole.hdf5
rm -rf small/out
# Behind the first snapshot there is room for the logs alone: half as much again as a snapshot is.
mount -o remount,size=$(($(stat -c %s whole.hdf5) * 3 / 2 / 1024))k small
mpirun -n 3 "$grove" run run.yml -P checkpoint.every=1h -P output.folder=small/out 2>due.err
status=$?
check 'a due snapshot without room is an error' [ $status -eq 2 ]
check 'that names it' grep -Eq '^grove: .*snapshot_001.hdf5.* bytes are needed, [0-9]+ are free' due.err
check 'nothing half-written is left' [ -z "$(find small/out -name '*.tmp')" ]
mount -o remount,size=8m small
mpirun -n 2 "$grove" run run.yml -P output.folder=small/out --resume auto 2>>due.err || failures=$((failures + 1))
check 'where there is room again the snapshot comes' cmp small/out/snapshot_001.hdf5 whole.hdf5
[ $failures -eq 0 ] || cat full.err resumed.err stopped.err due.err
exit $((failures > 0))
