#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Particles first .. first + count - 1.
struct ParticleRange {
  std::uint64_t first, count;
  friend bool operator==(const ParticleRange&, const ParticleRange&) = default;
};

/// The numbers of the particles of all ranges, range by range. ranges: the host's, none empty.
DeviceArray<std::uint32_t> list_ranges(std::span<const ParticleRange> ranges);

}  // namespace grove::cuda
