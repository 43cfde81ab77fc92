#!/usr/bin/env bash
# Runs a command among three hosts made up on this machine: network namespaces with own addresses and host names, joined by a
# bridge; the cable of the third takes two milliseconds in each direction. They go away with the command. Needs root,
# iproute2, /dev/net/tun and Open MPI.
#
#   with_hosts.sh COMMAND...
#
# The command runs on the first host. MPIRUN holds mpirun with all that leads it over the hosts, over TCP alone, up to -n.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,8p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
tag=grove$$
state=$(mktemp -d)
# shellcheck disable=SC2317 # by the trap
end() {
  if [ -n "${cable:-}" ]; then kill "$cable"; fi
  for name in 1 2 3 switch; do ip netns delete "$tag-$name" 2>/dev/null || true; done
  rm -rf "$state"
}
trap end EXIT

ip netns add "$tag-switch"
ip -n "$tag-switch" link add bridge type bridge
ip -n "$tag-switch" link set bridge up
for host in 1 2 3; do
  ip netns add "$tag-$host"
  ip -n "$tag-$host" link set lo up
  if [ "$host" = 3 ]; then
    "$here/slow_link.py" "$tag-3:eth0" "$tag-switch:port3" 2 &
    cable=$!
    for _ in $(seq 50); do
      if ip -n "$tag-switch" link show port3 >/dev/null 2>&1; then break; fi
      sleep 0.1
    done
  else
    ip -n "$tag-$host" link add eth0 type veth peer name "port$host" netns "$tag-switch"
  fi
  ip -n "$tag-$host" address add "10.77.0.$host/24" dev eth0
  ip -n "$tag-$host" link set eth0 up
  ip -n "$tag-switch" link set "port$host" master bridge up
  echo "10.77.0.$host slots=8" >>"$state/hosts"
done
time_to() { ip netns exec "$tag-1" ping -qc 2 -i 0.2 "10.77.0.$1" 2>/dev/null | sed -n 's/.*= [^/]*\/\([^/]*\).*/\1/p'; }
if command -v ping >/dev/null; then echo "round trips from host 1: $(time_to 2) ms to host 2, $(time_to 3) ms to host 3"; fi

# mpirun starts its daemons with this, in the place of ssh: "agent HOST COMMAND...". A host name of its own keeps Open MPI
# from taking all of them for one host.
cat >"$state/agent" <<END
#!/usr/bin/env bash
host=\$1
shift
number=\${host##*.}
exec ip netns exec "$tag-\$number" unshare --uts bash -c 'hostname host'\$number'; exec bash -c "\$0"' "\$*"
END
chmod +x "$state/agent"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export MPIRUN="mpirun --hostfile $state/hosts --map-by node --oversubscribe --bind-to none --mca plm_rsh_agent $state/agent \
--mca plm rsh --mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
--mca mpi_yield_when_idle 1 -n"
"$state/agent" 10.77.0.1 "$(printf '%q ' "$@")"
