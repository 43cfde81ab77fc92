#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// Separation and relative velocity of two bodies on a parabola in the x-y plane that turns
/// counter-clockwise, on the way in; pericentre on the negative x axis.
PhasePoint parabolic_approach(double gm, double pericentre, double separation);

/// Two galaxies, each a Hernquist halo (scale `scale`, M of its formula = mass less disk_fraction; tapered
/// beyond rmax) with an exponential disk of stars on near-circular orbits, meeting on the parabola that they
/// would follow as point masses. The second has mass_ratio of the first's mass and the cube root of that of
/// its lengths. Each galaxy has its own share of the particles, so that masses of particles are equal;
/// halo_particles and disk_particles are those of the first one. 60 % of a galaxy's particles are in
/// the halo. Components: halo and disk of the first, halo and disk of the second.
Model make_merger(const ModelParameters& parameters);

}  // namespace grove
