#!/usr/bin/env bash
# The figures of docs/measurements/cpu.md: forces of a Hernquist sphere of 1,000,000 particles on one and two ranks, their
# error, and the decomposition of 20,000,000 points. Wall-clock times: run it on a quiet machine.
#
#   cpu_figures.sh BUILD_FOLDER [REPETITIONS]
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6p' "$0"; exit 2; }
grove=$(realpath "$1")/grove
repetitions=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# median FILE...: of each phase of the second pass, over the repetitions.
median() {
  python3 - "$@" <<'EOF'
import json, statistics, sys
runs = [json.load(open(name)) for name in sys.argv[1:]]
middle = lambda values: statistics.median(values)
first = runs[0]
phases = {p: middle(r["timing"][p] for r in runs) for p in first["timing"]}
rate = middle(r["particles_per_second"] for r in runs) / 1e6
print(" ".join(f"{p} {1e3 * s:.1f}" for p, s in phases.items()), f"ms; {rate:.2f} million particles/s;",
      f"{first['interactions_per_particle']['cell']:.0f} + {first['interactions_per_particle']['particle']:.0f};",
      f"p99 {100 * first['error']['p99']:.3f} %; forces {first['forces_hash']}")
EOF
}

"$grove" ic hernquist -n 1000000 -o hernquist.hdf5
for delta in 0.007 0.0035 0.0005 0.00025; do
  for ranks in 1 2; do
    for i in $(seq "$repetitions"); do
      audit=$((i == 1 ? 1000 : 0))
      mpirun -n $ranks "$grove" force hernquist.hdf5 --softening 1e-4 --delta $delta --audit $audit --json "f$i.json" >/dev/null
    done
    echo "delta $delta, $ranks ranks: $(median f[0-9]*.json)"
  done
done
for method in histogram bisection; do
  mpirun -n 2 "$grove" decompose --backend kokkos --uniform 20000000 --rule halves -d 4096 --method $method --json d.json >/dev/null
  python3 -c "
import json
d = json.load(open('d.json'))
print('decompose, 2 ranks, $method:', d['rounds'], 'rounds,', 'count_left', round(1e3 * d['timing']['count_left'], 1), 'ms, total', round(d['timing']['total'], 2), 's, exact', d['exact'])"
done
