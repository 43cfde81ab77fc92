#!/usr/bin/env bash
# The tables of the papers on octrees on GPUs, re-made on one GPU, in Markdown; a minute in all:
#   an octree's time by phase against the number of particles, and against the opening angle;
#   the walk along ropes by the order in which threads take the particles, of octrees and of bisections;
#   direct summation against both trees.
# See bench_octree_gpu, bench_rope_gpu, bench_direct_gpu and bench_walk_gpu for what is measured.
#
#   octree_tables.sh BUILD_FOLDER
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,8p' "$0"; exit 2; }
bench=$(realpath "$1")/tests/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines of bench_octree_gpu with this number of particles and opening angle; an empty one stands for all.
octrees() {
  awk -v count="$1" -v theta="$2" '$1 ~ /^[0-9]+$/ && (count == "" || $1 == count) && (theta == "" || $11 == theta) {
    printf "| %d | %s | %s | %s | %s | %s | %s | %.2f | %s | %.2g %% | %.2g %% | %.0f + %.0f | %s |\n", $1, $11, $3, $4,
      $5, $6, $7, $3 + $4 + $5 + $6 + $7, $8, 100 * $15, 100 * $16, $12, $13, $9 }' "$work/octrees"
}
octree_head() {
  echo "| N | theta | sort | build | ordering | moments | walk | all, ms | walk along ropes | error, median | 99th percentile | cells + particles | nodes a particle |"
  echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
}

# Lines of bench_rope_gpu.
ropes() {
  echo "| N | theta | unsorted | Morton | Hilbert | the tree's | bits |"
  echo "|---|---|---|---|---|---|---|"
  awk '$1 ~ /^[0-9]+$/ { bits = $NF == "bits" && $(NF - 1) == "same" ? "the same" : "DIFFER"
    printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, bits }'
}

# Milliseconds of a pass with this tree, of 2^$2 particles. An octree is one for all.
pass() {
  local leaf=4096
  [ "$1" = bisection ] || leaf=$((1 << $2))
  mpirun -n 1 "$bench/bench_walk_gpu" "$2" plummer 0.007 quadrupole "$leaf" 5 "$1" | awk '$1 == "total" { print $2 }'
}

"$bench/bench_octree_gpu" 50000,100000,200000,400000,800000 plummer 0 hilbert 5 0.2,0.4,0.6,0.8,1.0 >"$work/octrees"
printf '\nAn octree of a Plummer sphere, one leaf, theta = 0.6 (b/theta), milliseconds\n\n'
octree_head
octrees "" 0.60
printf '\nThe same against theta\n\n'
octree_head
octrees 800000 ""
for tree in octree bisection; do
  printf '\nRopes through the %s, milliseconds\n\n' "$tree"
  "$bench/bench_rope_gpu" quadrupole 800000 3 "$tree" | ropes
done
printf '\nDirect summation and passes with trees (delta 0.007), milliseconds\n\n'
"$bench/bench_direct_gpu" spline 17 0 >"$work/direct"
echo "| N | direct | bisection | octree |"
echo "|---|---|---|---|"
for log2 in 13 14 15 16 17; do
  direct=$(awk -v n=$((1 << log2)) '$1 == "single" && $2 == n && $4 == n { print $5 }' "$work/direct")
  echo "| $((1 << log2)) | $direct | $(pass bisection "$log2") | $(pass octree "$log2") |"
done
