#!/usr/bin/env bash
# Runs a command on a SLURM of its own: slurmctld, slurmd and munged on this machine, with a state folder that goes away
# with them. Needs root and Debian's slurmctld, slurmd, slurm-client and munge.
#
#   with_slurm.sh COMMAND...
#
# The command finds the cluster by SLURM_CONF. One node of as many CPUs as the machine has, but 3 at least, so that ranks
# are oversubscribed and no queue forms; nothing is bound. Logs: tail of slurmctld's and slurmd's, if the command fails.
set -uo pipefail
[ $# -gt 0 ] || { sed -n '2,8p' "$0"; exit 2; }
for program in slurmctld slurmd sbatch munged; do
  command -v "$program" >/dev/null || {
    echo "with_slurm: $program is missing: apt-get install slurmctld slurmd slurm-client munge" >&2
    exit 2
  }
done
state=$(mktemp -d)
chmod 755 "$state"
mkdir "$state/spool" "$state/save"
host=$(hostname -s)
cpus=$(nproc)
[ "$cpus" -ge 3 ] || cpus=3
daemons=()
# shellcheck disable=SC2317 # by the trap
end() {
  for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do kill "${daemons[i]}" 2>/dev/null; done
  for _ in $(seq 50); do # slurmd may be deaf while it ends a job
    kill -0 "${daemons[@]}" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "${daemons[@]}" 2>/dev/null
  wait
  rm -rf "$state"
}
trap end EXIT
trap "exit 1" INT TERM

# Ports that no other SLURM on this machine is likely to have.
cat >"$state/slurm.conf" <<END
ClusterName=grove
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
# A requeued job may start again as soon as its last credential has expired.
AuthInfo=socket=$state/munge.socket,cred_expire=5
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
JobRequeue=1
KillWait=10
StateSaveLocation=$state/save
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:4
END
export SLURM_CONF=$state/slurm.conf

head -c 1024 /dev/urandom >"$state/key"
chmod 400 "$state/key"
munged --foreground --force --key-file="$state/key" --socket="$state/munge.socket" --pid-file="$state/munged.pid" \
  --seed-file="$state/seed" --log-file="$state/munged.log" 2>/dev/null &
daemons+=($!)
for _ in $(seq 50); do [ -S "$state/munge.socket" ] && break; sleep 0.1; done
slurmctld -D >"$state/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >"$state/slurmd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 150); do
  [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
  sleep 0.2
done

"$@"
status=$?
if [ "$status" -ne 0 ]; then
  sinfo
  tail -n 30 "$state/slurmctld.log" "$state/slurmd.log" "$state/munged.log"
fi
exit "$status"
