#pragma once

#include <cstdint>
#include <span>

#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Leaves in pieces of at most this many particles, one block's work each: what is summed over the particles
/// of a leaf of any size is summed over its pieces first, and over these in their order. So the order depends
/// on the number of the leaf's particles alone.
struct LeafPieces {
  static constexpr Count most = 4096;

  std::uint32_t leaves = 0, count = 0;
  DeviceArray<std::uint64_t> begin;  ///< [count + 1] first particle
  DeviceArray<std::uint64_t> first;  ///< [leaves + 1] first piece; a leaf has one at least
  DeviceArray<std::uint32_t> leaf;   ///< [count] whose piece it is

  /// leaf_begin (host): first particle of each leaf, length leaves + 1; nothing: no leaves.
  explicit LeafPieces(std::span<const Count> leaf_begin);

  bool are_leaves() const { return count == leaves; }
};

}  // namespace grove::cuda
