#!/usr/bin/env bash
# MPI tests and a run over three hosts, one of them behind a slow cable (with_hosts.sh): the run ends with the same bits as on
# one host, and stops and goes on as there. Takes three minutes.
#
#   several_hosts.sh BUILD      (the folder of a build with its tests)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${2:-}" != inside ]; then
  [ $# -eq 1 ] || { sed -n '2,6p' "$0"; exit 2; }
  [ -x "$1/tests/test_comm" ] || { echo "$1: no folder of a build with its tests"; exit 2; }
  exec "$here/with_hosts.sh" "$0" "$(realpath "$1")" inside
fi
build=$1
grove=$build/grove
# shellcheck disable=SC2153 # with_hosts.sh sets it
read -ra mpirun <<<"$MPIRUN"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  tail -n 20 log
  failures=$((failures + 1))
}

# The tests of a decomposition are left out: their thousands of exchanges in turn would wait for the cable for an hour.
for test in comm exact_collectives message_exchange totals stop_requests; do
  for ranks in 3 7; do
    begin=$SECONDS
    timeout 300 "${mpirun[@]}" "$ranks" "$build/tests/test_$test" >log 2>&1 || fail "test_$test on $ranks ranks: status $?"
    echo "test_$test on $ranks ranks: $((SECONDS - begin)) s"
  done
done

parameters() { # FOLDER
  cat <<END
units: {system: none}
initial_conditions: {model: plummer, n: 3000}
gravity: {softening: 0.02}
time: {end: 0.3, step: 0.02}
output: {folder: $1, every: 0.3, render: false}
END
}
same() {
  env -i /usr/bin/python3 "$here/../support/same_snapshots.py" "$1/snapshot_001.hdf5" here/snapshot_001.hdf5 ||
    fail "$1: the end differs from that on one host"
}
parameters here >here.yml
mpirun --oversubscribe -n 2 "$grove" run here.yml >log 2>&1 || fail "the run on one host"
parameters hosts >hosts.yml
"${mpirun[@]}" 5 "$grove" run hosts.yml >log 2>&1 || fail "the run on three hosts"
same hosts

# A signal to mpirun reaches all hosts; a run goes on elsewhere.
parameters stopped >stopped.yml
"${mpirun[@]}" 3 "$grove" run stopped.yml >log 2>&1 &
run=$!
for _ in $(seq 300); do
  if [ "$(wc -l 2>/dev/null <stopped/timing.csv)" -gt 2 ] 2>/dev/null; then break; fi
  sleep 0.05
done
kill -USR1 "$run"
wait "$run"
status=$?
[ "$status" -eq 3 ] || fail "SIGUSR1 to mpirun: status $status, wanted 3"
mpirun --oversubscribe -n 2 "$grove" run stopped.yml --resume auto >log 2>&1 || fail "going on, on one host"
same stopped

# A rank that is killed ends those of the other hosts.
rm -rf hosts
"${mpirun[@]}" 3 "$grove" run hosts.yml -P time.end=1000 >log 2>&1 &
run=$!
for _ in $(seq 300); do
  if [ "$(wc -l 2>/dev/null <hosts/timing.csv)" -gt 2 ] 2>/dev/null; then break; fi
  sleep 0.05
done
pkill -KILL -n -f "$grove run hosts.yml"
for _ in $(seq 300); do
  if ! pgrep -f "$grove run hosts.yml" >/dev/null; then break; fi
  sleep 0.1
done
if pgrep -f "$grove run hosts.yml" >/dev/null; then fail "ranks live on 30 s after one was killed"; fi
wait "$run"
echo "several hosts: $failures failures"
exit $((failures > 0))
