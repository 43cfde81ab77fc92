#pragma once

#include "base/host_device.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/scalars.hpp"
#include "kernels/math/softening.hpp"

/// Softened pairs in double precision, as direct sums take them.
namespace grove {

/// Scale of a particle's softening: the length, or the spline's 1/h, which is infinite without softening. In
/// a pair the larger length decides: the larger scale (Plummer) or the smaller one (spline).
GROVE_HOST_DEVICE inline double direct_scale(Plummer, double softening) { return softening; }
GROVE_HOST_DEVICE inline double direct_scale(Spline, double softening) {
  return 1 / (spline_radius_over_softening * softening);
}

/// r2: squared distance, also 0; a, b: the scales of the two.
GROVE_HOST_DEVICE inline SoftenedPair<double> direct_pair(Plummer, double r2, double a, double b) {
  return plummer_pair(r2, larger(a, b));
}
GROVE_HOST_DEVICE inline SoftenedPair<double> direct_pair(Spline, double r2, double a, double b) {
  return spline_pair(r2, r2 > 0 ? inverse_sqrt(r2) : 0, a < b ? a : b);
}

}  // namespace grove
