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

/// Bounds in integers that sort as their floats do, so that one instruction unites two of them. At first
/// those of nothing.
struct OrderedBounds {
  int low[3] = {empty, empty, empty}, high[3] = {~empty, ~empty, ~empty};
  int inverse_tolerance = 0, softening = 0;

  /// The bounds that hold one place. A coordinate that is not a number widens nothing, as in widen().
  __device__ static OrderedBounds of(const Vec3f& place, float softening) {
    OrderedBounds result;
    for (int axis = 0; axis < 3; ++axis) {
      result.low[axis] = ordered(fminf(place[axis], infinite_float));
      result.high[axis] = ordered(fmaxf(place[axis], -infinite_float));
    }
    result.softening = ordered(softening);
    return result;
  }
  /// The union over all lanes, without their tolerances.
  __device__ OrderedBounds over_warp() const {
    OrderedBounds result;
    for (int axis = 0; axis < 3; ++axis) {
      result.low[axis] = __reduce_min_sync(~0u, low[axis]);
      result.high[axis] = __reduce_max_sync(~0u, high[axis]);
    }
    result.softening = __reduce_max_sync(~0u, softening);
    return result;
  }
  __device__ void add(const OrderedBounds& other, float its_inverse_tolerance) {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = min(low[axis], other.low[axis]);
      high[axis] = max(high[axis], other.high[axis]);
    }
    softening = max(softening, other.softening);
    inverse_tolerance = max(inverse_tolerance, ordered(its_inverse_tolerance));
  }
  __device__ TargetBounds bounds() const {
    TargetBounds result;
    for (int axis = 0; axis < 3; ++axis)
      result.low[axis] = from_ordered(low[axis]), result.high[axis] = from_ordered(high[axis]);
    result.inverse_tolerance = from_ordered(inverse_tolerance);
    result.softening = from_ordered(softening);
    return result;
  }

 private:
  static constexpr int empty = 0x7f800000;  ///< ordered(infinity); ~empty is ordered(-infinity)
};

}  // namespace grove::cuda
