# Sourced by the scripts beside it: where the clone is, how to build it, how to start ranks.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export CCACHE_DIR=${CCACHE_DIR:-$PWD/.ccache} # nothing is written outside the clone
stage() { printf '\n== %s\n' "$*"; }

# build FOLDER [CMAKE OPTION...]: configures and builds, for the GPU of this machine, or for one kind where there is none.
# Files of a library are compiled several as one, which takes half the time from scratch.
build() {
  local folder=$1 gpus=90
  shift
  ! nvidia-smi -L >/dev/null 2>&1 || gpus=native
  cmake -S . -B "$folder" -G Ninja -DCMAKE_UNITY_BUILD=ON -DCMAKE_CUDA_ARCHITECTURES=$gpus "$@" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; return 1; }
  rm -f "$folder.log"
  cmake --build "$folder"
}

# Containers often run as root and have fewer cores than ranks; Open MPI wants to be told that this is meant.
export OMPI_MCA_rmaps_base_oversubscribe=1
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
