#!/usr/bin/env bash
# SIGUSR1 to the scripts of jobs/slurm before the run can take it: the run does not begin, and the job ends with status 3, or
# goes back into the queue. Needs no SLURM: srun and scontrol are stood in for.
set -uo pipefail
scripts=$(cd "$(dirname "$0")/../../jobs/slurm" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
  cat "$folder/log"
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# The doctor signals the script that started it; a run in a chain is ended by the signal, as srun is before it is set up.
cat >"$folder/srun" <<'END'
#!/usr/bin/env bash
echo "srun $*"
case "$* $CHAIN" in
  *doctor*) kill -USR1 $PPID ;;
  *run*1) kill -USR1 $$ ;;
esac
END
printf '#!/bin/sh\necho "scontrol $*"\n' >"$folder/scontrol"
chmod +x "$folder/srun" "$folder/scontrol"
export PATH=$folder:$PATH SLURM_JOB_ID=17 SLURM_CPUS_PER_TASK=1

for kind in single-node many-nodes cpu; do
  CHAIN=0 "$scripts/$kind.sbatch" a.yml >"$folder/log" 2>&1
  status=$?
  [ $status -eq 3 ] || fail "$kind: status $status"
  grep -q doctor "$folder/log" || fail "$kind: no doctor"
  ! grep -q a.yml "$folder/log" || fail "$kind: the run began"
done
CHAIN=1 "$scripts/chain.sbatch" a.yml >"$folder/log" 2>&1 || fail "chain: status $?"
grep -q 'scontrol requeue 17' "$folder/log" || fail "chain: not requeued"
exit $((failures > 0))
