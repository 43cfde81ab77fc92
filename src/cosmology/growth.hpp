#pragma once

#include "cosmology/expansion.hpp"

namespace grove {

/// The growth of small perturbations of matter without pressure: by D1 to first order of Lagrangian
/// perturbation theory, by D2 to second order.
struct Growth {
  double first = 0;        ///< D1; a long before today, where matter dominates
  double first_rate = 0;   ///< d ln D1 / d ln a
  double second = 0;       ///< D2, which is -3/7 D1^2 where there is only matter
  double second_rate = 0;  ///< d ln D2 / d ln a
};

/// Growth from early times to a scale factor. Radiation slows the expansion but not the matter's own growth
/// on scales far inside the horizon; where there is none D1 goes with a at early times, otherwise with
/// 1 + 3/2 a / a_eq (Meszaros 1974). Solves the equations of growth in ln a (Bouchet et al. 1995, A&A 296,
/// 575, eq. 2.12 and 2.13) to a relative error of 1e-10.
Growth growth_at(const Expansion& expansion, double scale_factor);

}  // namespace grove
