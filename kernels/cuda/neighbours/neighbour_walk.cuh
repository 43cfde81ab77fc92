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
#pragma unroll 1
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

/// Goes along the ropes of the tree and gathers what is in reach of a box. The lanes look at 32 nodes at a
/// time, which come one after the other in the order of a search; nodes of at most 32 particles are then
/// taken as a whole, and each lane looks at one of these.
class NeighbourGathering {
 public:
  __device__ NeighbourGathering(const NeighbourTree& tree, const NeighbourTarget& box)
      : tree_(tree), box_(box) {}

  __device__ bool is_done() const { return next_ >= tree_.node_count; }

  /// Fills the batch. Returns how many candidates there are.
  template <bool is_symmetric>
  __device__ std::uint32_t fill(NeighbourBatch& batch) {
    std::uint32_t filled = 0;
    while (!is_done()) {
      const Window window = look(next_);
      while (next_ < window.end) {
        const auto k = static_cast<int>(next_ - window.begin);
        if ((window.taken >> k & 1) != 0) {
          const std::uint32_t first = __shfl_sync(~0U, window.first, k),
                              count = __shfl_sync(~0U, window.count, k);
          for (; within_ < count; within_ += 32) {
            if (filled + 32 > batch_size) return filled;
            filled += take<is_symmetric>(batch, filled, first + within_, count - within_);
          }
          within_ = 0;
        }
        const std::uint32_t after = __shfl_sync(~0U, window.next, k);
        next_ = (window.opened >> k & 1) != 0 ? next_ + 1 : after;
      }
    }
    return filled;
  }

 private:
  /// Nodes, one a lane; bits by lane.
  struct Window {
    std::uint32_t begin, end;
    std::uint32_t first, count, next;
    unsigned taken, opened;
  };

  __device__ Window look(std::uint32_t begin) const {
    Window window{begin, min(begin + 32, tree_.node_count), 0, 0, 0, 0, 0};
    const std::uint32_t n = begin + static_cast<std::uint32_t>(lane_index());
    bool is_near = false, is_whole = false;
    if (n < window.end) {
      const NeighbourNode node = tree_.nodes[n];
      is_near = is_in_reach(node, box_, tree_.nearest);
      is_whole = node.is_bucket(n) || (node.count > 0 && node.count <= 32);
      window.first = node.first;
      window.count = node.count;
      window.next = node.next;
    }
    window.taken = __ballot_sync(~0U, is_near && is_whole);
    window.opened = __ballot_sync(~0U, is_near && !is_whole);
    return window;
  }

  /// Adds those of up to 32 particles that are in reach.
  template <bool is_symmetric>
  __device__ std::uint32_t take(NeighbourBatch& batch, std::uint32_t filled, std::uint32_t first,
                                std::uint32_t count) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const std::uint32_t j = first + lane;
    NeighbourNode particle{{0, 0, 0}, {0, 0, 0}, 0, 0, j, 1};
    double reach = -1;
    if (lane < count) {
      particle.centre = tree_.position[j];
      reach = tree_.reach[j];
      particle.reach = is_symmetric ? reach : 0;
    }
    const bool is_near = reach >= 0 && is_in_reach(particle, box_, tree_.nearest);
    const unsigned near = __ballot_sync(~0U, is_near);
    if (is_near) {
      const std::uint32_t at = filled + static_cast<std::uint32_t>(__popc(near & lanes_before()));
      batch.x[at] = particle.centre.x;
      batch.y[at] = particle.centre.y;
      batch.z[at] = particle.centre.z;
      batch.reach[at] = reach;
      batch.number[at] = j;
    }
    return static_cast<std::uint32_t>(__popc(near));
  }

  const NeighbourTree& tree_;
  NeighbourTarget box_;
  std::uint32_t next_ = 0;    ///< node
  std::uint32_t within_ = 0;  ///< particles of it that have been looked at
};

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
    else if (target.is_target)
      sum = first_sum(target.number, visitor);
    NeighbourGathering gathering(tree, box_of(target));
    // Batches are visited in one place: the compiler might round sums otherwise in another, and where a batch
    // ends depends on the number of ranks.
    while (!gathering.is_done()) {
      const std::uint32_t count = gathering.fill<is_symmetric>(batches[warp]);
      visit_batch<is_symmetric>(tree, batches[warp], count, target, visitor, sum);
    }
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
