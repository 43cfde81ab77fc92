#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/vec3.hpp"
#include "cosmology/expansion.hpp"
#include "kernels/math/potentials.hpp"

namespace grove {

/// Section `cosmology` of a parameter file. A preset fills in what is not given.
struct CosmologyParameters {
  std::string preset;  ///< empty: none
  std::optional<double> h, omega_matter, omega_lambda, omega_radiation, w0, wa;
  /// The linear spectrum of initial conditions takes these.
  std::optional<double> omega_baryon, sigma8, spectral_index;
  std::optional<Vec3d> centre;  ///< of an open sphere, comoving

  friend bool operator==(const CosmologyParameters&, const CosmologyParameters&) = default;
};

/// Names of presets.
const std::vector<std::string>& cosmology_presets();

/// Fills in what the preset says of h, omega_matter and omega_lambda. InputError: what has no value then, or
/// an h in km/s/Mpc.
void complete(CosmologyParameters& parameters);

/// Fills in what the preset says of the linear spectrum: of one by a formula. A table is scaled to a sigma8
/// that is given, and not to a preset's.
void complete_spectrum(CosmologyParameters& parameters);

/// The universe of complete parameters, H0 in these units. InputError if it is none that comes from a big
/// bang, or the units are dimensionless.
Cosmology cosmology_of(const CosmologyParameters& parameters, const Units& units);

/// The outward pull that an open sphere about this centre needs beside its own gravity, in comoving
/// coordinates: that of the homogeneous universe around it (docs/cosmology.md).
ExternalPotential background_of(const Cosmology& cosmology, const Vec3d& centre);

}  // namespace grove
