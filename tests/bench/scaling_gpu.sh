#!/usr/bin/env bash
# How a pass scales over the GPUs of one host, as two tables: the same number of particles on each GPU, and the same number
# in all. See bench_walk_gpu for what is measured. Efficiency: against the least number of GPUs that ran.
#
#   scaling_gpu.sh BUILD_FOLDER [LOG2_ON_EACH [LOG2_IN_ALL [GPUS...]]]     (24, 27, those of 1 2 4 8 that there are)
#
# LOG2_IN_ALL -: no second table.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8p' "$0"; exit 2; }
bench=$(realpath "$1")/tests/bench/bench_walk_gpu
each=${2:-24}
all=${3:-27}
shift $(($# < 3 ? $# : 3))
if [ $# = 0 ]; then
  there=$(nvidia-smi -L | wc -l)
  for gpus in 1 2 4 8; do [ "$gpus" -gt "$there" ] || set -- "$@" "$gpus"; done
fi

# row GPUS LOG2: one run.
row() {
  mpirun --oversubscribe -n "$1" --bind-to none "$bench" "$2" plummer 0.007 || echo "failed: $1 GPUs, 2^$2"
}

table() {
  python3 -c 'import re, sys
kind, base = sys.argv[1], None
print("| GPUs | N | pass, ms | efficiency | shared cuts | own cuts | trees | fields | moments | exchange | walk, own leaves | walk, rest | received, MB in all | bytes a particle |")
print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
text = sys.stdin.read()
heads = list(re.finditer(r"\w+ 2\^(\d+) on (\d+), .*?: (\S+) ms, (\S+) bytes a particle", text))
for head, end in zip(heads, [h.start() for h in heads[1:]] + [len(text)]):
  part = text[head.start():end]
  ms = {phase: float(time) for phase, time in re.findall(r"^  (.+?) +(\S+) ms$", part, re.M)}
  log2, gpus, total, size = int(head[1]), int(head[2]), float(head[3]), head[4]
  base = base or (gpus, total)
  efficiency = base[1] / total if kind == "weak" else base[0] * base[1] / (gpus * total)
  received = re.search(r"received (\S+) MB", part)[1]
  cells = [gpus, "2^%d" % log2, "%.1f" % total, "%.2f" % efficiency] + ["%.1f" % ms[p] for p in (
    "others", "top cuts", "build", "sort", "moments", "let", "own walk", "walk")] + [received, size]
  print("| " + " | ".join(map(str, cells)) + " |")
print("\n".join(line for line in text.splitlines() if line.startswith("failed") or "rror" in line and "error:" not in line))
print("forces: " + ", ".join(re.findall(r"forces (\w+)", text)))' "$1"
}

echo "2^$each particles on each GPU:"
echo
for gpus in "$@"; do
  log2=$each
  for ((more = gpus; more > 1; more /= 2)); do log2=$((log2 + 1)); done
  row "$gpus" "$log2"
done | table weak
[ "$all" != - ] || exit 0
echo
echo "2^$all particles in all:"
echo
for gpus in "$@"; do row "$gpus" "$all"; done | table strong
