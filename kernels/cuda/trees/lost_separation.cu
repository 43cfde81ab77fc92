#include "kernels/cuda/trees/lost_separation.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/separation.hpp"

namespace grove::cuda {
namespace {

struct Softening {
  double of_type[particle_types];

  explicit Softening(const GravityParameters& gravity) {
    std::copy(gravity.softening.begin(), gravity.softening.end(), of_type);
  }
};

/// The particle within a group's length behind particle i that is lost beside it; `end` if there is none.
__device__ std::uint64_t lost_beside(std::uint64_t i, std::uint64_t end, const Vec3d& origin,
                                     const LeafParticleFields& particles, const Softening& softening) {
  const Vec3d place = particles.position[i];
  const double rounding = place_rounding(place - origin);
  if (rounding <= softening.of_type[particles.type[i]]) return end;
  for (std::uint64_t j = i + 1; j < min(end, i + group_size); ++j) {
    // Nearly all are too far already along one axis: the others are not loaded.
    if (fabs(particles.position[j].x - place.x) >= lost_within * rounding) continue;
    if (is_separation_lost(particles.position[j] - place, rounding, softening.of_type[particles.type[j]]))
      return j;
  }
  return end;
}

/// Blocks along y share a leaf.
__global__ void __launch_bounds__(threads)
    find_first(const LeafParticleFields particles, const LeafPlaces* leaves, const Vec3d* origin,
               const Softening softening, unsigned long long* first) {
  const LeafPlaces leaf = leaves[blockIdx.x];
  const std::uint64_t end = leaf.first + static_cast<std::uint64_t>(leaf.count);
  const std::uint64_t step = std::uint64_t{gridDim.y} * threads;
  for (std::uint64_t i = leaf.first + blockIdx.y * std::uint64_t{threads} + threadIdx.x; i < end; i += step)
    if (lost_beside(i, end, origin[blockIdx.x], particles, softening) < end) atomicMin(first, i);
}

/// By one thread: who belongs to the first.
__global__ void complete(const LeafParticleFields particles, const LeafTrees trees, const Softening softening,
                         std::uint64_t first, LostPair* pair) {
  std::uint32_t l = 0;
  while (first >= trees.leaves[l].first + static_cast<std::uint64_t>(trees.leaves[l].count)) ++l;
  const std::uint64_t end = trees.leaves[l].first + static_cast<std::uint64_t>(trees.leaves[l].count);
  *pair = {first, lost_beside(first, end, trees.origin[l], particles, softening), l};
}

}  // namespace

Arriving<std::uint64_t> find_lost_separation(const LeafParticleFields& particles, const LeafTrees& trees,
                                             const GravityParameters& gravity) {
  const DeviceArray<std::uint64_t> first{std::span(&nothing_lost, 1)};
  if (trees.count > 0) {
    static_assert(sizeof(std::uint64_t) == sizeof(unsigned long long));
    const dim3 blocks(trees.count, std::max(1u, enough_blocks / trees.count));
    find_first<<<blocks, threads>>>(particles, trees.leaves, trees.origin, Softening(gravity),
                                    reinterpret_cast<unsigned long long*>(first.data()));
    launched("Grove::cuda::find_lost_separation");
  }
  return Arriving<std::uint64_t>(first.data());
}

LostPair lost_pair_of(std::uint64_t first, const LeafParticleFields& particles, const LeafTrees& trees,
                      const GravityParameters& gravity) {
  const DeviceArray<LostPair> pair(1);
  complete<<<1, 1>>>(particles, trees, Softening(gravity), first, pair.data());
  launched("Grove::cuda::complete");
  LostPair result{};
  pair.download(std::span(&result, 1));
  return result;
}

}  // namespace grove::cuda
