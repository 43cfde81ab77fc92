#!/usr/bin/env bash
# Runs each fuzzer for so many seconds, from the seeds and what it has found before; stops at the first fault.
#
#   tests/fuzz/run.sh BUILD SECONDS [TARGET...]      targets: parameters gadget tipsy hdf5
#
# Corpora and inputs that fail are kept in BUILD/corpus.
set -euo pipefail
build=$1
seconds=$2
shift 2
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(parameters gadget tipsy hdf5)
here=$(cd "$(dirname "$0")" && pwd)

# One rank alone, which needs no other process of MPI; its library keeps memory to the end, which is no leak of ours.
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_btl=self OMPI_MCA_opal_signal=10 ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1

fuzzer_of() {
  case $1 in
    gadget | tipsy) echo snapshot ;;
    hdf5) echo hdf5_changes ;;
    *) echo "$1" ;;
  esac
}

for target in "${targets[@]}"; do
  corpus=$build/corpus/$target
  mkdir -p "$corpus"
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1
    -artifact_prefix="$build/corpus/fault-$target-")
  [ "$target" != parameters ] || options+=(-dict="$here/parameters.dict")
  echo "== $target"
  "$build/tests/fuzz/fuzz_$(fuzzer_of "$target")" "${options[@]}" "$corpus" "$here/seeds/$target"
done
