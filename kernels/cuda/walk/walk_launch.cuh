#pragma once

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/walk/group_acceptance.cuh"
#include "kernels/cuda/walk/group_walk.cuh"
#include "kernels/cuda/walk/share_queue.cuh"
#include "kernels/cuda/walk/source_share.cuh"
#include "kernels/cuda/walk/target_sums.cuh"
#include "kernels/math/softening_shape.hpp"

namespace grove::cuda {

/// Totals and the way from warp to warp.
struct WalkState {
  unsigned long long cell, particle, tests, expanded, instructions, longest;
  std::uint32_t next_unit;  ///< group, or part of one
  int fault;
  ShareQueue::State queue;
};

/// The memory of a ShareQueue.
struct ShareArrays {
  DeviceArray<SourceShare> shares;
  DeviceArray<std::uint32_t> ready;
  DeviceArray<Accumulator<float>> totals;

  ShareArrays() = default;
  explicit ShareArrays(const WalkTargets& targets)
      : shares(targets.most_shares),
        ready(targets.most_shares),
        totals(std::size_t{targets.most_shares} * static_cast<std::size_t>(targets.targets_per_warp)) {
    ready.clear();
  }
  ShareQueue view(WalkState* state) const {
    return {shares.data(), ready.data(), totals.data(), static_cast<std::uint32_t>(shares.size()),
            &state->queue};
  }
};

/// The memory of the kernels of a walk, to be kept until they are done.
struct WalkMemory {
  DeviceArray<WalkState> state{1};
  DeviceArray<WarpStore> stores;        ///< [warps at a time]
  DeviceArray<Accumulator<float>> sum;  ///< [groups][parts][32] what each part of each group sums
  DeviceArray<std::uint32_t> work;      ///< [groups][parts]
  ShareArrays shares;                   ///< if groups may leave some
};

/// The number of the next unit of work, for all lanes of a warp.
__device__ inline std::uint32_t next_unit(WalkState* state) {
  std::uint32_t unit = 0;
  if (threadIdx.x % 32 == 0) unit = atomicAdd(&state->next_unit, 1u);
  return __shfl_sync(~0u, unit, 0);
}

/// The totals of a warp's groups.
struct WarpTotals {
  unsigned long long cell = 0, particle = 0, tests = 0, expanded = 0, instructions = 0, longest = 0;

  /// group: a GroupWalk that has been run.
  template <class Walk>
  __device__ void add(const Walk& group) {
    const auto active = static_cast<std::uint64_t>(group.active_count());
    cell += (std::uint64_t{group.counts.cells} + group.counts.expanded) * active;
    expanded += group.counts.expanded * active;
    particle += group.counts.particles * active;
    tests += group.counts.tests;
    instructions += group.counts.instructions();
    longest = max(longest, group.counts.instructions());
  }
  /// By one lane.
  __device__ void put(WalkState* state) const {
    atomicAdd(&state->cell, cell);
    atomicAdd(&state->particle, particle);
    atomicAdd(&state->tests, tests);
    atomicAdd(&state->expanded, expanded);
    atomicAdd(&state->instructions, instructions);
    atomicMax(&state->longest, longest);
  }
};

/// Blocks of a kernel that run at a time.
template <class Kernel>
int blocks_at_a_time(Kernel kernel, int threads) {
  int device = 0, processors = 0, blocks = 0;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  GROVE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return processors * blocks;
}

/// Gravity as the policies of a walk.
template <Order order, class Shape, class Scope, class Trees, class Targets, class Share>
using GravityWalk =
    GroupWalk<GroupAcceptance, TargetSums<order, Shape, Targets::most>, Scope, Trees, Targets, Share>;

/// walk_own() or walk_others(), a warp for the Targets. memory: the state of zeroes.
template <class Scope, class Targets>
void walk_groups(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory);

/// The same with the sources of each group split among targets.parts warps.
template <class Scope>
void walk_in_parts(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                   const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory);

/// Walks the shares that walk_others() has left.
void walk_shares(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory);

}  // namespace grove::cuda
