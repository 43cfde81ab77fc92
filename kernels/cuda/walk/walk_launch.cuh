#pragma once

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/walk/group_walk.cuh"
#include "kernels/math/softening_shape.hpp"

namespace grove::cuda {

/// Totals and the way from warp to warp.
struct WalkState {
  unsigned long long cell, particle, tests, instructions, longest;
  std::uint32_t next_group;  ///< and part of it
  int fault;
};

/// The memory of the kernels of a walk, to be kept until they are done.
struct WalkMemory {
  DeviceArray<WalkState> state{1};
  DeviceArray<std::uint32_t> spill;     ///< [warps at a time][NodeStack::most_spilled]
  DeviceArray<Accumulator<float>> sum;  ///< [groups][parts][32] what each part of each group sums
  DeviceArray<std::uint32_t> work;      ///< [groups][parts]
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

/// walk_own() or walk_others(), a warp for each group, or, targets_per_warp = 2 * group_size, for two.
/// memory: the state of zeroes.
template <bool own, int targets_per_warp>
void walk_groups(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory);

/// The same with the sources of each group split among targets.parts warps.
template <bool own>
void walk_in_parts(const GravityParameters& gravity, const ForceUnits& units, const WalkSources& sources,
                   const WalkTargets& targets, const ForceOutput& output, WalkMemory& memory);

}  // namespace grove::cuda
