#!/usr/bin/env bash
# Installs what Grove is built with, as far as it is missing. Debian and Ubuntu; as root or with sudo.
#
#   jobs/setup.sh [tests]      tests: also what its snapshots and its module of Python are tried with
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config          # build
  openmpi-bin libopenmpi-dev libhdf5-openmpi-dev   # ranks and their files
  libtrilinos-kokkos-dev                           # kernels
  libfmt-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libboost-dev libboost-math-dev libpng-dev
  libkissfft-dev                                   # Fourier transforms
  libxxhash-dev                                    # checksums of snapshots and checkpoints
  python3-dev pybind11-dev python3-numpy           # its module of Python
  libfreetype-dev fonts-dejavu-core                # letters of pictures
  libgtest-dev libbenchmark-dev clang-format shellcheck python3-h5py python3-matplotlib   # tests, benchmarks
)
[ "${1:-}" != tests ] || packages+=(python3-yt python3-mpi4py)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat >&2 <<EOF
setup: this system has no apt. Install the counterparts of these Debian packages with your package
manager or your cluster's modules, then run cmake (see README.md):
  ${packages[*]}
EOF
  exit 2
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: everything is installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: ask an administrator to run: apt-get install ${missing[*]}" >&2
    exit 2
  }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: done"
