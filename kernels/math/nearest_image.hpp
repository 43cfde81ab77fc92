#pragma once

#include <cmath>
#include <type_traits>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/scalars.hpp"

namespace grove {

/// The shortest of the equivalent separations of two places: in a periodic box those that differ by whole
/// edges, in open space the one that there is.
struct NearestImage {
  double edge = 0;  ///< of the periodic box, length units of the run; 0: open
  double per_edge = 0;

  static NearestImage of(const Images& images) {
    return images.are_open() ? NearestImage{} : NearestImage{images.edge, 1 / images.edge};
  }
  GROVE_HOST_DEVICE bool is_open() const { return !(edge > 0); }

  /// The separation with the opposite sign has the same bits but for the sign: i sees j as far as j sees i.
  /// Each component is at most half an edge, whatever box the two places are in.
  GROVE_HOST_DEVICE Vec3d operator()(const Vec3d& separation) const {
    if (is_open()) return separation;
    return {along(separation.x), along(separation.y), along(separation.z)};
  }

 private:
  GROVE_HOST_DEVICE double along(double d) const { return std::fma(-edge, std::rint(d * per_edge), d); }
};

/// The square of a length, with the same bits wherever it is computed.
GROVE_HOST_DEVICE inline double squared_length(const Vec3d& d) {
  return std::fma(d.z, d.z, std::fma(d.y, d.y, d.x * d.x));
}

/// A distance and its inverse, which is 0 for 0.
template <class Real>
struct DistanceOf {
  Real r, per_r;

  /// r2: the square. On GPUs one root gives both, to a few units in the last place.
  GROVE_HOST_DEVICE static DistanceOf of(Real r2) {
#if defined(__CUDA_ARCH__)
    constexpr Real least = std::is_same_v<Real, float> ? 0x1p-126 : 0x1p-1022;  // with all its digits
    const Real root = inverse_sqrt(r2), per_r = r2 >= least ? root : 0;
    return {r2 * per_r, per_r};
#else
    const Real r = std::sqrt(r2);
    return {r, r > 0 ? 1 / r : 0};
#endif
  }
};
using Distance = DistanceOf<double>;

}  // namespace grove
