#pragma once

#include "kernels/math/neighbour_box.hpp"

namespace grove::cuda {

/// The union over all lanes of a warp, which all call it.
__device__ inline NeighbourBounds united(NeighbourBounds bounds) {
  for (int other = 1; other < 32; other *= 2) {
    NeighbourBounds b;
    for (int axis = 0; axis < 3; ++axis) {
      b.low[axis] = __shfl_xor_sync(~0U, bounds.low[axis], other);
      b.high[axis] = __shfl_xor_sync(~0U, bounds.high[axis], other);
    }
    b.reach = __shfl_xor_sync(~0U, bounds.reach, other);
    bounds.add(b);
  }
  return bounds;
}

}  // namespace grove::cuda
