#!/usr/bin/env bash
# The table of docs/measurements/trees.md that compares trees: forces of a Hernquist sphere of 1,000,000 particles on one rank
# with the bisection and octrees in leaves of the ORB by two rules, and with one global octree. Wall-clock times: run it on a quiet
# machine.
#
#   trees.sh BUILD_FOLDER [--small] [DELTA...]
#
# --small: 4000 particles, a trial of seconds.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8p' "$0"; exit 2; }
grove=$(realpath "$1")/grove n=1000000
shift
[ "${1:-}" != --small ] || { n=4000; shift; }
deltas=${*:-0.007 0.0035 0.0005}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() {
  python3 -c 'import json, sys
f = json.load(open(sys.argv[1]))
e, i, t = f["error"], f["interactions_per_particle"], f["timing"]
tree = f["tree"] if f["tree"] == "bisection" else f["curve"] + " octree"
print("| %s | %s | %d | %s | %g | %.3f %% | %.3f %% | %.0f + %.0f | %.1f | %.0f | %.0f | %.0f | %.0f |" % (
    tree, f["rule"], f["leaves"], f["order"], f["delta"], 100 * e["median"], 100 * e["p99"], i["cell"], i["particle"], i["tests"],
    1e3 * (t["decompose"] + t["sort"] + t["build"]), 1e3 * t["moments"], 1e3 * t["walk"], 1e3 * t["total"]))' "$1"
}

echo "| tree | rule | leaves | order | delta | error, median | 99th percentile | cells + particles | tests | trees, ms | moments | walk | total |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
"$grove" ic hernquist -n "$n" -o "$work/ic.hdf5" >"$work/log"
for choice in "--tree bisection --rule middle" "--tree octree --rule middle" "--tree octree --rule centre" "--tree octree --curve morton --rule middle" \
  "--tree octree --curve morton --rule centre" "--tree octree --rule middle --leaf $n" \
  "--tree octree --rule middle --leaf $n --order monopole"; do
  for delta in $deltas; do
    # shellcheck disable=SC2086 # options and their values
    "$grove" force "$work/ic.hdf5" --backend kokkos --softening 1e-4 --delta "$delta" $choice --json "$work/f.json" >"$work/log"
    row "$work/f.json"
  done
done
