#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// Stands for a particle in sorts. Four fill a cache line.
struct alignas(16) Record {
  Coordinate x, y, z;   ///< integer coordinates
  std::uint32_t index;  ///< of the particle, in the arrays of ids and weights

  GROVE_HOST_DEVICE Coordinate operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace grove
