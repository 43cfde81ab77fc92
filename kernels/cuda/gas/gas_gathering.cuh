#pragma once

#include <cstdint>

#include "kernels/cuda/gas/sweep_frame.cuh"

/// A warp finds what may be a neighbour of its targets, in single precision.
namespace grove::cuda {

/// Candidates by number, in shared memory: all of a group, or of a group that has more (gas_large.cuh) some
/// at a time.
struct GasCandidates {
  static constexpr std::uint32_t most_tiles = 32, most = 32 * (most_tiles - 1);
  std::uint32_t number[most + 32];

  __device__ static bool is_whole(std::uint32_t filled) { return filled <= most; }
  /// All lanes together; is_near: whether this one has a candidate. Returns what is filled then.
  __device__ std::uint32_t add(std::uint32_t candidate, bool is_near, std::uint32_t filled) {
    const unsigned near = __ballot_sync(~0U, is_near), before = near & ((1U << lane_index()) - 1);
    if (is_near) number[filled + static_cast<std::uint32_t>(__popc(before))] = candidate;
    return filled + static_cast<std::uint32_t>(__popc(near));
  }
};

/// Shared memory that a search needs meanwhile.
struct GasNodes {
  NeighbourNode node[32];
  std::uint32_t shift[32];  ///< of nodes that are taken: from a place among all their particles to a number
};

/// Goes along the ropes of the tree and gathers what is in reach of a group, in the order of the tree. The
/// lanes look at 32 nodes at a time, which come one after the other in the order of a search. Nodes of at
/// most 16 particles are then taken as a whole, and the lanes look at their particles, 32 at a time of
/// however many nodes.
///
/// All that the sweep then finds is gathered, as SweepFrame::slack leaves room for roundings. Nodes have four
/// times as much, so that none hides a particle that is in reach by itself: what is gathered does not depend
/// on the nodes, of which other ranks have others.
class GasGathering {
 public:
  /// Both are kept by the caller.
  __device__ GasGathering(const NeighbourTree& tree, const SweepFrame& frame) : tree_(tree), frame_(frame) {}

  /// nodes (out): shared. take(candidate, is_there): by all lanes together, a candidate each where there is
  /// one; false: no more are wanted. begin, end: of the nodes to take candidates from; ranges of nodes, one
  /// after the other, have the candidates of all of them.
  template <bool is_symmetric, class Take>
  __device__ void go(GasNodes& nodes, std::uint32_t begin, std::uint32_t end, const Take& take) const {
    for (std::uint32_t next = 0; next < end;) {
      const Window window = look(nodes, next, begin, end);
      for (std::uint32_t within = 0; within < window.particles; within += 32) {
        const std::uint32_t place = within + static_cast<std::uint32_t>(lane_index()),
                            number = window.number(nodes, within);
        if (!take(number, place < window.particles && is_near<is_symmetric>(number))) return;
      }
      next = window.next;
    }
  }

  /// nodes, candidates (out): shared. Returns how many candidates there are; if they are not whole, more.
  template <bool is_symmetric>
  __device__ std::uint32_t fill(GasNodes& nodes, GasCandidates& candidates) const {
    std::uint32_t filled = 0;
    go<is_symmetric>(nodes, 0, tree_.node_count, [&](std::uint32_t candidate, bool is_there) {
      filled = candidates.add(candidate, is_there, filled);
      return GasCandidates::is_whole(filled);
    });
    return filled;
  }

 private:
  static constexpr std::uint32_t most_whole = 16;

  /// Nodes, one a lane.
  struct Window {
    std::uint32_t next;       ///< where the search goes on behind them
    std::uint32_t particles;  ///< of all that are taken
    std::uint32_t begin;      ///< those before the lane's node
    bool is_taken;            ///< the lane's node

    /// The particle at place `from` + lane among those of all nodes that are taken.
    __device__ std::uint32_t number(const GasNodes& nodes, std::uint32_t from) const {
      const auto lane = static_cast<std::uint32_t>(lane_index());
      const unsigned before = __ballot_sync(~0U, is_taken && begin < from),
                     begins =
                         __reduce_or_sync(~0U, is_taken && begin - from < 32 ? 1U << (begin - from) : 0U);
      const int node = __popc(before) + __popc(begins & ((2U << lane) - 1)) - 1;
      return nodes.shift[node] + from + lane;
    }
  };

  /// from: the first of these nodes. Those before `begin` only lead to others.
  __device__ Window look(GasNodes& nodes, std::uint32_t from, std::uint32_t begin,
                         std::uint32_t all_end) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const std::uint32_t own = from + lane, end = min(from + 32, all_end);
    copy_nodes(tree_, from, end, nodes.node);
    const NeighbourNode& node = nodes.node[lane];
    bool is_taken = false;
    std::uint32_t next = 0;
    unsigned hidden = 0;
    if (own < end) {
      const bool is_whole = node.is_bucket(own) || (node.count > 0 && node.count <= most_whole),
                 is_near = node.next > begin && is_node_near(node);
      is_taken = is_near && is_whole && node.count > 0 && own >= begin;
      next = is_near && !is_whole ? own + 1 : node.next;
      hidden = below(next - from) & ~below(lane + 1);
    }
    hidden = __reduce_or_sync(~0U, hidden);
    is_taken = is_taken && (hidden >> lane & 1) == 0;
    const unsigned taken = __ballot_sync(~0U, is_taken);
    const std::uint32_t count = is_taken ? node.count : 0, through = sum_through_lane(count),
                        before = through - count;
    if (is_taken) nodes.shift[__popc(taken & below(lane))] = node.first - before;
    __syncwarp();
    return {__reduce_max_sync(~0U, next), __shfl_sync(~0U, through, 31), before, is_taken};
  }

  /// The lowest bits, so many.
  __device__ static unsigned below(std::uint32_t bits) { return bits < 32 ? (1U << bits) - 1 : ~0U; }

  /// The sum over this lane and those below it.
  __device__ static std::uint32_t sum_through_lane(std::uint32_t value) {
    for (std::uint32_t other = 1; other < 32; other *= 2) {
      const std::uint32_t theirs = __shfl_up_sync(~0U, value, other);
      if (static_cast<std::uint32_t>(lane_index()) >= other) value += theirs;
    }
    return value;
  }

  /// Distances are never too large, by a factor that is more than roundings of the node's place and size.
  __device__ bool is_node_near(const NeighbourNode& node) const {
    constexpr float less = 1 - 0x1p-20F, more = 1 + 0x1p-20F;
    const Vec3f d = frame_.offset(node.centre, tree_.nearest),
                half = (frame_.per_extent * node.half).as<float>();
    const Vec3f outside{fmaf(less, fabsf(d.x), -fmaf(more, half.x, frame_.half.x)),
                        fmaf(less, fabsf(d.y), -fmaf(more, half.y, frame_.half.y)),
                        fmaf(less, fabsf(d.z), -fmaf(more, half.z, frame_.half.z))};
    return is_below(outside, frame_.reach_with(node.reach), 4 * frame_.slack);
  }

  template <bool is_symmetric>
  __device__ bool is_near(std::uint32_t number) const {
    const double own = tree_.reach[number];
    const Vec3f d = frame_.offset(tree_.position[number], tree_.nearest);
    const Vec3f outside{fabsf(d.x) - frame_.half.x, fabsf(d.y) - frame_.half.y, fabsf(d.z) - frame_.half.z};
    return own >= 0 && is_below(outside, is_symmetric ? frame_.reach_with(own) : frame_.reach, frame_.slack);
  }

  /// Very large numbers are cut so that squares are finite.
  __device__ static bool is_below(const Vec3f& outside, float reach, float slack) {
    const float most = fminf(fmaf(slack, 1 + reach, reach), 0x1p62F);
    const auto cut = [](float x) { return fminf(fmaxf(x, 0), 0x1p60F); };
    const Vec3f d{cut(outside.x), cut(outside.y), cut(outside.z)};
    return norm2(d) < most * most;
  }

  const NeighbourTree& tree_;
  const SweepFrame& frame_;
};

}  // namespace grove::cuda
