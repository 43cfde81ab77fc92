#!/usr/bin/env bash
# A run that is asked to stop, in each of the ways there are, ends on all ranks with status 3 and one message that says who
# asked.
#
#   stopping.sh GROVE MPIRUN...      (MPIRUN with its options, up to the program)
set -uo pipefail
# shellcheck source=tests/support/command_test.sh
source "$(dirname "$0")/../support/command_test.sh"
shift
mpirun=("$@")

# Longer than any test takes; steps of some milliseconds.
cat >run.yml <<END
units: {system: none}
initial_conditions: {model: plummer, n: 500}
gravity: {softening: 0.05}
time: {end: 100000, step: 0.01}
output: {folder: out, render: false}
END

# start COMMAND...: in the background, until the first steps are done. Its process: $started.
start() {
  rm -rf out
  "$@" "$grove" run run.yml "${options[@]}" >log 2>err &
  started=$!
  for _ in $(seq 300); do
    [ "$(wc -l 2>/dev/null <out/timing.csv)" -gt 2 ] 2>/dev/null && return
    sleep 0.1
  done
  fail "no step was done"
}
# The processes of the ranks, in no order.
ranks() { pgrep -P "$1" -f "$grove run" || true; }

# expect STATUS TEXT: of the run that was started.
expect() {
  wait "$started"
  local status=$?
  [ "$status" -eq "$1" ] || fail "$2: status $status, wanted $1"
  [ "$(grep -c "grove: stopped at time .*, as asked by $2" err)" -eq 1 ] || fail "no single message: $2"
}

options=()
start "${mpirun[@]}"
kill -USR2 "$started" # a snapshot, and on
for _ in $(seq 100); do
  ls out/requested_step_*.hdf5 >/dev/null 2>&1 && break
  sleep 0.1
done
kill -USR1 "$started"
expect 3 'signal SIGUSR1'
[ "$(find out -name 'requested_step_*.hdf5' | wc -l)" -eq 1 ] || fail "SIGUSR2 to mpirun: not one snapshot"

# One rank alone; mpirun does not know.
for signal in TERM INT; do
  start "${mpirun[@]}"
  kill "-$signal" "$(ranks "$started" | tail -n 1)"
  expect 3 "signal SIG$signal"
done

start "${mpirun[@]}"
touch out/stop
expect 3 'the file out/stop'
[ ! -e out/stop ] || fail "the stop file is still there"

options=(-P 'limits.wall_clock=0.05 min')
start "${mpirun[@]}"
expect 3 'limits.wall_clock'

exit $((failures > 0))
