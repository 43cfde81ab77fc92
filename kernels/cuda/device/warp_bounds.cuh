#pragma once

#include "kernels/math/leaf_bodies.hpp"

namespace grove::cuda {

/// An integer for a float that is a number, in the same order, and the float of such an integer.
__device__ inline int ordered(float value) {
  const int bits = __float_as_int(value);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__device__ inline float from_ordered(int bits) { return __int_as_float(bits < 0 ? bits ^ 0x7fffffff : bits); }

/// The union over all lanes. Of integers the least is found in one instruction, of floats in ten. What is
/// not a number is in no bounds: widen() leaves it out.
__device__ inline TargetBounds warp_union(TargetBounds bounds) {
  for (int axis = 0; axis < 3; ++axis) {
    bounds.low[axis] = from_ordered(__reduce_min_sync(~0u, ordered(bounds.low[axis])));
    bounds.high[axis] = from_ordered(__reduce_max_sync(~0u, ordered(bounds.high[axis])));
  }
  bounds.inverse_tolerance = from_ordered(__reduce_max_sync(~0u, ordered(bounds.inverse_tolerance)));
  bounds.softening = from_ordered(__reduce_max_sync(~0u, ordered(bounds.softening)));
  return bounds;
}

}  // namespace grove::cuda
