#pragma once

#include <cstdint>
#include <string>

#include "base/types.hpp"

namespace grove {

/// The choices of `grove ic` and the section `initial_conditions` about a model. Where 0 is no
/// sensible value it means "the model's own default". Lengths, masses and so on in the units of the run.
struct ModelParameters {
  std::string model = "plummer";
  Count particles = 0;  ///< over all components; 0: the model's default
  Count halo_particles = 0, disk_particles = 0, bulge_particles = 0;  ///< 0: a share of the others
  bool equal_masses = false;          ///< halo, disk and bulge have as many particles as their masses ask for
  std::uint64_t seed = 1;             ///< of the random numbers
  double gravitational_constant = 1;  ///< in the units of the run
  double mass = 1;   ///< M of the model's formulas; nfw, disk-galaxy: within rmax; merger: first galaxy
  double scale = 1;  ///< a, r_s, radius, edge or semi-major axis
  double rmax = 0;   ///< truncation radius of a sphere or of the halo
  double concentration = 15;     ///< rmax / scale of an NFW profile, unless rmax is given
  double taper = 0;              ///< length over which a halo falls off beyond rmax (not plummer, hernquist)
  double eccentricity = 0;       ///< kepler
  double mass_ratio = 1;         ///< second body or galaxy over the first: kepler, merger
  double disk_fraction = 0.05;   ///< of the mass of a galaxy in its disk
  double bulge_fraction = 0.01;  ///< of the mass of a galaxy in its bulge
  double bulge_scale = 0;        ///< of the bulge's profile
  double halo_spin = 0;          ///< J / (sqrt(2) M V R) of the halo
  double disk_scale = 0;         ///< exponential scale length of the disk
  double disk_height = 0;        ///< z0 of the disk's sech^2(z / z0)
  double toomre_q = 1.5;         ///< smallest Toomre Q in the disk
  double pericentre = 0;         ///< closest approach of the two galaxies, taken as point masses
  double separation = 0;         ///< of the two galaxies at the start
};

}  // namespace grove
