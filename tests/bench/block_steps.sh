#!/usr/bin/env bash
# The tables of docs/measurements/block-steps.md on block time steps on a CPU: error of the energy against cost of the main job
# (jobs/examples/merger.yml) to just behind the first passage, with shared steps and with block steps, and a Kepler orbit
# with eccentricity 0.9 over 1000 orbits. Cost: counted interactions, so the machine need not be quiet.
#
#   block_steps.sh BUILD_FOLDER [PARTICLES [DELTA]]
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6p' "$0"; exit 2; }
grove=$(realpath "$1")/grove
particles=${2:-20000}
delta=${3:-0.0003}
job=$(realpath "$(dirname "$0")/../../jobs/examples/merger.yml")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

# run JOB -P ...: into the folder out.
run() { "$grove" run --overwrite "$@" -P output.folder=out -P output.render=false >/dev/null 2>log || { cat log; exit 1; }; }

# The run in out: interactions, seconds, steps, largest error of the energy at multiples of 1.28.
merger_figures() {
  python3 - <<'PY'
import csv
def rows(name):
    return [{k.partition(" [")[0]: v for k, v in r.items()} for r in csv.DictReader(open(name))]
timing = [r for r in rows("out/timing.csv") if r["step"] != "0"]
cost = sum(float(r["active"]) * (float(r["cell_interactions"]) + float(r["particle_interactions"])) for r in timing)
errors = [abs(float(r["energy_error"])) for r in rows("out/energy.csv")
          if abs(float(r["time"]) / 1.28 - round(float(r["time"]) / 1.28)) < 1e-6]
print(f"{cost / 1e9:.2f} | {sum(float(r['total']) for r in timing):.1f} | {len(timing)} | {max(errors):.2e} |")
PY
}

merger() {
  run "$job" -P "initial_conditions.n=$particles" -P "gravity.delta=$delta" -P time.end=20.48 -P output.every=100 -P audit.every=0 "$@"
  merger_figures
}

echo "| steps | longest | eta | 10^9 interactions | seconds | steps of the run | largest energy error |"
echo "|---|---|---|---|---|---|---|"
for step in 0.16 0.08 0.04 0.02; do
  echo "| shared | $step | | $(merger -P time.steps=shared -P "time.step=$step")"
done
for integrator in leapfrog predictor_corrector; do
  for eta in 1 0.7 0.5 0.4 0.35 0.25 0.125; do
    echo "| block, $integrator | 0.64 | $eta | $(merger -P time.steps=block -P time.step=0.64 -P "time.eta=$eta" -P "time.integrator=$integrator")"
  done
done
for step in 0.16 0.32 1.28; do
  echo "| block, leapfrog | $step | 0.25 | $(merger -P time.steps=block -P "time.step=$step" -P time.eta=0.25)"
done

# The run in out: evaluations per orbit, and at the end the energy and the distance of the pericentre, against the
# beginning; from energy and angular momentum of two bodies of mass 1/2.
kepler_figures() {
  python3 - <<'PY'
import csv, math
rows = list(csv.DictReader(open("out/energy.csv")))
def orbit(row):
    a = -0.125 / float(row["total"])
    l = float(row["angular_momentum_z"]) / 0.25
    return a, a * (1 - math.sqrt(max(0, 1 - l * l / a)))
first, last = orbit(rows[0]), orbit(rows[-1])
print(f"{int(rows[-1]['step']) / 1000:.0f} | {first[0] / last[0] - 1:+.1e} | {last[1] / first[1] - 1:+.1e} |")
PY
}

printf 'units: {system: none}\ninitial_conditions: {model: kepler, eccentricity: 0.9}\ngravity: {softening: 0}\ntime: {end: 6283.185307179586, step: 0.39269908169872414, length: 1}\noutput: {every: 10000}\n' >kepler.yml
echo
echo "| steps | eta | evaluations per orbit | energy | pericentre |"
echo "|---|---|---|---|---|"
for eta in 0.02 0.01 0.005; do
  run kepler.yml -P "time.eta=$eta"
  figures=$(kepler_figures)
  echo "| block | $eta | $figures"
  evaluations=${figures%% *}
  run kepler.yml -P time.steps=shared -P "time.step=$(python3 -c "import math; print(2 * math.pi / $evaluations)")"
  echo "| shared | | $(kepler_figures)"
done
