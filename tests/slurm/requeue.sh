#!/usr/bin/env bash
# jobs/slurm/chain.sbatch on a real SLURM, started for this: jobs of one minute each, requeued and resumed until the run is
# complete, over three jobs at least; the end is, bit for bit, that of a run without interruption. Takes some ten minutes.
# Needs root, SLURM and munge (see with_slurm.sh), h5py.
#
#   requeue.sh GROVE
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${2:-}" != inside ]; then
  [ $# -eq 1 ] || { sed -n '2,7p' "$0"; exit 2; }
  exec "$here/with_slurm.sh" "$0" "$(realpath "$1")" inside
fi
export GROVE=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# Ranks may be more than cores; Open MPI then wants to be told to yield.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

parameters() { # FOLDER END
  cat <<END
units: {system: none}
initial_conditions: {model: plummer, n: 4000}
gravity: {softening: 0.02}
time: {end: $2, step: 0.01, steps: shared}
output: {folder: $1, every: $2, render: false}
END
}
# As many steps as take this machine, busy as it is, some four minutes: more than two jobs of one minute. SLURM sends its signal up
# to a minute before it is due, so some stop early, and there are more. A short run tells what a step takes.
parameters short 0.5 >short.yml
srun -n 2 "$GROVE" run short.yml >short.log 2>&1 || fail "the short run: status $?"
steps=$(awk -F, 'NR > 2 { seconds += $7; n += 1 } END { print int(240 * n / seconds) }' short/timing.csv)
end=$(awk "BEGIN { print $steps * 0.01 }")
echo "a run of $steps steps"

parameters chain "$end" >chain.yml
job=$(sbatch --parsable --nodes=1 --ntasks=2 --ntasks-per-node=2 --gpus-per-node=0 --time=1 --signal=B:USR1@10 \
  --output=chain.log "$here/../../jobs/slurm/chain.sbatch" chain.yml) || fail "sbatch"
for _ in $(seq 1200); do
  state=$(squeue -h -j "$job" -o %T 2>/dev/null)
  if [ -z "$state" ]; then break; fi
  sleep 1
done
status=$(scontrol show job "$job" | sed -n 's/.*ExitCode=\([0-9]*:[0-9]*\).*/\1/p')
[ "$status" = 0:0 ] || fail "the chain ended with $status, state ${state:-gone}"
stops=$(grep -c '^grove: stopped at time' chain.log)
[ "$stops" -ge 2 ] || fail "$((stops + 1)) jobs, wanted 3 at least"
echo "$((stops + 1)) jobs"
grep '^grove: stopped' chain.log
grep -q '^grove: stopped .* signal SIGUSR1' chain.log || fail "no job was stopped by the signal that the script hands on"

# The same command once more has nothing to do.
srun -n 2 "$GROVE" run chain.yml --resume auto >again.log 2>&1 || fail "a complete run: status $?"
grep -q 'the run is complete' again.log || fail "a complete run is not called so"

# Without interruption, on another number of ranks.
parameters whole "$end" >whole.yml
srun -n 3 "$GROVE" run whole.yml >whole.log 2>&1 || fail "the run without interruption: status $?"
env -i /usr/bin/python3 "$here/../support/same_snapshots.py" chain/snapshot_001.hdf5 whole/snapshot_001.hdf5 ||
  fail "the ends differ"
if [ "$failures" -gt 0 ]; then tail -n 40 chain.log again.log whole.log; fi
exit $((failures > 0))
