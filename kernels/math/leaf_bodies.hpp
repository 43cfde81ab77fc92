#pragma once

#include <cstdint>
#include <limits>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/node.hpp"

/// The work of Forest::update() per particle and per group: bodies of plain pointers, copied by value, which
/// work wherever their pointers are valid (see kernels/kokkos/particle_loops.hpp).
namespace grove {

// Constants, because a device may not call std::numeric_limits' functions.
inline constexpr float infinite_float = std::numeric_limits<float>::infinity();
inline constexpr float largest_float = std::numeric_limits<float>::max();

GROVE_HOST_DEVICE inline TargetBounds no_bounds() {
  constexpr float inf = infinite_float;
  return {{inf, inf, inf}, {-inf, -inf, -inf}, 0, 0};
}

template <class Box>
GROVE_HOST_DEVICE void widen(Box& box, const Vec3f& low, const Vec3f& high) {
  for (int axis = 0; axis < 3; ++axis) {
    box.low[axis] = low[axis] < box.low[axis] ? low[axis] : box.low[axis];
    box.high[axis] = box.high[axis] < high[axis] ? high[axis] : box.high[axis];
  }
}

GROVE_HOST_DEVICE inline void widen(TargetBounds& bounds, const Vec3f& low, const Vec3f& high,
                                    float inverse_tolerance, float softening) {
  widen(bounds, low, high);
  if (bounds.inverse_tolerance < inverse_tolerance) bounds.inverse_tolerance = inverse_tolerance;
  if (bounds.softening < softening) bounds.softening = softening;
}

/// Particle i of a leaf as a source.
struct SourceBody {
  Vec3d origin;                        ///< of the leaf, units of the run
  double per_length, per_mass;         ///< from units of the run to walk units
  float softening_of[particle_types];  ///< walk units
  const Vec3d* position;               ///< in, and the next two: particles of the leaf, units of the run
  const double* mass;
  const std::uint8_t* type;
  SourceParticle* sources;  ///< out, and the next: particles of the leaf, walk units
  float* softening;

  /// Units of the run.
  GROVE_HOST_DEVICE SourceParticle of(const Vec3d& place, double particle_mass) const {
    return {((place - origin) * per_length).as<float>(), static_cast<float>(particle_mass * per_mass)};
  }
  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    sources[i] = of(position[i], mass[i]);
    softening[i] = softening_of[type[i]];
  }
  /// The same where it has moved since.
  GROVE_HOST_DEVICE void move(std::size_t i) const {
    sources[i].position = ((position[i] - origin) * per_length).as<float>();
  }
};

/// Group g of a leaf: its bounds, who is active, and the least tolerance of these.
struct GroupBody {
  AcceptanceRule rule;
  double per_acceleration;        ///< from units of the run to walk units
  const GroupRun* runs;           ///< in: groups of the leaf
  const SourceParticle* sources;  ///< in, and the next: particles of the leaf, walk units
  const float* softening;
  const float* old_acceleration;  ///< in: particles of the leaf, units of the run
  const std::uint8_t* rung;       ///< in: particles of the leaf
  int first_active;               ///< the rung from which on particles are active
  Group* groups;                  ///< out: groups of the leaf

  GROVE_HOST_DEVICE void operator()(std::size_t g) const {
    const std::int32_t first = runs[g].first, last = first + runs[g].count;
    TargetBounds bounds = no_bounds();
    for (std::int32_t i = first; i < last; ++i) {
      widen(bounds, sources[i].position, sources[i].position);
      bounds.softening = bounds.softening < softening[i] ? softening[i] : bounds.softening;
    }
    std::uint32_t active = 0;
    for (std::int32_t i = first; i < last; ++i)
      active |= static_cast<std::uint32_t>(rung[i] >= first_active) << (i - first);
    if (active != 0) {
      float least = largest_float;
      for (std::int32_t i = first; i < last; ++i)
        if ((active >> (i - first) & 1) != 0 && old_acceleration[i] < least) least = old_acceleration[i];
      bounds.inverse_tolerance = rule.inverse_tolerance(static_cast<float>(least * per_acceleration));
    }
    groups[g] = {bounds, first, last - first, active};
  }
};

}  // namespace grove
