#pragma once

#include "kernels/math/leaf_bodies.hpp"

namespace grove::cuda {

/// The union over all lanes.
__device__ inline TargetBounds warp_union(TargetBounds bounds) {
  for (int other = 1; other < 32; other *= 2) {
    TargetBounds b;
    for (int axis = 0; axis < 3; ++axis) {
      b.low[axis] = __shfl_xor_sync(~0u, bounds.low[axis], other);
      b.high[axis] = __shfl_xor_sync(~0u, bounds.high[axis], other);
    }
    b.inverse_tolerance = __shfl_xor_sync(~0u, bounds.inverse_tolerance, other);
    b.softening = __shfl_xor_sync(~0u, bounds.softening, other);
    widen(bounds, b.low, b.high, b.inverse_tolerance, b.softening);
  }
  return bounds;
}

}  // namespace grove::cuda
