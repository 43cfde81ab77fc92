#include "kernels/cuda/walk/leaf_forces.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/direct_pair.hpp"
#include "kernels/math/softening_shape.hpp"

namespace grove::cuda {
namespace {

/// Targets of a block, a thread each in every slice of the piece of a leaf.
constexpr int targets_of_block = 32;
constexpr int slices = 8;

/// As direct_scale() gives them.
struct Scales {
  double of_type[particle_types];
};

/// A block per piece of a leaf and 32 targets; a slice takes every slices-th particle.
template <class Shape>
__global__ void __launch_bounds__(targets_of_block* slices)
    sum(const Scales scales, const LeafForceSources sources, const std::uint64_t* begin,
        const DirectTarget* targets, std::uint32_t count, DirectForce* forces) {
  __shared__ DirectForce part[slices][targets_of_block];
  const std::uint32_t t = blockIdx.y * targets_of_block + threadIdx.x;
  DirectForce force;
  if (t < count) {
    const DirectTarget target = targets[t];
    const double own_scale = direct_scale(Shape{}, target.softening);
    for (std::uint64_t j = begin[blockIdx.x] + threadIdx.y; j < begin[blockIdx.x + 1]; j += slices) {
      if (sources.id[j] == target.id) continue;
      const Vec3d d = sources.position[j] - target.position;
      const auto [potential, pull] =
          direct_pair(Shape{}, norm2(d), own_scale, scales.of_type[sources.type[j]]);
      force.acceleration += d * (sources.mass[j] * pull);
      force.potential -= sources.mass[j] * potential;
    }
  }
  part[threadIdx.y][threadIdx.x] = force;
  __syncthreads();
  if (threadIdx.y != 0 || t >= count) return;
  for (int slice = 1; slice < slices; ++slice) {
    force.acceleration += part[slice][threadIdx.x].acceleration;
    force.potential += part[slice][threadIdx.x].potential;
  }
  forces[static_cast<std::size_t>(blockIdx.x) * count + t] = force;
}

/// Adds the rows of the pieces of each leaf, in their order. A thread per leaf and target.
__global__ void __launch_bounds__(targets_of_block* slices)
    add_pieces(const DirectForce* of_pieces, const std::uint64_t* first, std::uint32_t leaves,
               std::uint32_t count, DirectForce* forces) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t leaf = i / count, t = i % count;
  if (leaf >= leaves) return;
  DirectForce sum = of_pieces[first[leaf] * count + t];
  for (std::uint64_t piece = first[leaf] + 1; piece < first[leaf + 1]; ++piece) {
    const DirectForce& force = of_pieces[piece * count + t];
    sum.acceleration += force.acceleration;
    sum.potential += force.potential;
  }
  forces[i] = sum;
}

}  // namespace

void sum_leaf_forces(const GravityParameters& gravity, const LeafForceSources& sources,
                     const LeafPieces& pieces, const DirectTarget* targets, std::size_t count,
                     DirectForce* forces) {
  if (count == 0 || pieces.leaves == 0) return;
  const dim3 grid(pieces.count, static_cast<unsigned>((count + targets_of_block - 1) / targets_of_block));
  const dim3 block(targets_of_block, slices);
  const auto number = static_cast<std::uint32_t>(count);
  const DeviceArray<DirectForce> of_pieces(pieces.are_leaves() ? 0 : pieces.count * count);
  DirectForce* const sums = pieces.are_leaves() ? forces : of_pieces.data();
  with_shape(gravity.kernel, [&](auto shape) {
    Scales scales;
    for (std::size_t type = 0; type < particle_types; ++type)
      scales.of_type[type] = direct_scale(shape, gravity.softening[type]);
    sum<decltype(shape)><<<grid, block>>>(scales, sources, pieces.begin.data(), targets, number, sums);
  });
  launched("Grove::cuda::sum_leaf_forces");
  if (pieces.are_leaves()) return;
  constexpr unsigned threads = targets_of_block * slices;
  add_pieces<<<blocks_for(pieces.leaves * count, threads), threads>>>(sums, pieces.first.data(),
                                                                      pieces.leaves, number, forces);
  launched("Grove::cuda::sum_leaf_forces::add_pieces");
}

}  // namespace grove::cuda
