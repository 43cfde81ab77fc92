#include "kernels/cuda/trees/leaf_octupoles.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/octupole.hpp"

namespace grove::cuda {
namespace {

constexpr int octupole_threads = 128;
constexpr int few_lanes = 8;               ///< for a node of few particles
constexpr std::int32_t most_of_few = 128;  ///< particles

/// The sums over the particles of a node, by this many lanes; all of them get it.
template <int lanes>
__device__ PackedOctupole octupole_by(const SourceParticle* sources, const NodeLinks& link,
                                      const Vec3f& centre) {
  float s[10] = {};  // raw moments without more than one z, and the trace
  for (std::int32_t i = lane_index() % lanes; i < link.count; i += lanes) {
    const SourceParticle particle = sources[link.first + i];
    const Vec3f y = particle.position - centre, my = y * particle.mass;
    const float xx = my.x * y.x, xy = my.x * y.y, yy = my.y * y.y, y2 = norm2(y);
    s[0] += xx * y.x, s[1] += xx * y.y, s[2] += xy * y.y, s[3] += yy * y.y;
    s[4] += xx * y.z, s[5] += xy * y.z, s[6] += yy * y.z;
    s[7] += y2 * my.x, s[8] += y2 * my.y, s[9] += y2 * my.z;
  }
  for (float& sum : s)
#pragma unroll
    for (int apart = 1; apart < lanes; apart *= 2) sum += __shfl_xor_sync(~0u, sum, apart);
  const ThirdMoments third{s[0], s[1], s[2], s[3], s[4], s[5], s[6], {s[7], s[8], s[9]}};
  return PackedOctupole::of(third.octupole());
}

/// Four nodes at a time by a warp, and those of many particles by all of it. Blocks with the same x have a
/// leaf.
__global__ void __launch_bounds__(octupole_threads) find(const LeafTrees trees) {
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  const SourceParticle* const sources = trees.sources + leaf.first;
  constexpr int at_a_time = 32 / few_lanes, warps = octupole_threads / 32;
  const int lane = lane_index();
  for (std::int32_t first =
           (static_cast<std::int32_t>(blockIdx.y) * warps + static_cast<std::int32_t>(threadIdx.x / 32)) *
           at_a_time;
       first < leaf.nodes; first += static_cast<std::int32_t>(gridDim.y) * warps * at_a_time) {
    const std::int32_t n = min(first + lane / few_lanes, leaf.nodes - 1);
    const NodeLinks link = trees.links[leaf.node + n];
    const bool is_large = link.count > most_of_few, is_own = first + lane / few_lanes < leaf.nodes;
    const NodeLinks small{0, 0, link.first, is_large ? 0 : link.count};
    const PackedOctupole octupole = octupole_by<few_lanes>(sources, small, trees.core[leaf.node + n].centre);
    if (is_own && !is_large && lane % few_lanes == 0) set_octupole(trees.moments[leaf.node + n], octupole);
    for (unsigned large = __ballot_sync(~0u, is_own && is_large && lane % few_lanes == 0); large != 0;
         large &= large - 1) {
      const std::uint64_t node =
          leaf.node + static_cast<std::uint64_t>(first + (__ffs(static_cast<int>(large)) - 1) / few_lanes);
      const PackedOctupole of_many = octupole_by<32>(sources, trees.links[node], trees.core[node].centre);
      if (lane == 0) set_octupole(trees.moments[node], of_many);
    }
  }
}

}  // namespace

void find_octupoles(const LeafTrees& trees, std::uint32_t nodes) {
  if (trees.count == 0) return;
  constexpr std::uint32_t most_blocks_of_leaf = 256, nodes_of_block = 1024;
  const std::uint32_t of_leaf = std::clamp(nodes / trees.count / nodes_of_block, 1U, most_blocks_of_leaf);
  find<<<dim3(trees.count, of_leaf), octupole_threads, 0, stream()>>>(trees);
  launched("Grove::cuda::find_octupoles");
}

}  // namespace grove::cuda
