#pragma once

#include <cstdint>

#include "base/hash.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// Point `number` of a random stream, uniform in the unit cube: made from its number alone, to the bit the
/// same everywhere. Coordinates are multiples of 2^-53.
GROVE_HOST_DEVICE inline Vec3d uniform_point(std::uint64_t stream, std::uint64_t number) {
  const auto coordinate = [&](std::uint64_t axis) {
    return static_cast<double>(mixed(stream + 3 * number + axis) >> 11) * 0x1p-53;
  };
  return {coordinate(0), coordinate(1), coordinate(2)};
}

}  // namespace grove
