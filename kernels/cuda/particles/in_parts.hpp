#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace grove::cuda {

/// An array in one part or two, as fields are between their exchange and their ordering.
template <class T>
struct InParts {
  const T* values;
  std::uint64_t count;      ///< of these
  const T* rest = nullptr;  ///< what comes behind them

  GROVE_HOST_DEVICE const T& operator[](std::uint64_t i) const {
    return i < count ? values[i] : rest[i - count];
  }
};

}  // namespace grove::cuda
