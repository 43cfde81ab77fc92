#pragma once

#include "particles/particles.hpp"

namespace grove {

/// Kick-drift-kick leapfrog: kick half a step, drift a step, new accelerations, kick half a step. Second
/// order, symplectic and reversible at a fixed step. Cost of each: one pass over the particles.

/// Velocities change by `factor` (time, see Timeline::kick) times the accelerations.
void kick(Particles& particles, double factor);

/// Positions change by `factor` (time, see Timeline::drift) times the velocities.
void drift(Particles& particles, double factor);

/// Positions and velocities a time `dt` after the synchronised state in `particles`, written over it: second
/// order in the positions, first in the velocities. For output between steps; keep a copy of what is
/// overwritten.
void predict(Particles& particles, double dt);

}  // namespace grove
