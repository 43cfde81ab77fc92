#pragma once

#include <cstdint>

#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// How many records go left in each tile of a partition, and in all tiles before it: where a tile's records
/// go, without a tile having to wait for another.
class LeftCounts {
 public:
  /// Makes room; what is counted is to be written to in(), device, one per tile.
  void reserve(std::uint32_t tiles);
  std::uint32_t* in() const { return in_.data(); }

  /// Adds up.
  void scan(std::uint32_t tiles);
  /// By tile, what goes left in all tiles before it, modulo 2^32; device.
  const std::uint32_t* before() const { return before_.data(); }

 private:
  DeviceArray<std::uint32_t> in_, before_;
  DeviceArray<std::byte> scratch_;
};

}  // namespace grove::cuda
