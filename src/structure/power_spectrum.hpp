#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "structure/power_estimator.hpp"

namespace grove {

/// How the power spectrum of particles is measured.
struct PowerOptions {
  double box = 1;  ///< edge, length
  int mesh = 256;  ///< points along an edge
  Assignment assignment = Assignment::tsc;
  bool interlaced = true;  ///< a second mesh, half a spacing further, cancels the nearest aliases
  int folds = 0;           ///< halvings of the box for smaller scales, onto the same mesh
};

/// The mean of modes in a shell of wavenumbers.
struct PowerBin {
  double wavenumber;  ///< mean, 1 / length
  Count modes;        ///< each with its conjugate: half of them are independent
  double power;       ///< <|delta_k|^2> V, corrected for the assignment, with the shot noise; length^3
  double
      shot_noise;  ///< that of as many particles without correlations, as this measurement sees it; length^3

  /// Standard deviation of the power of a Gaussian field.
  double error() const;
};

/// The power spectrum of the density contrast of particles in a periodic box, in shells that are a
/// fundamental wavenumber of the mesh wide, without modes of Nyquist's frequency. Modes are divided by the
/// transform of the assigned cloud; of images beyond Nyquist's frequency interlacing (Sefusatti et al. 2016,
/// MNRAS 460, 3624) leaves those with an even sum of numbers. The shot noise, V sum m^2 / (sum m)^2 at low
/// frequencies, has the images that are left counted in (Jing 2005, ApJ 620, 559, eq. 20), so that particles
/// without correlations have it at all.
///
/// With folds, wavenumbers up to half of Nyquist's come from the mesh of the whole box; each of the next ones
/// has a quarter to a half of its own, the last one up to all of it.
///
/// position: anywhere, as images; mass: not negative. The same bits on any number of ranks. Collective;
/// InputError on all ranks if there is no mass. Cost: that of the estimator, for each mesh.
std::vector<PowerBin> power_spectrum(const Communicator& comm, std::span<const Vec3d> position,
                                     std::span<const double> mass, const PowerOptions& options,
                                     const PowerEstimator& estimator);

}  // namespace grove
