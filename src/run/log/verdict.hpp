#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"
#include "conservation.hpp"
#include "io/parameters.hpp"

namespace grove {

/// A run's judgement of itself when it is done.
struct Verdict {
  Conservation kept;
  double spin_scale = 0;           ///< what changes of the spin are compared with; 0: there is none
  bool has_spin = false;           ///< it is the size of the spin itself; else the sum of m |x| |v|
  std::vector<std::string> lines;  ///< for the console and the report
  std::vector<std::string>
      warnings;  ///< what is wrong, and which knob to turn; empty: the run can be trusted
};

/// Changes above 1 % of the energy or of the angular momentum make a warning. The audit tells what to blame:
/// forces, where the 99th percentile of their errors is above 0.5 %, or three times delta (more than forces
/// of that delta have), or, for angular momentum alone, above 0.05 %, as errors of forces act as a torque;
/// else the steps. Momentum and angular momentum are left out where external potentials change them, the
/// latter also in periodic boxes, the former also of a sphere in expanding space: the homogeneous universe
/// around it pulls at its centre of mass.
///
/// There is a spin if a type has one that is more than chance, and if that is not cancelled: the whole began
/// with half of that at least.
///
/// has_gas: the run has gas. The energy of isothermal gas, whose heat goes elsewhere, is told and not judged.
Verdict verdict_on(const Conservation& kept, const Turning& turning, Count particles,
                   const Parameters& parameters, bool has_gas = false);

}  // namespace grove
