#!/usr/bin/env bash
# From a fresh machine to a finished simulation: installs what is missing, builds Grove, lets two galaxies merge.
set -euo pipefail
# shellcheck source=jobs/common.sh
source "$(dirname "$0")/common.sh"

stage "1/3 set-up"
jobs/setup.sh
stage "2/3 build"
build build -DCMAKE_BUILD_TYPE=Release -DGROVE_TESTS=OFF
stage "3/3 two galaxies merge (jobs/examples/merger.yml, 100,000 particles, 2 ranks)"
mpirun -n 2 build/grove run --overwrite jobs/examples/merger.yml
echo
echo "The pictures, snapshots and logs are in output/merger. Try: build/grove info output/merger/snapshot_000.hdf5"
