#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// An NFW sphere of mass M within rmax = concentration * scale (or the given rmax), beyond which it falls off
/// exponentially (`taper`, default rmax / 10); in equilibrium, by Eddington's inversion of the tapered
/// profile.
Model make_nfw(const ModelParameters& parameters);

}  // namespace grove
