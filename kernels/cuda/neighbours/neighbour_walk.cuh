#pragma once

#include <cstdint>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/cuda/neighbours/neighbour_sweep.cuh"

/// Walks of all targets in device memory, a warp a group, for the visitors of kernels/math/neighbour_tree.hpp
/// that take no nodes. A target has the same neighbours as on the host, in the same order, without those that
/// the visitor's selection skips.
namespace grove::cuda {

inline constexpr int walk_warps = 2;  ///< of a block

/// Blocks of a multiprocessor that shared memory has room for, beside some cache. They have registers, too.
template <class Memory>
inline constexpr int walk_blocks = 200 * 1024 / (walk_warps * sizeof(Memory));

/// The target of this lane in a group.
template <class Visitor>
__device__ WarpTarget target_in(const NeighbourTree& tree, const NeighbourGroups& groups, std::uint32_t group,
                                const Visitor& visitor) {
  const int lane = lane_index();
  WarpTarget target{groups.first(group) + static_cast<std::uint32_t>(lane), false, {0, 0, 0}, 0};
  if (lane < groups.runs[group].count) target.is_target = is_target(tree, target.number, visitor);
  if (target.is_target) {
    target.place = tree.position[target.number];
    target.reach = tree.reach[target.number];
  }
  return target;
}

/// A visitor of pairs in a sweep.
template <class Visitor>
struct VisitPairs {
  using Sum = typename Visitor::Sum;
  struct Kept {
    static constexpr std::uint32_t window = 128;
    std::uint32_t number[window];
  };
  Visitor visitor;

  __device__ bool is_target(std::uint32_t i) const {
    if constexpr (requires { visitor.is_target(i); })
      return visitor.is_target(i);
    else
      return true;
  }
  __device__ auto selection(const WarpTarget& target) const {
    if constexpr (requires { visitor.selection(target); })
      return visitor.selection(target);
    else
      return EveryParticle{};
  }
  __device__ Sum start(std::uint32_t i) const { return first_sum(i, visitor); }
  __device__ void keep(Kept& kept, const CandidateRun& run, std::uint32_t at) const {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    if (run.has(lane)) kept.number[ring_place<Kept>(at, run.before(lane))] = run.first + lane;
  }
  __device__ void visit(Sum& sum, const WarpTarget& target, const Kept& kept, std::uint32_t place,
                        const Vec3d& d, double r2) const {
    visitor.particle(sum, {target.number, kept.number[place], d, r2});
  }
  __device__ void finish(std::uint32_t i, const Sum& sum) const { visitor.finish(i, sum); }
};

template <bool is_symmetric, class Visitor>
__global__ void __launch_bounds__(32 * walk_warps,
                                  walk_blocks<WalkMemory<is_symmetric, typename Visitor::Kept>>)
    walk_groups(const NeighbourTree tree, const NeighbourGroups groups, const Visitor visitor) {
  __shared__ WalkMemory<is_symmetric, typename Visitor::Kept> memories[walk_warps];
  const std::uint32_t warp = threadIdx.x / 32, group = blockIdx.x * walk_warps + warp;
  if (group >= groups.count) return;
  const WarpTarget target = target_in(tree, groups, group, visitor);
  if (!__any_sync(~0U, target.is_target)) return;
  auto& memory = memories[warp];
  typename Visitor::Sum sum{};
  if (target.is_target) sum = visitor.start(target.number);
  memory.surround(target, tree.nearest);
  NeighbourGathering gathering(tree, memory.box, visitor.selection(target));
  NeighbourSweep<is_symmetric, Visitor> sweep(tree, memory, target, visitor);
  while (!gathering.is_done()) {
    const std::uint32_t runs = gathering.template fill<is_symmetric>(memory.nodes, memory.runs);
    sweep.go_through(runs, sum);
  }
  if (target.is_target) visitor.finish(target.number, sum);
}

inline std::uint32_t blocks_of(const NeighbourGroups& groups) {
  return (groups.count + walk_warps - 1) / walk_warps;
}

/// Applies a visitor of a sweep (neighbour_sweep.cuh) to all targets of the groups. Beside what a sweep needs
/// it has is_target(), start(), finish() and selection(), which all lanes call together:
/// EveryParticle, or what has the same functions.
template <class Visitor>
void sweep_neighbour_groups(const NeighbourTree& tree, const NeighbourGroups& groups, const Visitor& visitor,
                            const char* name) {
  if (groups.count == 0) return;
  if (tree.is_symmetric)
    walk_groups<true><<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, visitor);
  else
    walk_groups<false><<<blocks_of(groups), 32 * walk_warps>>>(tree, groups, visitor);
  launched(name);
}

/// Applies a visitor of pairs to all targets of the groups. It may have a selection() itself.
template <class Visitor>
void walk_neighbour_groups(const NeighbourTree& tree, const NeighbourGroups& groups, const Visitor& visitor,
                           const char* name) {
  static_assert(!takes_nodes<Visitor>);
  sweep_neighbour_groups(tree, groups, VisitPairs<Visitor>{visitor}, name);
}

}  // namespace grove::cuda
