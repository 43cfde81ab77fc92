#pragma once

#include <string>

#include "base/units.hpp"
#include "cosmology/expansion.hpp"
#include "particles/field.hpp"

namespace grove {

/// The universe that a snapshot is of, and when.
struct ComovingTime {
  Cosmology cosmology;
  double h;  ///< the Hubble constant over 100 km/s/Mpc
  double scale_factor;
  double energy_power = 2;  ///< Grove's u of gas is a to this power times the physical one
};

/// How files give a quantity that Grove has in comoving lengths without h and canonical momenta p = a^2
/// dx/dt. Physical is value a^a_power h^h_power in the file's units.
///
/// GADGET (Springel 2005, its user guide, section "units"): lengths and masses in units over h, velocities
/// u = sqrt(a) dx/dt. Comoving potentials and accelerations stay as they are: physical ones are these over a
/// and a^2. Internal energies are physical in files, all else of gas is comoving.
struct ComovingScale {
  double in_file = 1;  ///< multiplies Grove's value
  double a_power = 0, h_power = 0;

  static ComovingScale of(const FieldInfo& field, const ComovingTime& time);
};

/// Multiplies velocities of files to make canonical momenta: a^(3/2) those of GADGET, a those of SWIFT, which
/// are peculiar ones.
double momentum_over_gadget(double scale_factor);
double momentum_over_swift(double scale_factor);

/// A number as a file has it, of a text. One with a unit has no h in it, those of files may. h: 1 where a
/// file has none in its numbers. InputError: as of Units::parse().
double number_of_file(const std::string& text, const Dimension& dimension, const Units& units, double h);

/// Units with h as those of GADGET's files are.
Units over_h(const Units& units, double h);

}  // namespace grove
