#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// The origin of a frame of places in single precision: in walk units, from a reference that all
/// frames share, each axis as the sum of two floats. And what has places in it.
struct alignas(32) SourceFrame {
  Vec3f high;
  std::uint32_t node;  ///< its first one in the arrays of all frames
  Vec3f low;
  std::uint32_t particle;  ///< likewise

  /// origin, reference: units of the run; the reference near the middle of the box.
  GROVE_HOST_DEVICE static SourceFrame at(const Vec3d& origin, const Vec3d& reference, double per_length,
                                          std::uint32_t node, std::uint32_t particle) {
    const Vec3d place = (origin - reference) * per_length;
    const Vec3f high = place.as<float>();
    return {high, node, (place - high.as<double>()).as<float>(), particle};
  }
};

/// shift_between() of walk_views.hpp without double precision; all that compares places of two leaves on a
/// GPU uses this one.
///
/// Coordinates of origins are below 2^23 in walk units, so `low` is at most 2^-2 and rounded by 2^-27, and
/// the difference of two by 2^-26: 2^-25 in all, 2^-48 of the edge of the box. The difference of `high` and
/// the sum are each rounded by 2^-24 of themselves: 2^-23 of the shift.
GROVE_HOST_DEVICE inline Vec3f shift_between(const SourceFrame& source, const SourceFrame& target) {
  return (source.high - target.high) + (source.low - target.low);
}

}  // namespace grove
