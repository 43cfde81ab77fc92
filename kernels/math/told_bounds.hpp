#pragma once

#include "base/host_device.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/node.hpp"

/// Bounds of the targets of a leaf as other ranks are told of them, so that they hold for some steps.
namespace grove {

/// Half the longest side of a group's box.
GROVE_HOST_DEVICE inline float half_size(const TargetBounds& group) {
  const Vec3f side = group.high - group.low;
  const float longest = side.x > side.y ? side.x : side.y;
  return (longest > side.z ? longest : side.z) / 2;
}

/// True if what the targets in `inner` want is among what those in `outer` want.
GROVE_HOST_DEVICE inline bool is_within(const TargetBounds& inner, const TargetBounds& outer) {
  for (int axis = 0; axis < 3; ++axis)
    if (!(inner.low[axis] >= outer.low[axis] && inner.high[axis] <= outer.high[axis])) return false;
  return inner.inverse_tolerance <= outer.inverse_tolerance;
}

/// Bounds with room for this drift, and a tolerance a little less than that of the least acceleration (both
/// in walk units). room: as of LetKeeping::Rule.
GROVE_HOST_DEVICE inline TargetBounds with_room(TargetBounds bounds, const AcceptanceRule& rule,
                                                float least_acceleration, float room, float drift) {
  bounds.inverse_tolerance = rule.inverse_tolerance(least_acceleration) * (1 + (room > 0 ? room : 0));
  for (int axis = 0; axis < 3; ++axis) {
    bounds.low[axis] -= drift;
    bounds.high[axis] += drift;
  }
  return bounds;
}

}  // namespace grove
