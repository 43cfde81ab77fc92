#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// The records that are sorted in place of particles: integer coordinates x, y, z and the index of the
/// particle, as four parallel arrays in device memory.
struct DeviceRecords {
  DeviceRecords() = default;
  explicit DeviceRecords(std::size_t count) {
    for (auto& column : columns) column = DeviceArray<std::uint32_t>(count);
  }
  std::size_t size() const { return columns[0].size(); }

  std::array<DeviceArray<std::uint32_t>, 4> columns;
};

}  // namespace grove::cuda
