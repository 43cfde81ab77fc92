#include "kernels/cuda/fourier/mesh_deposit.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

__global__ void __launch_bounds__(threads)
    spread_masses(const MassPoint* particles, std::size_t count, const MassMesh mesh, double offset,
                  int exponent, const MeshPlanes planes, unsigned long long* sums) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i >= count) return;
  spread_mass(mesh, offset, exponent, planes, particles[i], [&](std::size_t point, std::int64_t share) {
    atomicAdd(sums + point, static_cast<unsigned long long>(share));
  });
}

__global__ void __launch_bounds__(threads)
    scale_sums(const std::int64_t* sums, double factor, std::size_t count, double* density) {
  const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
  if (i < count) density[i] = static_cast<double>(sums[i]) * factor;
}

}  // namespace

void deposit_mass(const MassPoint* particles, std::size_t count, const MassMesh& mesh, double offset,
                  const MeshPlanes& planes, std::int64_t* sums) {
  if (count == 0) return;
  spread_masses<<<blocks_for(count), threads, 0, stream()>>>(
      particles, count, mesh, offset, mesh.exponent(), planes, reinterpret_cast<unsigned long long*>(sums));
  const auto width = static_cast<std::uint64_t>(points_of(mesh.assignment));
  launched("Grove::cuda::spread_masses", (sizeof(MassPoint) + 16 * width * width * width) * count);
}

void make_densities(const std::int64_t* sums, double factor, std::size_t count, double* density) {
  if (count == 0) return;
  scale_sums<<<blocks_for(count), threads, 0, stream()>>>(sums, factor, count, density);
  launched("Grove::cuda::scale_sums", 16 * std::uint64_t{count});
}

}  // namespace grove::cuda
