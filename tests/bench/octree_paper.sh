#!/usr/bin/env bash
# Tables and figures of the paper on the published octree (docs/measurements/octree-paper.md), re-made on one GPU, or as far as that
# goes on the host: passes by number of particles, by order and by opening angle, the uniform cube, direct sums and where the tree
# overtakes them; on a GPU also the walk of unsorted particles, cache-hit rates (by ncu) and nodes of 16, 32 and 64 bytes.
#
#   octree_paper.sh GROVE FOLDER [--small]
#
# GROVE: the program; bench_rope_gpu and bench_node_layout_gpu are looked for beside it and in tests/bench there. FOLDER gets the
# tables (forces.md, orders.md), which are also printed, the curves (figures.csv) and, where matplotlib is, figures.png; elsewhere
# `octree_plots.py FOLDER` draws it. --small: a trial of seconds on a CPU.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,10p' "$0"; exit 2; }
here=$(dirname "$(realpath "$0")")
grove=$1 folder=$2 sizes=50000,100000,200000,400000,800000 repeats=9
[ "${3:-}" != --small ] || { sizes=2500,5000 repeats=1; }
near=$(dirname "$(realpath "$(command -v "$grove")")")
most=${sizes##*,}

# Where a benchmark is; nothing, if it is not there.
bench() {
  for place in "$near" "$near/tests/bench"; do
    [ ! -x "$place/$1" ] || { echo "$place/$1"; return; }
  done
}

# Lines of bench_rope_gpu.
orders() {
  echo "| N | theta | unsorted | Morton | Hilbert | the tree's | interactions | bits |"
  echo "|---|---|---|---|---|---|---|---|"
  awk '$1 ~ /^[0-9]+$/ { bits = $NF == "bits" && $(NF - 1) == "same" ? "the same" : "DIFFER"
    printf "| %s | %s | %s | %s | %s | %s | %.1f | %s |\n", $1, $2, $3, $4, $5, $6, $7 + $8, bits }'
}

# Lines of ncu --csv: two launches for each order, of which the second counts.
hits() {
  echo "| order | L1 | L2 |"
  echo "|---|---|---|"
  python3 -c 'import csv, sys
lines = [line for line in sys.stdin if line.startswith("\"")]
rates = {}
for row in csv.DictReader(lines):
  rates.setdefault(row["Metric Name"], []).append(row["Metric Value"])
l1, l2 = (rates[name][1::2] for name in ("l1tex__t_sector_hit_rate.pct", "lts__t_sector_hit_rate.pct"))
for order, *pair in zip(("unsorted", "Morton", "Hilbert", "the tree\x27s"), l1, l2):
  print("| %s | %s %% | %s %% |" % (order, *pair))'
}

on_gpu() {
  local rope layout walk
  nvidia-smi -L >/dev/null 2>&1 || { printf '\nThere is no GPU here.\n'; return; }
  rope=$(bench bench_rope_gpu) layout=$(bench bench_node_layout_gpu)
  if [ -z "$rope" ] || [ -z "$layout" ]; then
    printf '\nNo bench_rope_gpu and bench_node_layout_gpu near %s: built without GROVE_BENCH or GROVE_CUDA.\n' "$near"
    return
  fi
  walk=(octree uniform-sphere opening_cell)
  printf '\nThe walk alone by the order in which threads take the particles, milliseconds\n\n'
  "$rope" monopole "$sizes" "$repeats" "${walk[@]}" 0.6 1 | orders
  printf '\nCache hits of that walk, %s particles\n\n' "$most"
  if command -v ncu >/dev/null; then
    ncu --csv --kernel-name follow --metrics l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct \
      "$rope" monopole "$most" 1 "${walk[@]}" 0.6 1 | hits
  else
    echo "no ncu here"
  fi
  printf '\nLayouts of nodes\n\n| N | bytes of a record | walk, ms | interactions | bits |\n|---|---|---|---|---|\n'
  "$layout" "$sizes" 0.6 "$repeats" | awk '{ printf "| %s | %s | %s | %s | %s |\n", $1, $2, $4, $6, $9 }'
}

python3 "$here/octree_forces.py" "$grove" "$folder" "${@:3}"
on_gpu | tee "$folder/orders.md"
if python3 -c 'import matplotlib' 2>/dev/null; then
  python3 "$here/octree_plots.py" "$folder"
else
  echo "no matplotlib here: draw the figures elsewhere by octree_plots.py $folder"
fi
