#include "kernels/cuda/walk.hpp"

#include <stdexcept>

#include "kernels/cuda/streams.cuh"
#include "kernels/cuda/walk_launch.cuh"

namespace grove::cuda {
namespace {

/// Whether blocks are brief, so that urgent kernels find processors while this one runs, and the grid holds
/// all groups. Else there are as many blocks as run at a time, since each warp has memory for a stack that
/// spills.
GROVE_HOST_DEVICE constexpr bool is_brief(bool own, LocalTreeKind kind) {
  return !may_spill_nodes(own, kind);
}
constexpr std::uint32_t groups_of_brief_block = 2;

/// Of a block. In a brief one no warp waits for another one's end.
GROVE_HOST_DEVICE constexpr int warps_of(bool own, LocalTreeKind kind) { return is_brief(own, kind) ? 1 : 4; }

/// Nine blocks leave 56 registers to a thread, a few bytes less than two targets take; 8 or 10 are not
/// faster. Octrees, whose nodes have families of any size, take a few more. Of brief blocks no processor
/// takes more than 32.
GROVE_HOST_DEVICE constexpr int blocks_per_processor(bool own, LocalTreeKind kind) {
  return is_brief(own, kind) ? 32 : kind == LocalTreeKind::octree ? 8 : 9;
}

/// By all lanes of a warp.
__device__ std::uint32_t next_group(WalkState* state) {
  std::uint32_t g = 0;
  if (threadIdx.x % 32 == 0) g = atomicAdd(&state->next_group, 1u);
  return __shfl_sync(~0u, g, 0);
}

/// The sources are indexed by lanes, which without __grid_constant__ would take a copy in memory.
template <Order order, class Shape, bool own, LocalTreeKind kind>
__global__ void __launch_bounds__(32 * warps_of(own, kind), blocks_per_processor(own, kind))
    walk(const WalkRule rule, const __grid_constant__ WalkSources sources, const WalkTargets targets,
         const WalkOutput output, std::uint32_t* spill, WalkState* state) {
  constexpr int warps = warps_of(own, kind);
  __shared__ WarpMemory memory[warps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  GroupWalk<order, Shape, own, kind> group(
      rule, sources, targets, memory[warp],
      spill + static_cast<std::size_t>(blockIdx.x * warps + warp) * NodeStack::most_spilled);
  unsigned long long cell = 0, particle = 0, tests = 0;
  for (std::uint32_t turn = 0; !is_brief(own, kind) || turn < groups_of_brief_block; ++turn) {
    const std::uint32_t g =
        is_brief(own, kind) ? blockIdx.x * groups_of_brief_block + turn : next_group(state);
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
                 const WalkOutput& output, WalkMemory& memory) {
  constexpr int warps = warps_of(own, kind), threads = 32 * warps;
  const auto kernel = walk<order, Shape, own, kind>;
  std::uint32_t grid = (targets.groups + groups_of_brief_block - 1) / groups_of_brief_block;
  if constexpr (!is_brief(own, kind)) {
    grid = static_cast<std::uint32_t>(blocks_at_a_time(kernel, threads));
    memory.spill = DeviceArray<std::uint32_t>(std::size_t{grid} * warps * NodeStack::most_spilled);
  }
  kernel<<<grid, threads, 0, stream()>>>(rule, sources, targets, output, memory.spill.data(),
                                         memory.state.data());
  launched("Grove::cuda::walk");
}

template <Order order, class Shape, bool own>
void launch(const WalkRule& rule, const WalkSources& sources, const WalkTargets& targets,
            const WalkOutput& output, WalkMemory& memory) {
  const auto of_kind = sources.children ? launch_kind<order, Shape, own, LocalTreeKind::octree>
                                        : launch_kind<order, Shape, own, LocalTreeKind::bisection>;
  of_kind(rule, sources, targets, output, memory);
}

template <bool own>
WalkMemory begin(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const WalkOutput& output) {
  WalkMemory memory;
  memory.state.clear();
  if (targets.groups == 0) return memory;
  const double potential = gravity.gravitational_constant * units.mass / units.length;
  const WalkRule rule{potential / units.length, potential};
  const bool has_spline = gravity.kernel == SofteningKernel::spline;
  const auto by_kind =
      gravity.order == Order::quadrupole
          ? (has_spline ? launch<Order::quadrupole, Spline, own> : launch<Order::quadrupole, Plummer, own>)
          : (has_spline ? launch<Order::monopole, Spline, own> : launch<Order::monopole, Plummer, own>);
  if (targets.parts > 1)
    walk_in_parts<own>(gravity, rule, sources, targets, output, memory);
  else
    by_kind(rule, sources, targets, output, memory);
  return memory;
}

/// Waits for what begin() has launched.
WalkCounts end(const WalkMemory& memory) {
  WalkState result;
  memory.state.download(std::span(&result, 1));
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
  return end(begin<true>(gravity, units, sources, targets, output));
}

WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const WalkOutput& output) {
  return end(begin<false>(gravity, units, sources, targets, output));
}

struct OwnWalk::Impl {
  Event ready, started, done;
  WalkMemory memory;
};

OwnWalk::OwnWalk(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const WalkOutput& output)
    : impl_(std::make_unique<Impl>()) {
  const cudaStream_t background = background_stream();
  impl_->ready.record(stream());
  impl_->ready.hold(background);
  const OnStream in_background(background);
  impl_->started.record(background);
  impl_->memory = begin<true>(gravity, units, sources, targets, output);
  impl_->done.record(background);
}

// What is asked for next, such as the freeing of memory, must not overtake it.
OwnWalk::~OwnWalk() { impl_->done.hold(stream()); }

WalkCounts OwnWalk::finish() {
  impl_->done.hold(stream());
  return end(impl_->memory);
}

double OwnWalk::seconds() const { return impl_->done.seconds_since(impl_->started); }

}  // namespace grove::cuda
