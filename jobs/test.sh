#!/usr/bin/env bash
# From a fresh machine to passed tests: installs what is missing, checks the style, builds, runs all tests.
set -euo pipefail
# shellcheck source=jobs/common.sh
source "$(dirname "$0")/common.sh"

stage "1/4 set-up"
jobs/setup.sh tests
stage "2/4 style"
git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format --dry-run --Werror
git ls-files '*.sh' '*.sbatch' .ci/run | xargs shellcheck -x
stage "3/4 build"
build build-test -DCMAKE_BUILD_TYPE=Release -DGROVE_TESTS=ON -DGROVE_WERROR=ON
stage "4/4 tests"
ctest --test-dir build-test --output-on-failure -j "$(nproc)"
