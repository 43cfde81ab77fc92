#pragma once

#include <cstdint>

#include "base/types.hpp"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"

namespace grove::cuda {

/// The leaf that a place belongs to. begin: first place of each, length count + 1; empty leaves have none.
__device__ inline std::uint32_t leaf_at(const std::uint32_t* begin, std::uint32_t count,
                                        std::uint32_t place) {
  std::uint32_t low = 0, high = count;  // begin[low] <= place < begin[high]
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (begin[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Leaves and the records of their particles, in leaf order. Device memory.
struct LeafRecords {
  const std::uint32_t* begin;  ///< [leaves + 1] first record
  std::uint32_t leaves, count;
  Columns columns;
  const ParticleId* ids;  ///< by Record::index; nullptr: the index is the id
};

}  // namespace grove::cuda
