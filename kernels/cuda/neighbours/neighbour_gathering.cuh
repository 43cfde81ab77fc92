#pragma once

#include <cstdint>

#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/neighbour_box.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// A warp finds what may be a neighbour of the targets of a group.
namespace grove::cuda {

/// Up to 32 particles, one after the other. Bit i of near: first + i may be a neighbour of a target.
struct CandidateRun {
  std::uint32_t first, near;

  __device__ std::uint32_t count() const { return static_cast<std::uint32_t>(__popc(near)); }
  /// Those before first + i.
  __device__ std::uint32_t before(std::uint32_t i) const {
    return static_cast<std::uint32_t>(__popc(near & ((1U << i) - 1)));
  }
  __device__ bool has(std::uint32_t i) const { return (near >> i & 1) != 0; }
};

/// Candidates as runs, in shared memory.
struct CandidateRuns {
  static constexpr std::uint32_t most = 96;  ///< that are gathered at once
  CandidateRun run[most];

  __device__ bool is_full(std::uint32_t filled) const { return filled == most; }
  /// All lanes together. Returns what is filled then.
  __device__ std::uint32_t add(const CandidateRun& next, std::uint32_t filled) {
    if (lane_index() == 0) run[filled] = next;
    return filled + 1;
  }
};

/// All lanes copy the nodes of [begin, end), 32 at most, to shared memory, words that are beside each other:
/// nodes of their own would be in as many lines of the cache for each of their members.
__device__ inline void copy_nodes(const NeighbourTree& tree, std::uint32_t begin, std::uint32_t end,
                                  NeighbourNode* nodes) {
  constexpr std::uint32_t words_of_node = sizeof(NeighbourNode) / sizeof(std::uint64_t);
  static_assert(sizeof(NeighbourNode) % sizeof(std::uint64_t) == 0);
  const auto lane = static_cast<std::uint32_t>(lane_index());
  const auto* const from = reinterpret_cast<const std::uint64_t*>(tree.nodes + begin);
  const std::uint32_t words = (end - begin) * words_of_node;
  std::uint64_t copied[words_of_node] = {};
#pragma unroll
  for (std::uint32_t w = 0; w < words_of_node; ++w)
    if (32 * w + lane < words) copied[w] = from[32 * w + lane];
  __syncwarp();
#pragma unroll
  for (std::uint32_t w = 0; w < words_of_node; ++w)
    reinterpret_cast<std::uint64_t*>(nodes)[32 * w + lane] = copied[w];
  __syncwarp();
}

/// Selects the particles that the targets of a warp look for: all of them. Each lane of a warp tests nodes
/// and particles for all targets, so all lanes must have the same selection.
struct EveryParticle {
  /// False: the walk skips the node and all below it, which must have no particle that is looked for.
  __device__ bool may_have(std::uint32_t) const { return true; }
  /// False: the walk skips the particle, which must not change any sum.
  __device__ bool wants(std::uint32_t) const { return true; }
};

/// Goes along the ropes of the tree and gathers what is in reach of a box, in the order of the tree. The
/// lanes look at 32 nodes at a time, which come one after the other in the order of a search; nodes of at
/// most 32 particles are then taken as a whole, and each lane looks at one of these.
template <class Selection>
class NeighbourGathering {
 public:
  /// box: kept by the caller, as the tree is.
  __device__ NeighbourGathering(const NeighbourTree& tree, const NeighbourTarget& box,
                                const Selection& selection)
      : tree_(tree), box_(box), selection_(selection) {}

  __device__ bool is_done() const { return next_ >= tree_.node_count; }
  __device__ void restart() { next_ = 0; }

  /// candidates (out, shared): CandidateRuns, or what has the same functions; nodes (shared): [32], scratch.
  /// Returns what is filled.
  template <bool is_symmetric, class Candidates>
  __device__ std::uint32_t fill(NeighbourNode* nodes, Candidates& candidates) {
    std::uint32_t filled = 0;
    while (!is_done()) {
      const Window window = look(nodes);
      while (next_ < window.end) {
        const std::uint32_t k = next_ - window.begin;
        const NeighbourNode& node = nodes[k];
        if ((window.taken >> k & 1) != 0) {
          for (; within_ < node.count; within_ += 32) {
            if (candidates.is_full(filled)) return filled;
            const CandidateRun run = take<is_symmetric>(node.first + within_, node.count - within_);
            if (run.near != 0) filled = candidates.add(run, filled);
          }
          within_ = 0;
        }
        next_ = (window.opened >> k & 1) != 0 ? next_ + 1 : node.next;
      }
    }
    return filled;
  }

 private:
  /// Nodes; bits by node.
  struct Window {
    std::uint32_t begin, end;
    unsigned taken, opened;
  };

  /// nodes (out): those of the window.
  __device__ Window look(NeighbourNode* nodes) const {
    Window window{next_, min(next_ + 32, tree_.node_count), 0, 0};
    const auto lane = static_cast<std::uint32_t>(lane_index());
    copy_nodes(tree_, window.begin, window.end, nodes);
    bool is_near = false, is_whole = false;
    if (window.begin + lane < window.end) {
      const NeighbourNode& node = nodes[lane];
      is_near = selection_.may_have(window.begin + lane) && is_in_reach(node, box_, tree_.nearest);
      is_whole = node.is_bucket(window.begin + lane) || (node.count > 0 && node.count <= 32);
    }
    window.taken = __ballot_sync(~0U, is_near && is_whole);
    window.opened = __ballot_sync(~0U, is_near && !is_whole);
    return window;
  }

  /// Those of up to 32 particles that are wanted and in reach.
  template <bool is_symmetric>
  __device__ CandidateRun take(std::uint32_t first, std::uint32_t count) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    bool is_near = false;
    if (lane < count && selection_.wants(first + lane)) {
      const std::uint32_t j = first + lane;
      const double reach = tree_.reach[j];
      const NeighbourNode particle{tree_.position[j], {0, 0, 0}, is_symmetric ? reach : 0, 0, j, 1};
      is_near = reach >= 0 && is_in_reach(particle, box_, tree_.nearest);
    }
    return {first, __ballot_sync(~0U, is_near)};
  }

  const NeighbourTree& tree_;
  const NeighbourTarget& box_;
  const Selection selection_;
  std::uint32_t next_ = 0;    ///< node
  std::uint32_t within_ = 0;  ///< particles of it that have been looked at
};

}  // namespace grove::cuda
