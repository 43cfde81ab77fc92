#!/usr/bin/env bash
# Error against time of both trees on one GPU, as a table: bisections, octrees in leaves of the ORB by rules `middle`
# and `centre`, and the global octree, of three models. See bench_walk_gpu for what is measured.
#
#   trees_gpu.sh BUILD_FOLDER [LOG2_PARTICLES [DELTA...]]
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
bench=$(realpath "$1")/tests/bench/bench_walk_gpu
log2=${2:-24}
shift $(($# < 2 ? $# : 2))
deltas=${*:-0.007 0.0014 0.00064}
deltas=${deltas// /,}

rows() {
  python3 -c 'import re, sys
text = sys.stdin.read()
head = r"(\w+) 2\^\d+ on \d+, delta (\S+), \w+, (\w+) in leaves of (\d+): (\S+) ms, (\S+) bytes"
found = list(re.finditer(head, text))
if not found: sys.exit(text)
for what, end in zip(found, [f.start() for f in found[1:]] + [len(text)]):
  part = text[what.start():end]
  ms = {phase: float(time) for phase, time in re.findall(r"^  (.+?) +(\S+) ms$", part, re.M)}
  pairs = re.search(r"per particle: (\S+) cells, (\S+) particles; per group: (\S+) tests", part).groups()
  errors = re.search(r"error: median (\S+) %, 99th percentile (\S+) %", part).groups()
  model, delta, tree, leaf, total, size = what.groups()
  print("| %s | %s | %s | %s | %s %% | %s %% | %s + %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %s |" % (
    model, tree, leaf, delta, *errors, *pairs, total, ms["records"] + ms["top cuts"] + ms["others"], ms["build"],
    ms["moments"], ms["walk"], size))'
}

echo "| model | tree | leaf | delta | error, median | 99th percentile | cells + particles | tests | pass, ms | cuts | trees | moments | walk | bytes a particle |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
for model in plummer hernquist nfw; do
  for tree in "4096 5 bisection" "4096 5 octree" "4096 5 centre" "$((1 << log2)) 5 octree"; do
    # shellcheck disable=SC2086 # several arguments
    mpirun -n 1 --bind-to none "$bench" "$log2" "$model" "$deltas" quadrupole $tree | rows
  done
done
