#!/usr/bin/env bash
# What a rank keeps and sends beside its own particles and the trees of others, for more and more ranks with 4000 particles and
# leaves of 64 each: bytes of its tables by what they are, and what it sends in a pass with new cuts in a steady decomposition,
# each of the rank that has most.
#
#   large_p.sh GROVE [--small] [RANKS...]
#
# GROVE: the program. RANKS: by default 4 16 64 256, more than most machines have cores: times say nothing.
# --small: fewer particles and ranks, a trial of seconds.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9p' "$0"; exit 2; }
grove=$(realpath "$1")
shift
each=4000 ranks=(4 16 64 256)
[ "${1:-}" != --small ] || { each=1000 ranks=(2 4); shift; }
[ $# -eq 0 ] || ranks=("$@")
export OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for p in "${ranks[@]}"; do
  "$grove" ic --overwrite plummer -n $((each * p)) -o "$work/ic.hdf5" >"$work/log"
  mpirun --oversubscribe --bind-to none -n "$p" "$grove" force "$work/ic.hdf5" --softening 0.01 --delta 0.0091 --rule domains --leaf 64 --audit 0 --repeat 3 \
    --backend kokkos --json "$work/$p.json" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  python3 - "$work/$p.json" "$p" "${ranks[0]}" <<'END'
import json, sys
path, ranks, first = sys.argv[1:]
result = json.load(open(path))
tables, counts = result["tables"], result["counts"]
columns = {"ranks": ranks, **tables, "all tables": sum(tables.values()), "trees of others": result["let"]["bytes"] // int(ranks),
           **{name: counts[name] for name in ("messages", "collectives")}, "bytes sent": counts["bytes"], "forces": result["forces_hash"]}
if ranks == first:
    print("|", " | ".join(columns), "|")
    print("|" + "---|" * len(columns))
print("|", " | ".join(map(str, columns.values())), "|")
END
done
