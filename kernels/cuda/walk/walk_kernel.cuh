#pragma once

#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/walk/walk_launch.cuh"

/// The kernel of walk_groups(), for the files that instantiate it.
namespace grove::cuda {

/// True if blocks are brief, so that urgent kernels find processors while this one runs, and the grid holds
/// all groups. Else there are as many blocks as run at a time, since each warp has memory for a stack that
/// spills.
GROVE_HOST_DEVICE constexpr bool is_brief(bool own, LocalTreeKind kind) {
  return !may_spill_nodes(own, kind);
}
/// Groups of a brief block: two save some of its cost, but few groups would not end together then.
constexpr std::uint32_t groups_of_block(std::uint32_t groups) { return groups < (1U << 15) ? 1 : 2; }

/// Warps of a block. In a brief one no warp waits for another one's end.
GROVE_HOST_DEVICE constexpr int warps_of(bool own, LocalTreeKind kind) { return is_brief(own, kind) ? 1 : 4; }

/// Nine blocks leave 56 registers to a thread, a few bytes less than two targets take; 8 or 10 are not
/// faster. Octrees, whose nodes have families of any size, take a few more. A processor takes at most 32
/// brief blocks.
GROVE_HOST_DEVICE constexpr int blocks_per_processor(bool own, LocalTreeKind kind) {
  return is_brief(own, kind) ? 32 : kind == LocalTreeKind::octree ? 8 : 9;
}

/// The sources are indexed by lanes, which without __grid_constant__ would take a copy in memory.
template <Order order, class Shape, bool own, LocalTreeKind kind, int targets_per_warp>
__global__ void __launch_bounds__(32 * warps_of(own, kind), blocks_per_processor(own, kind))
    walk(const ForceUnits units, const __grid_constant__ WalkSources sources, const WalkTargets targets,
         const ForceOutput output, std::uint32_t of_brief_block, std::uint32_t* spill, WalkState* state) {
  constexpr int warps = warps_of(own, kind);
  __shared__ WarpMemory memory[warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GroupWalk<order, Shape, own, kind, targets_per_warp> group(units, sources, targets, memory[warp],
                                                             spill_of_warp(spill, blockIdx.x * warps + warp));
  WarpTotals totals;
  for (std::uint32_t turn = 0; !is_brief(own, kind) || turn < of_brief_block; ++turn) {
    const std::uint32_t g = is_brief(own, kind) ? blockIdx.x * of_brief_block + turn : next_unit(state);
    if (g >= targets.groups) break;
    const Fault fault = group.run(g, output);
    if (fault != Fault::none) {
      if (lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
      break;
    }
    totals.add(group);
  }
  if (lane == 0) totals.put(state);
}

template <Order order, class Shape, bool own, LocalTreeKind kind, int targets_per_warp>
void launch_kind(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                 const ForceOutput& output, WalkMemory& memory) {
  constexpr int warps = warps_of(own, kind), threads = 32 * warps;
  const auto kernel = walk<order, Shape, own, kind, targets_per_warp>;
  const std::uint32_t of_brief_block = groups_of_block(targets.groups);
  std::uint32_t grid = (targets.groups + of_brief_block - 1) / of_brief_block;
  if constexpr (!is_brief(own, kind)) {
    grid = static_cast<std::uint32_t>(blocks_at_a_time(kernel, threads));
    memory.spill = spill_of(grid * warps);
  }
  kernel<<<grid, threads, 0, stream()>>>(units, sources, targets, output, of_brief_block, memory.spill.data(),
                                         memory.state.data());
  launched("Grove::cuda::walk");
}

/// Groups of octrees are no cells, and never walk in pairs.
template <Order order, class Shape, bool own, int targets_per_warp>
void launch_order(const ForceUnits& units, const WalkSources& sources, const WalkTargets& targets,
                  const ForceOutput& output, WalkMemory& memory) {
  auto of_kind = launch_kind<order, Shape, own, LocalTreeKind::bisection, targets_per_warp>;
  if constexpr (targets_per_warp == group_size) {
    if (!sources.are_binary())
      of_kind = launch_kind<order, Shape, own, LocalTreeKind::octree, targets_per_warp>;
  }
  of_kind(units, sources, targets, output, memory);
}

template <bool own, int targets_per_warp>
void walk_groups(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory) {
  with_order_and_shape(gravity, [&](auto order, auto shape) {
    launch_order<decltype(order)::value, decltype(shape), own, targets_per_warp>(units, sources, targets,
                                                                                 output, memory);
  });
}

}  // namespace grove::cuda
