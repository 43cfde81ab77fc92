#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/math/neighbour_box.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// Walks of all targets in device memory, a warp a group, for the visitors of kernels/math/neighbour_tree.hpp
/// that take no nodes. The sets of neighbours, and their order, are those of the host.
///
/// A visitor may also have
///   Sum begin(std::uint32_t slot) const      in place of Sum{}; slot: of all threads that are under way, at
///                                            most 32 * warps of walk_neighbour_groups()
namespace grove::cuda {

inline constexpr int walk_warps = 4;              ///< of a block
inline constexpr std::uint32_t batch_size = 256;  ///< candidates that are tested at once

/// Particles that may be neighbours of the targets of a group, in the order of the tree, and which of them
/// are those of which target. Shared memory.
struct NeighbourBatch {
  double x[batch_size], y[batch_size], z[batch_size], reach[batch_size];
  std::uint32_t number[batch_size];
  std::uint32_t hits[batch_size / 32][32];  ///< by lane, a bit for each candidate
};

/// The targets of a warp, one a lane.
struct WarpTarget {
  std::uint32_t number;
  bool is_target;
  Vec3d place;
  double reach;
};

/// The box around all of them.
__device__ inline NeighbourTarget box_of(const WarpTarget& target) {
  NeighbourBounds bounds;
  if (target.is_target) bounds.add(target.place, target.reach);
  for (int other = 1; other < 32; other *= 2) {
    NeighbourBounds b;
    for (int axis = 0; axis < 3; ++axis) {
      b.low[axis] = __shfl_xor_sync(~0U, bounds.low[axis], other);
      b.high[axis] = __shfl_xor_sync(~0U, bounds.high[axis], other);
    }
    b.reach = __shfl_xor_sync(~0U, bounds.reach, other);
    bounds.add(b);
  }
  return bounds.target();
}

/// Visits the neighbours among `count` candidates. As visit_bucket() finds them, to the bit.
template <bool is_symmetric, class Visitor>
__device__ void visit_batch(const NeighbourTree& tree, NeighbourBatch& batch, std::uint32_t count,
                            const WarpTarget& target, const Visitor& visitor, typename Visitor::Sum& sum) {
  const int lane = lane_index();
  __syncwarp();
  const auto separation = [&](std::uint32_t k) {
    return tree.nearest(Vec3d{batch.x[k], batch.y[k], batch.z[k]} - target.place);
  };
  const std::uint32_t chunks = (count + 31) / 32;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    std::uint32_t hits = 0;
    const std::uint32_t begin = 32 * chunk, size = count - begin < 32 ? count - begin : 32;
#pragma unroll 4
    for (std::uint32_t k = 0; k < size; ++k) {
      double reach = target.reach;
      if (is_symmetric) reach = batch.reach[begin + k] > reach ? batch.reach[begin + k] : reach;
      const bool is_hit = squared_length(separation(begin + k)) < reach * reach;
      hits |= (is_hit ? 1U : 0U) << k;
    }
    batch.hits[chunk][lane] = target.is_target ? hits : 0;
  }
  std::uint32_t chunk = 0, hits = chunks > 0 ? batch.hits[0][lane] : 0;
  for (;;) {
    while (hits == 0 && ++chunk < chunks) hits = batch.hits[chunk][lane];
    if (hits == 0) break;
    const std::uint32_t k = 32 * chunk + static_cast<std::uint32_t>(__ffs(static_cast<int>(hits))) - 1;
    hits &= hits - 1;
    const std::uint32_t number = batch.number[k];
    if (number == target.number) continue;
    const Vec3d d = separation(k);
    visitor.particle(sum, {target.number, number, d, squared_length(d)});
  }
  __syncwarp();
}

/// Finds what is in reach of the box of all targets, and has it visited batch by batch. Nodes of at most 32
/// particles are taken as a whole: each lane looks at one.
template <bool is_symmetric, class Visitor>
__device__ void visit_neighbours(const NeighbourTree& tree, NeighbourBatch& batch, const WarpTarget& target,
                                 const Visitor& visitor, typename Visitor::Sum& sum) {
  const NeighbourTarget box = box_of(target);
  const auto lane = static_cast<std::uint32_t>(lane_index());
  std::uint32_t filled = 0;
  for (std::uint32_t n = 0; n < tree.node_count;) {
    const NeighbourNode node = tree.nodes[n];
    if (!is_in_reach(node, box, tree.nearest)) {
      n = node.next;
      continue;
    }
    if (!node.is_bucket(n) && (node.count == 0 || node.count > 32)) {
      ++n;
      continue;
    }
    n = node.next;
    for (std::uint32_t base = 0; base < node.count; base += 32) {
      if (filled + 32 > batch_size) {
        visit_batch<is_symmetric>(tree, batch, filled, target, visitor, sum);
        filled = 0;
      }
      const std::uint32_t j = node.first + base + lane;
      NeighbourNode particle{{0, 0, 0}, {0, 0, 0}, 0, 0, j, 1};
      double reach = -1;
      if (base + lane < node.count) {
        particle.centre = tree.position[j];
        reach = tree.reach[j];
        particle.reach = is_symmetric ? reach : 0;
      }
      const bool is_near = reach >= 0 && is_in_reach(particle, box, tree.nearest);
      const unsigned near = __ballot_sync(~0U, is_near);
      if (is_near) {
        const std::uint32_t at = filled + static_cast<std::uint32_t>(__popc(near & lanes_before()));
        batch.x[at] = particle.centre.x;
        batch.y[at] = particle.centre.y;
        batch.z[at] = particle.centre.z;
        batch.reach[at] = reach;
        batch.number[at] = j;
      }
      filled += static_cast<std::uint32_t>(__popc(near));
    }
  }
  visit_batch<is_symmetric>(tree, batch, filled, target, visitor, sum);
}

template <bool is_symmetric, class Visitor>
__global__ void __launch_bounds__(32 * walk_warps)
    walk_groups(const NeighbourTree tree, const NeighbourGroups groups, const Visitor visitor) {
  __shared__ NeighbourBatch batches[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (std::uint32_t group = blockIdx.x * walk_warps + warp; group < groups.count;
       group += gridDim.x * walk_warps) {
    WarpTarget target{groups.first(group) + lane, false, {0, 0, 0}, 0};
    if (static_cast<std::int32_t>(lane) < groups.runs[group].count)
      target.is_target = is_target(tree, target.number, visitor);
    if (!__any_sync(~0U, target.is_target)) continue;
    if (target.is_target) {
      target.place = tree.position[target.number];
      target.reach = tree.reach[target.number];
    }
    typename Visitor::Sum sum;
    if constexpr (requires { visitor.begin(0U); })
      sum = visitor.begin(blockIdx.x * blockDim.x + threadIdx.x);
    else
      sum = typename Visitor::Sum{};
    visit_neighbours<is_symmetric>(tree, batches[warp], target, visitor, sum);
    if (target.is_target) visitor.finish(target.number, sum);
  }
}

/// Applies a visitor to all targets of the groups. most_warps: that are under way at a time.
template <class Visitor>
void walk_neighbour_groups(const NeighbourTree& tree, const NeighbourGroups& groups, const Visitor& visitor,
                           const char* name, std::uint32_t most_warps = ~0U) {
  static_assert(!takes_nodes<Visitor>);
  if (groups.count == 0) return;
  const std::uint32_t blocks = (std::min(groups.count, most_warps) + walk_warps - 1) / walk_warps;
  if (tree.is_symmetric)
    walk_groups<true><<<blocks, 32 * walk_warps>>>(tree, groups, visitor);
  else
    walk_groups<false><<<blocks, 32 * walk_warps>>>(tree, groups, visitor);
  launched(name);
}

}  // namespace grove::cuda
