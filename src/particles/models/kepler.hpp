#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// Positions and velocities of two point masses on an orbit, their centre of mass at rest in the origin.
struct TwoBodies {
  PhasePoint first, second;
};

/// From the separation (second minus first) and the relative velocity, by the masses' shares.
TwoBodies two_bodies(double first_mass, double second_mass, const PhasePoint& relative);

/// Two bodies of total mass M (second over first: mass_ratio) on an ellipse of semi-major axis `scale` and
/// the given eccentricity in the x-y plane, at apocentre on the x axis, turning counter-clockwise. Period 2
/// pi sqrt(a^3 / GM).
Model make_kepler(const ModelParameters& parameters);

}  // namespace grove
