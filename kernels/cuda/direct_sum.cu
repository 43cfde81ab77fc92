#include "kernels/cuda/direct_sum.hpp"

#include <algorithm>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"
#include "kernels/math/softening.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
/// Particles that a block adds up for its targets.
constexpr std::uint64_t portion = 1u << 16;

/// Softening of a type: of two the larger length counts, which has the larger (Plummer: the length) or the
/// smaller (spline: 1/h) scale.
struct Scales {
  double of_type[particle_types];
};

__device__ SoftenedPair<double> softened(std::integral_constant<SofteningKernel, SofteningKernel::plummer>,
                                         double r2, double a, double b) {
  return plummer_pair(r2, a > b ? a : b);
}
__device__ SoftenedPair<double> softened(std::integral_constant<SofteningKernel, SofteningKernel::spline>,
                                         double r2, double a, double b) {
  return spline_pair(r2, r2 > 0 ? inverse_sqrt(r2) : 0, a < b ? a : b);
}

/// What a portion of the particles does to each target.
template <SofteningKernel kernel>
__global__ void __launch_bounds__(threads)
    add_up(const Scales scales, const DirectParticles particles, const std::uint32_t* targets,
           std::uint32_t count, DirectForce* parts) {
  __shared__ Vec3d position[threads];
  __shared__ double mass[threads], scale[threads];
  const std::uint32_t target_blocks = (count + threads - 1) / threads;
  const std::uint32_t t = blockIdx.x % target_blocks * threads + threadIdx.x,
                      part = blockIdx.x / target_blocks;
  const std::uint64_t own = targets[min(t, count - 1)];
  const Vec3d place = particles.position[own];
  const double own_scale = scales.of_type[particles.type[own]];
  const std::uint64_t begin = part * portion, end = min(begin + portion, std::uint64_t{particles.count});
  DirectForce force;
  for (std::uint64_t tile = begin; tile < end; tile += threads) {
    __syncthreads();
    if (const std::uint64_t j = tile + threadIdx.x; j < end) {
      position[threadIdx.x] = particles.position[j];
      mass[threadIdx.x] = particles.mass[j];
      scale[threadIdx.x] = scales.of_type[particles.type[j]];
    }
    __syncthreads();
    const int size = static_cast<int>(min(std::uint64_t{threads}, end - tile));
    for (int j = 0; j < size; ++j) {
      if (tile + static_cast<std::uint64_t>(j) == own) continue;
      const Vec3d d = position[j] - place;
      const auto [potential, pull] =
          softened(std::integral_constant<SofteningKernel, kernel>{}, norm2(d), own_scale, scale[j]);
      force.acceleration += d * (mass[j] * pull);
      force.potential -= mass[j] * potential;
    }
  }
  if (t < count) parts[static_cast<std::uint64_t>(part) * count + t] = force;
}

__global__ void add_parts(const DirectForce* parts, std::uint32_t number, std::uint32_t count,
                          DirectForce* forces) {
  const std::uint32_t t = blockIdx.x * threads + threadIdx.x;
  if (t >= count) return;
  DirectForce force;
  for (std::uint32_t part = 0; part < number; ++part) {
    const DirectForce& one = parts[static_cast<std::uint64_t>(part) * count + t];
    force.acceleration += one.acceleration;
    force.potential += one.potential;
  }
  forces[t] = force;
}

}  // namespace

void direct_sum(const GravityParameters& gravity, const DirectParticles& particles,
                const std::uint32_t* targets, std::size_t count, DirectForce* forces) {
  if (count == 0) return;
  Scales scales;
  const bool has_spline = gravity.kernel == SofteningKernel::spline;
  for (std::size_t type = 0; type < particle_types; ++type)
    scales.of_type[type] =
        has_spline ? 1 / (spline_radius_over_softening * gravity.softening[type]) : gravity.softening[type];
  const auto parts = static_cast<std::uint32_t>((particles.count + portion - 1) / portion);
  const auto number = static_cast<std::uint32_t>(count), blocks = (number + threads - 1) / threads;
  const DeviceArray<DirectForce> sums(static_cast<std::size_t>(parts) * count);
  if (has_spline)
    add_up<SofteningKernel::spline>
        <<<parts * blocks, threads>>>(scales, particles, targets, number, sums.data());
  else
    add_up<SofteningKernel::plummer>
        <<<parts * blocks, threads>>>(scales, particles, targets, number, sums.data());
  launched("Grove::cuda::add_up");
  add_parts<<<blocks, threads>>>(sums.data(), parts, number, forces);
  launched("Grove::cuda::add_parts");
}

}  // namespace grove::cuda
