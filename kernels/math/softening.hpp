#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "kernels/math/scalars.hpp"

/// Softened point masses. psi(r) is the potential per unit mass and G with the sign changed, 1/r far away.
/// The expansion of a force needs its derivatives in the form psi_{n+1} = -(1/r) d psi_n / dr, which far away
/// are 1/r, 1/r^3, 3/r^5, 15/r^7: acceleration = G m psi_1 d for the separation d from the target to the
/// source. T: float, double, or Lanes.
namespace grove {

/// Radius of the spline over the Plummer-equivalent softening length: beyond it forces are Newtonian, and
/// psi(0) = 1/eps as for Plummer (Springel, Yoshida and White 2001, New Astronomy 6, 79, eq. 71).
inline constexpr double spline_radius_over_softening = 2.8;

/// psi_0 and psi_1: potential and force.
template <class T>
struct SoftenedPair {
  T potential;  ///< psi_0, 1/length
  T force;      ///< psi_1, 1/length^3
};

/// psi_0 .. psi_3, for the potential and the force of a quadrupole, as psi_n = c_n inverse^(2n+1), so that no
/// power of a distance leaves the range of a float.
template <class T>
struct SoftenedSeries {
  T inverse;         ///< 1/length
  T c0, c1, c2, c3;  ///< far away 1, 1, 3, 15
};

/// Plummer: psi = 1 / sqrt(r^2 + eps^2). r2: squared distance.
template <class T>
GROVE_HOST_DEVICE inline SoftenedPair<T> plummer_pair(T r2, T softening) {
  const T inverse = T(1) / std::sqrt(r2 + softening * softening);
  return {inverse, inverse * inverse * inverse};
}

/// The same with derivatives. inverse: 1 / sqrt(r^2 + eps^2), from the caller's favourite square root.
template <class T>
GROVE_HOST_DEVICE constexpr SoftenedSeries<T> plummer_series(T inverse) {
  return {inverse, T(1), T(1), T(3), T(15)};
}

/// Cubic spline of radius h (Springel et al. 2001, eqs. 70-71), branch-free so that it vectorises.
///
/// r2: squared distance; r_inverse: 1/r, or any finite number where r = 0; h_inverse: 1/h, infinite for no
/// softening (then r must not vanish).
template <class T>
GROVE_HOST_DEVICE constexpr SoftenedPair<T> spline_pair(T r2, T r_inverse, T h_inverse) {
  const T r = r2 * r_inverse, u = r * h_inverse, u2 = u * u;
  const T h_inverse3 = h_inverse * h_inverse * h_inverse, r_inverse3 = r_inverse * r_inverse * r_inverse;

  const T inner_force = h_inverse3 * (T(32. / 3) + u2 * (T(32) * u - T(192. / 5)));
  const T inner_potential = h_inverse * (T(14. / 5) - u2 * (T(16. / 3) + u2 * (T(32. / 5) * u - T(48. / 5))));
  // 1/(15 u^3 h^3) = 1/(15 r^3): no division.
  const T outer_force =
      h_inverse3 * (T(64. / 3) + u * (T(-48) + u * (T(192. / 5) - T(32. / 3) * u))) - T(1. / 15) * r_inverse3;
  const T outer_potential =
      h_inverse * (T(16. / 5) - u2 * (T(32. / 3) + u * (T(-16) + u * (T(48. / 5) - T(32. / 15) * u)))) -
      T(1. / 15) * r_inverse;

  const auto inner = u < T(0.5), outside = u >= T(1);
  return {select(outside, r_inverse, select(inner, inner_potential, outer_potential)),
          select(outside, r_inverse3, select(inner, inner_force, outer_force))};
}

/// The same with derivatives, as functions of u = r/h.
template <class T>
GROVE_HOST_DEVICE constexpr SoftenedSeries<T> spline_series(T r2, T r_inverse, T h_inverse) {
  const T u = r2 * r_inverse * h_inverse, u2 = u * u, u3 = u * u2, u5 = u2 * u3;
  const T inner0 = u * (T(14. / 5) - u2 * (T(16. / 3) + u2 * (T(32. / 5) * u - T(48. / 5))));
  const T inner1 = u3 * (T(32. / 3) + u2 * (T(32) * u - T(192. / 5)));
  const T inner2 = u5 * (T(384. / 5) - T(96) * u);
  const T inner3 = T(96) * u * u5;
  const T outer0 =
      u * (T(16. / 5) - u2 * (T(32. / 3) + u * (T(-16) + u * (T(48. / 5) - T(32. / 15) * u)))) - T(1. / 15);
  const T outer1 = u3 * (T(64. / 3) + u * (T(-48) + u * (T(192. / 5) - T(32. / 3) * u))) - T(1. / 15);
  const T outer2 = u2 * u2 * (T(48) + u * (T(32) * u - T(384. / 5))) - T(1. / 5);
  const T outer3 = u2 * u2 * (T(48) - T(32) * u2) - T(1);

  const auto inner = u < T(0.5), outside = u >= T(1);
  return {r_inverse, select(outside, T(1), select(inner, inner0, outer0)),
          select(outside, T(1), select(inner, inner1, outer1)),
          select(outside, T(3), select(inner, inner2, outer2)),
          select(outside, T(15), select(inner, inner3, outer3))};
}

}  // namespace grove
