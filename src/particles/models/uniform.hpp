#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// A uniform ball of the given mass and radius (= scale), at rest.
Model make_cold_sphere(const ModelParameters& parameters);

/// The same with velocities uniform in the ball v^2 < G M / R, everywhere below the escape speed. Kinetic
/// energy 3 G M^2 / (10 R), half of |W| = 3 G M^2 / (5 R): in virial balance, though not stationary.
Model make_uniform_sphere(const ModelParameters& parameters);

/// A uniform cube of the given mass and edge (= scale) about the origin, at rest. Its draws are not centred,
/// so that none leaves the cube.
Model make_uniform_cube(const ModelParameters& parameters);

}  // namespace grove
