#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// The Andromeda galaxy as in Miki and Umemura 2017 (New Astronomy 52, 65; after Fardal et al. 2007, MNRAS
/// 380, 15): an NFW halo of 81.1 M and r_s = 7.63 a, a Hernquist bulge of 3.24 M and scale 0.61 a, an
/// exponential disk of 3.66 M, scale length 5.4 a, height z0 = 0.6 a and Toomre Q of 1.8 or more. M = `mass`,
/// a = `scale`: 1e10 Msun and 1 kpc, which are 1 in galactic units. All particles have the same mass; the
/// masses above are those of all particles of a component. The halo falls off beyond 20 r_s, the bulge beyond
/// 50 scale lengths, both over a tenth of that.
Model make_m31(const ModelParameters& parameters);

}  // namespace grove
