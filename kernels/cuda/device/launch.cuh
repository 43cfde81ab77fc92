#pragma once

#include <cstdint>

namespace grove::cuda {

/// Threads of a block, where a kernel has no reason for another number.
constexpr int threads = 256;
constexpr int warps = threads / 32;
/// Blocks that keep any GPU busy.
constexpr unsigned enough_blocks = 2048;

/// The blocks for so many items.
__host__ __device__ constexpr unsigned blocks_for(std::uint64_t items, unsigned per_block = threads) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace grove::cuda
