#pragma once

#include <stdexcept>

#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/walk/walk_launch.cuh"

/// The kernel of walk_groups(), for the files that instantiate it.
namespace grove::cuda {

/// How a pass goes in blocks.
template <class Scope, class Trees>
struct WalkBlocks {
  /// True if blocks are brief, so that urgent kernels find processors while this one runs, and the grid holds
  /// all groups. Else there are as many blocks as run at a time, since each warp has memory for a stack that
  /// spills.
  static constexpr bool are_brief = !may_spill_nodes<Scope, Trees>;

  /// In a brief one no warp waits for another one's end.
  static constexpr int warps = are_brief ? 1 : 4;
  static constexpr int threads = 32 * warps;

  /// A processor takes at most 32 brief blocks. Eight others leave 64 registers to a thread; with nine the
  /// expansions spill more, and the walk takes 1 % longer.
  static constexpr int per_processor = are_brief ? 32 : 8;
};

/// Groups or pairs of a brief block: two groups save some of its cost, but few groups would not end together
/// then, and two pairs would keep urgent kernels waiting.
template <class Targets>
constexpr std::uint32_t units_of_block(std::uint32_t units) {
  return Targets::most > group_size || units < (1U << 15) ? 1 : 2;
}

/// The sources are indexed by lanes, which without __grid_constant__ would take a copy in memory.
///
/// The queue is for what is left of groups in a pass that has a limit.
template <Order order, class Shape, class Scope, class Trees, class Targets>
__global__ void __launch_bounds__(WalkBlocks<Scope, Trees>::threads, WalkBlocks<Scope, Trees>::per_processor)
    walk(const ForceUnits units, const __grid_constant__ WalkSources sources, const WalkTargets targets,
         const ForceOutput output, std::uint32_t of_brief_block, WarpStore* stores,
         const __grid_constant__ ShareQueue queue, WalkState* state) {
  using Share = std::conditional_t<Scope::has_targets, AllSources, LimitedShare>;
  using Blocks = WalkBlocks<Scope, Trees>;
  __shared__ WarpMemory memory[Blocks::warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GravityWalk<order, Shape, Scope, Trees, Targets, Share> group(
      units, sources, targets, memory[warp],
      Blocks::are_brief ? nullptr : stores + blockIdx.x * Blocks::warps + warp);
  WarpTotals totals;
  for (std::uint32_t turn = 0; !Blocks::are_brief || turn < of_brief_block; ++turn) {
    const std::uint32_t g = Blocks::are_brief ? blockIdx.x * of_brief_block + turn : next_unit(state);
    if (g >= targets.groups) break;
    Fault fault = group.run(g, Share::of_group(targets.share_limit), output);
    if constexpr (!Scope::has_targets)
      if (fault == Fault::none && !group.left().is_empty() &&
          !queue.split(group.left(), g, SourceShare::none))
        fault = Fault::shares_full;
    if (fault != Fault::none) {
      if (lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
      break;
    }
    totals.add(group);
  }
  if (lane == 0) totals.put(state);
}

template <Order order, class Shape, class Scope, class Trees, class Targets>
void launch_walk(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                 const ForceOutput& output, WalkMemory& memory) {
  using Blocks = WalkBlocks<Scope, Trees>;
  const auto kernel = walk<order, Shape, Scope, Trees, Targets>;
  const std::uint32_t of_brief_block = units_of_block<Targets>(targets.groups);
  std::uint32_t grid = (targets.groups + of_brief_block - 1) / of_brief_block;
  if constexpr (!Blocks::are_brief) {
    grid = static_cast<std::uint32_t>(blocks_at_a_time(kernel, Blocks::threads));
    memory.stores = DeviceArray<WarpStore>(std::size_t{grid} * Blocks::warps);
  }
  kernel<<<grid, Blocks::threads, 0, stream()>>>(
      units, sources, targets, output, of_brief_block, memory.stores.data(),
      memory.shares.view(memory.state.data()), memory.state.data());
  launched("Grove::cuda::walk");
}

/// Groups of any trees but bisections are no cells, and never walk in pairs.
template <Order order, class Shape, class Scope, class Targets>
void launch_for_trees(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                      const ForceOutput& output, WalkMemory& memory) {
  with_trees(sources.kind, [&](auto kind) {
    using Trees = typename decltype(kind)::type;
    if constexpr (std::is_same_v<Trees, BinaryTrees> || std::is_same_v<Targets, OneGroup>)
      launch_walk<order, Shape, Scope, Trees, Targets>(units, sources, targets, output, memory);
    else
      throw std::logic_error("walk: only groups of bisections walk in pairs");
  });
}

template <class Scope, class Targets>
void walk_groups(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory) {
  with_order_and_shape(gravity, [&](auto order, auto shape) {
    launch_for_trees<decltype(order)::value, decltype(shape), Scope, Targets>(units, sources, targets, output,
                                                                              memory);
  });
}

}  // namespace grove::cuda
