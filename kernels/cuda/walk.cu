#include "kernels/cuda/walk.hpp"

#include <stdexcept>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/group_walk.cuh"
#include "kernels/cuda/walk_in_parts.cuh"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;
/// That leaves 56 registers to a thread, a few bytes less than two targets take; 8 or 10 blocks are not
/// faster. Octrees, whose nodes have families of any size, take a few more.
constexpr int blocks_per_processor(LocalTreeKind kind) { return kind == LocalTreeKind::octree ? 8 : 9; }

/// The sources are indexed by lanes, which without __grid_constant__ would take a copy in memory.
template <Order order, class Shape, bool own, LocalTreeKind kind>
__global__ void __launch_bounds__(threads, blocks_per_processor(kind))
    walk(const WalkRule rule, const __grid_constant__ WalkSources sources, const WalkTargets targets,
         const WalkOutput output, std::uint32_t* spill, WalkState* state) {
  __shared__ WarpMemory memory[warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GroupWalk<order, Shape, own, kind> group(
      rule, sources, targets, memory[warp],
      spill + static_cast<std::size_t>(blockIdx.x * warps + warp) * NodeStack::most_spilled);
  unsigned long long cell = 0, particle = 0, tests = 0;
  while (true) {
    std::uint32_t g = 0;
    if (lane == 0) g = atomicAdd(&state->next_group, 1u);
    g = __shfl_sync(~0u, g, 0);
    if (g >= targets.groups) break;
    const Fault fault = group.run(g, output);
    if (fault != Fault::none) {
      if (lane == 0) atomicMax(&state->fault, static_cast<int>(fault));
      break;
    }
    cell += static_cast<std::uint64_t>(group.cell) * static_cast<std::uint64_t>(group.count());
    particle += static_cast<std::uint64_t>(group.particle) * static_cast<std::uint64_t>(group.count());
    tests += group.tests;
  }
  if (lane != 0) return;
  atomicAdd(&state->cell, cell);
  atomicAdd(&state->particle, particle);
  atomicAdd(&state->tests, tests);
}

template <Order order, class Shape, bool own, LocalTreeKind kind>
void launch_kind(const WalkRule& rule, const WalkSources& sources, const WalkTargets& targets,
                 const WalkOutput& output, WalkState* state) {
  int device = 0, processors = 0, blocks = 0;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  GROVE_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk<order, Shape, own, kind>, threads, 0));
  const int grid = processors * blocks;
  const DeviceArray<std::uint32_t> spill(static_cast<std::size_t>(grid) * warps * NodeStack::most_spilled);
  walk<order, Shape, own, kind><<<grid, threads>>>(rule, sources, targets, output, spill.data(), state);
  launched("Grove::cuda::walk");
}

template <Order order, class Shape, bool own>
void launch(const WalkRule& rule, const WalkSources& sources, const WalkTargets& targets,
            const WalkOutput& output, WalkState* state) {
  const auto of_kind = sources.children ? launch_kind<order, Shape, own, LocalTreeKind::octree>
                                        : launch_kind<order, Shape, own, LocalTreeKind::bisection>;
  of_kind(rule, sources, targets, output, state);
}

template <bool own>
WalkCounts run(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
               const WalkTargets& targets, const WalkOutput& output) {
  if (targets.groups == 0) return {};
  const double potential = gravity.gravitational_constant * units.mass / units.length;
  const WalkRule rule{potential / units.length, potential};
  DeviceArray<WalkState> state(1);
  state.clear();
  const bool has_spline = gravity.kernel == SofteningKernel::spline;
  const auto by_kind =
      gravity.order == Order::quadrupole
          ? (has_spline ? launch<Order::quadrupole, Spline, own> : launch<Order::quadrupole, Plummer, own>)
          : (has_spline ? launch<Order::monopole, Spline, own> : launch<Order::monopole, Plummer, own>);
  if (targets.parts > 1)
    walk_in_parts<own>(gravity, rule, sources, targets, output, state.data());
  else
    by_kind(rule, sources, targets, output, state.data());
  WalkState result;
  state.download(std::span(&result, 1));
  if (result.fault == static_cast<int>(Fault::opened_pruned))
    throw std::logic_error("walk: a group opens what was not sent for it");
  if (result.fault == static_cast<int>(Fault::stack_full))
    throw std::logic_error("walk: a tree is deeper than the stack of a group");
  return {static_cast<std::int64_t>(result.cell), static_cast<std::int64_t>(result.particle),
          static_cast<std::int64_t>(result.tests)};
}

}  // namespace

WalkCounts walk_own(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                    const WalkTargets& targets, const WalkOutput& output) {
  return run<true>(gravity, units, sources, targets, output);
}

WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const WalkOutput& output) {
  return run<false>(gravity, units, sources, targets, output);
}

}  // namespace grove::cuda
