#pragma once

#include "kernels/math/leapfrog.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The parts of a step, see kernels/math/leapfrog.hpp. Second order; symplectic and reversible while all
/// steps are equal and do not change. Cost of each: one pass over the particles.

/// True for the fields that predict() reads.
bool is_read_by_predict(const FieldInfo& info);

/// Active particles get the rung of the step that begins now, and remember their accelerations. Returns how
/// many particles there are of each rung.
RungCounts choose_rungs(Particles& particles, const StepRule& rule, int first_active);

void kick(Particles& particles, const Kick& kick);
void drift(Particles& particles, const Drift& drift);

/// Positions and velocities at another time, written over those of now. For output between steps; keep a copy
/// of what is overwritten.
void predict(Particles& particles, const Prediction& to);

}  // namespace grove
