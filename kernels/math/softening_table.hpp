#pragma once

#include "base/types.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/scalars.hpp"
#include "kernels/math/softening.hpp"

namespace grove {

/// Softening lengths in the form that sums take them, by particle type.
struct SofteningTable {
  float length2[particle_types];  ///< eps^2, walk units: Plummer's scale of a pair
  float radius2[particle_types];  ///< h^2, h = 2.8 eps: the spline's scale of a pair

  const float* scales(Plummer) const { return length2; }
  const float* scales(Spline) const { return radius2; }
};

/// No softening length counts for less, in walk units (1e-15 of the box): its fourth power, which a softened
/// quadrupole needs, and the fifth power of the spline's radius, from which on quadrupoles are Newtonian,
/// stay in the range of a float.
inline constexpr float least_softening = 8e-9F;

inline SofteningTable softening_table(const GravityParameters& gravity, const WalkUnits& units) {
  SofteningTable table{};
  for (std::size_t type = 0; type < particle_types; ++type) {
    const float length = larger(static_cast<float>(gravity.softening[type] / units.length), least_softening);
    table.length2[type] = length * length;
    const float radius = static_cast<float>(spline_radius_over_softening) * length;
    table.radius2[type] = radius * radius;
  }
  return table;
}

}  // namespace grove
