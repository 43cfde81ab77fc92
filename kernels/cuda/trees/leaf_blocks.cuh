#pragma once

#include <algorithm>

#include "kernels/cuda/device/launch.cuh"

/// Kernels whose blocks along y share a leaf.
namespace grove::cuda {

/// As many blocks as these items of all leaves need, or some `most` of them.
inline dim3 blocks_of_leaves(std::size_t leaves, std::uint64_t items, unsigned per_block, unsigned most) {
  const auto x = static_cast<unsigned>(leaves);
  return dim3(x, std::max(1U, std::min(most, blocks_for(items, per_block)) / x));
}

/// The first item of the leaf that is this thread's, and how far the next one is.
__device__ inline std::int32_t first_item() {
  return static_cast<std::int32_t>(blockIdx.y * threads + threadIdx.x);
}
__device__ inline std::int32_t step_of_items() { return static_cast<std::int32_t>(gridDim.y * threads); }

/// The same for a warp.
__device__ inline std::uint32_t first_of_warp() { return blockIdx.y * warps + threadIdx.x / 32; }
__device__ inline std::uint32_t step_of_warps() { return gridDim.y * warps; }

}  // namespace grove::cuda
