#!/usr/bin/env bash
# groups_gpu.sh BUILD [LOG2...]: pass, walk and errors with groups of 32 and of 64 particles, on one GPU, for two
# models and, of Plummer's, three errors. At the same delta groups of 64 err less: their second line takes a
# larger delta, so that times can be compared at equal error, that of 2^24 particles.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4p' "$0"; exit 2; }
build=$1
shift
for log2 in "${@:-24}"; do
  for case in "plummer 0.0068 0.0091" "plummer 0.0014 0.0017" "plummer 0.00064 0.00078" "hernquist 0.007 0.0091"; do
    read -r model delta larger <<<"$case"
    for walk in "$delta 32" "$delta 64" "$larger 64"; do
      "$build"/tests/bench/bench_walk_gpu "$log2" "$model" "${walk% *}" quadrupole 4096 5 bisection "${walk#* }" |
        grep -E "delta|build|moments|walk|total|per particle|error"
    done
  done
done
