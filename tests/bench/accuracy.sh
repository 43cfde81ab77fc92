#!/usr/bin/env bash
# The table of errors in docs/measurements/accuracy.md: forces of five models with the default parameters against direct
# summation for 1000 particles, once with a softening in scale lengths, once with the one that `grove force` suggests.
#
#   accuracy.sh BUILD_FOLDER [--small] [OPTION_OF_GROVE_FORCE...]
#
# --small: few particles, a trial of seconds.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,7p' "$0"; exit 2; }
grove=$(realpath "$1")/grove
shift
few=100000 many=1000000
[ "${1:-}" != --small ] || { few=1000 many=4000; shift; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

row() {
  printf '| %s | %s | ' "$1" "$2"
  python3 -c 'import json, sys
f = json.load(open(sys.argv[1]))
e, i = f["error"], f["interactions_per_particle"]
print("%.4g | %.3f %% | %.3f %% | %.3f %% | %.0f + %.0f |" % (
    f["softening"], 100 * e["median"], 100 * e["p99"], 100 * e["max"], i["cell"], i["particle"]))' "$3"
}

echo "| model | particles | softening | median | 99th percentile | largest | cells + particles |"
echo "|---|---|---|---|---|---|---|"
for n in $few $many; do
  softening=$([ "$n" = $few ] && echo 1e-2 || echo 5e-3)
  for model in plummer hernquist nfw disk-galaxy merger; do
    "$grove" ic --overwrite $model -n "$n" -o "$work/ic.hdf5" >"$work/log"
    for given in "--softening $softening" ""; do
      # shellcheck disable=SC2086 # an option and its value, or nothing
      "$grove" force "$work/ic.hdf5" $given --audit 1000 --json "$work/f.json" "$@" >"$work/log"
      row $model "$n" "$work/f.json"
    done
  done
done
