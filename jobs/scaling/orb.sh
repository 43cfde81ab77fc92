#!/usr/bin/env bash
# How the ORB scales: with particles, with leaves, with GPUs, by each of the schedules of `grove decompose --schedule-gpu`.
# Writes OUT/runs/*.json (one a run), OUT/orb.csv (a row per run and phase), OUT/levels.csv and pictures; of the cut alone
# on one GPU OUT/shapes.csv. Uniform points and rule halves, but for shapes.csv; every run is exact and all schedules agree
# on the tree, or the script ends.
#
#   jobs/scaling/orb.sh [--help]
#
# An interrupted sweep goes on where it stopped. All is set by the environment; paths are relative to the clone:
#
#   GROVE     the executable                        build/grove
#   BENCH     the benchmark of the cut alone        build/tests/bench/bench_orb_gpu (-DGROVE_BENCH=ON)
#   OUT       folder of the results                 orb-scaling
#   REDO      1: repeat runs that are there already
#   MPIRUN    starts ranks                          mpirun --oversubscribe
#   PYTHON    with matplotlib, for pictures         python3, /usr/bin/python3
#   CORES     ranks of schedule a                   all cores
#   MEMORY    of the host, in bytes                 what is available
#   REPEAT    runs of d and e, medians are reported 5
#
# Lists and numbers of the four parts; an empty list leaves its part out:
#
#   SIZES, LEAVES             time against N: numbers of particles, leaves                2^26 .. 2^30, 4096
#   SWEEP_N, SWEEP_LEAVES     time against leaves, schedule e: particles, leaves          2^28, 2^1 .. 2^16
#   SIZES_B                   of SIZES, what b runs too, which takes a minute per 10^8    those up to 2^27
#   SWEEP_LEAVES_HOST         of these, what a and c run too, which take longer           2 16 256 4096 65536
#   GPUS_N, GPUS, PAYLOADS    several GPUs: particles in all, GPUs, how particles travel  2^30, 1 2 4 8, nccl staged
#   SHAPES                    the cut alone, log2(points):leaves:shape (leaves 0: rule middle, leaves of 4096)
#                             2^30 points of 5 shapes, 2^31 points, 2^28 by both rules
#
# In seconds, on any machine:
#
#   SIZES="4096 16384" LEAVES=64 SWEEP_N=16384 SWEEP_LEAVES="2 64" SWEEP_LEAVES_HOST="2 64" GPUS_N=16384 SHAPES= jobs/scaling/orb.sh
set -euo pipefail
# shellcheck source=jobs/common.sh
source "$(dirname "$0")/../common.sh"

if [ $# -gt 0 ]; then
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
  if [ "$1" = --help ]; then exit 0; else exit 2; fi
fi

# powers FROM TO: of two, as the integers that --uniform takes, on one line.
powers() {
  local i
  for ((i = $1; i <= $2; ++i)); do printf '%d ' $((1 << i)); done
}

# The host's, or what is left of what the container may have of it.
memory_available() {
  local host limit
  host=$(awk '/^MemAvailable:/ { printf "%.0f\n", 1024 * $2 }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ]; then
    limit=$((limit - $(cat /sys/fs/cgroup/memory.current)))
    if [ "$limit" -lt "$host" ]; then host=$limit; fi
  fi
  echo "$host"
}

gpus_here() { { nvidia-smi -L 2>/dev/null || true; } | grep -c '^GPU' || true; }

for list in SIZES SIZES_B LEAVES SWEEP_N SWEEP_LEAVES SWEEP_LEAVES_HOST GPUS_N GPUS CORES MEMORY REPEAT; do
  if [[ ! "${!list-}" =~ ^([1-9][0-9]*\ *)*$ ]]; then
    echo "orb: $list=${!list} should be whole numbers from 1 on, in digits" >&2
    exit 2
  fi
done
GROVE=${GROVE:-build/grove}
BENCH=${BENCH:-build/tests/bench/bench_orb_gpu}
OUT=${OUT:-orb-scaling}
REDO=${REDO:-0}
read -ra mpirun <<<"${MPIRUN:-mpirun --oversubscribe}"
CORES=${CORES:-$(nproc)}
MEMORY=${MEMORY:-$(memory_available)}
REPEAT=${REPEAT:-5}
read -ra sizes <<<"${SIZES-$(powers 26 30)}"
SIZES_B=${SIZES_B-$(for n in "${sizes[@]}"; do if [ "$n" -le $((1 << 27)) ]; then printf '%d ' "$n"; fi; done)}
LEAVES=${LEAVES:-4096}
SWEEP_N=${SWEEP_N:-$((1 << 28))}
read -ra sweep_leaves <<<"${SWEEP_LEAVES-$(powers 1 16)}"
read -ra sweep_leaves_host <<<"${SWEEP_LEAVES_HOST-2 16 256 4096 65536}"
GPUS_N=${GPUS_N:-$((1 << 30))}
default_shapes="30:4096:uniform 30:4096:hernquist 30:4096:cusp 30:4096:plane 30:4096:identical 31:4096:uniform"
default_shapes+=" 28:65536:uniform 28:0:uniform 28:65536:hernquist 28:0:hernquist"
read -ra shapes <<<"${SHAPES-$default_shapes}"
read -ra payloads <<<"${PAYLOADS-nccl staged}"

gpu_count=$(gpus_here)
has_gpu=$((gpu_count > 0))
read -ra gpus <<<"${GPUS-1 2 4 8}"

command -v "$GROVE" >/dev/null || { echo "orb: no executable at GROVE=$GROVE: build it, or say where it is" >&2; exit 2; }
mkdir -p "$OUT/runs"
declare -A is_new=() # REDO repeats a run once, also where two parts share it

# run SCHEDULE N LEAVES RANKS [PAYLOAD]: once, unless its results are there. Checks them against all others.
run() {
  local schedule=$1 n=$2 leaves=$3 ranks=$4 payload=${5:-} repeat=1
  local name=$schedule-n$n-d$leaves-r$ranks${payload:+-$payload}
  if [ "$schedule" = d ] || [ "$schedule" = e ]; then repeat=$REPEAT; fi
  local command=("${mpirun[@]}" -n "$ranks" "$GROVE" decompose --uniform "$n" --rule halves -d "$leaves"
    --schedule-gpu "$schedule" ${payload:+--payload "$payload"} --repeat "$repeat" --calibrate
    --json "$OUT/runs/$name.json")
  if [ ! -e "$OUT/runs/$name.json" ] || { [ "$REDO" = 1 ] && [ -z "${is_new[$name]:-}" ]; }; then
    # No standard input: mpirun would read what the script still has to read.
    if ! "${command[@]}" >"$OUT/runs/$name.txt" </dev/null || [ ! -s "$OUT/runs/$name.json" ]; then
      rm -f "$OUT/runs/$name.json" # what is wrong is not kept as a result
      echo "orb: failed: ${command[*]}" >&2
      exit 1
    fi
    is_new[$name]=1
    printf '%-40s %10s s\n' "$name" "$(awk '$1 == "total" { print $2 }' "$OUT/runs/$name.txt")"
  fi
  python3 jobs/scaling/orb_tables.py "$OUT" >/dev/null || exit 1
}

# host_run SCHEDULE N LEAVES RANKS: where particles live on the host, if they fit. 93 bytes a particle, and 29 (one rank) to
# 41 (several) that the decomposition takes.
host_run() {
  local need=$((135 * $2 + 2000000000))
  if [ "$need" -gt "$MEMORY" ]; then
    echo "left out: schedule $1 of $2 particles takes $((need / 1000000000)) GB, the host has $((MEMORY / 1000000000))"
  else
    run "$@"
  fi
}

if [ "$has_gpu" = 0 ]; then echo "nvidia-smi shows no GPU: schedule a alone"; fi

stage "1/4 time against particles"
for n in "${sizes[@]}"; do
  host_run a "$n" "$LEAVES" "$CORES"
  [ "$has_gpu" = 1 ] || continue
  if [[ " $SIZES_B " == *" $n "* ]]; then host_run b "$n" "$LEAVES" 1; fi
  host_run c "$n" "$LEAVES" 1
  run d "$n" "$LEAVES" 1
  run e "$n" "$LEAVES" 1
done

stage "2/4 time against leaves"
for leaves in "${sweep_leaves[@]}"; do
  if [[ " ${sweep_leaves_host[*]} " == *" $leaves "* ]]; then
    host_run a "$SWEEP_N" "$leaves" "$CORES"
    if [ "$has_gpu" = 1 ]; then host_run c "$SWEEP_N" "$leaves" 1; fi
  fi
  if [ "$has_gpu" = 1 ]; then run e "$SWEEP_N" "$leaves" 1; fi
done

stage "3/4 several GPUs"
for count in "${gpus[@]}"; do
  [ "$has_gpu" = 1 ] || continue
  if [ "$count" -gt "$gpu_count" ]; then
    echo "left out: $count GPUs, the host has $gpu_count"
    continue
  fi
  if [ "$count" = 1 ]; then # nothing travels
    run e "$GPUS_N" "$LEAVES" 1
    continue
  fi
  for payload in "${payloads[@]}"; do run e "$GPUS_N" "$LEAVES" "$count" "$payload"; done
done

stage "4/4 the cut alone on one GPU"
if [ "$has_gpu" = 0 ] || [ "${#shapes[@]}" = 0 ]; then
  echo "left out"
elif ! command -v "$BENCH" >/dev/null; then
  echo "left out: no executable at BENCH=$BENCH (-DGROVE_BENCH=ON builds it)"
else
  for shape in "${shapes[@]}"; do
    IFS=: read -r log2 leaves name <<<"$shape"
    "$BENCH" "$log2" "$leaves" "$name" || { echo "orb: failed: $BENCH $log2 $leaves $name" >&2; exit 1; }
  done </dev/null | tee "$OUT/shapes.txt"
  awk 'BEGIN { OFS = ","; print "shape", "log2_points", "leaves", "median_ms", "least_ms", "bytes_per_particle" }
    $4 == "leaves" { print $1, substr($2, 3), $3, $6, $9, $10 }' "$OUT/shapes.txt" >"$OUT/shapes.csv"
fi

stage "results in $OUT"
python3 jobs/scaling/orb_tables.py "$OUT"
if python=$(jobs/python-with.sh matplotlib numpy); then
  "$python" jobs/scaling/orb_plots.py "$OUT"
else
  echo "no pictures: later, jobs/scaling/orb_plots.py $OUT draws them"
fi
