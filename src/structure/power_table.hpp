#pragma once

#include <string>
#include <vector>

#include "base/display_units.hpp"
#include "structure/power_spectrum.hpp"

namespace grove {

/// The lengths that a table of a power spectrum is in.
struct SpectrumUnit {
  double factor = 1;              ///< lengths of the table over those of the spectrum
  std::string wavenumber, power;  ///< columns' headings

  /// h/Mpc and (Mpc/h)^3. length: the spectrum's unit of length, in Mpc/h.
  static SpectrumUnit of_h(double length);
  /// The units that values of a run or file are shown in.
  static SpectrumUnit of(const DisplayUnits& shown);
};

/// Points of the mesh along an edge, if nobody asks for others: twice as many as particles, as a power of two
/// from 16 to 1024. A lattice's own images, which are there before particles have moved far, then spoil 0.4 %
/// of the power at an eighth of Nyquist's frequency.
int usual_mesh(Count particles);

/// Memory of all ranks for a mesh of so many points along an edge, interlaced: an upper bound. `grove power
/// --mesh 256` takes 25.7 bytes a point on one rank and 28.1 on two.
double bytes_of_mesh(int mesh);

/// As CSV: a head, then a line for each shell with its wavenumber, number of modes, power, shot noise and
/// standard deviation of the power.
std::string power_table(const std::vector<PowerBin>& bins, const SpectrumUnit& unit,
                        bool subtract_shot_noise = false);

}  // namespace grove
