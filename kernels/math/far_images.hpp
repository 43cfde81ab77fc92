#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/direct_force.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/solid_harmonics.hpp"

/// The gravity of the images of a periodic box that no walk sees, as one expansion about the middle of the
/// box. Everything here but FarUnits is of a box of edge 1 about the origin, with G = 1.
namespace grove {

/// Orders of that expansion and of the box's moments, of runs and of what audits them.
inline constexpr int far_order = 12, far_moments = 12;
inline constexpr int audit_far_order = 14, audit_far_moments = 14;

/// Sums over the particles of a box: m, m y and m y^2 at places y.
struct LowMoments {
  Vec3d first{0, 0, 0};
  double mass = 0, second = 0;

  GROVE_HOST_DEVICE void add(double m, const Vec3d& y) {
    first += m * y;
    mass += m;
    second += m * norm2(y);
  }
};

/// These and those of m R_lm(-y).
template <int order>
struct BoxMoments : LowMoments {
  Harmonics<order> multipoles{};

  void add(double m, const Vec3d& y) {
    const Vec3d back{-y.x, -y.y, -y.z};
    DeviceComplex sectoral{m, 0};
    for (int column = 0; column <= order; ++column) {
      if (column > 0) sectoral = next_sectoral(column, sectoral, back);
      visit_regular_harmonics<order>(column, sectoral, back,
                                     [&](int l, const DeviceComplex& r) { multipoles(l, column) += r; });
    }
    LowMoments::add(m, y);
  }
};

/// BoxMoments in whole numbers of a mass of which the box has at most 2^60: sums have the same bits in any
/// order.
///
/// R_lm is at most r^l / sqrt((l - m)! (l + m)!), and r below 1. So multipoles are taken times the power of
/// two next to that root, which lets no sum leave the range and keeps the digits of high orders, which the
/// sums over images multiply by as much. Places and masses must be finite.
template <int order>
struct WholeMoments {
  static constexpr int low = 5, size = low + 2 * Harmonics<order>::size;
  std::int64_t of[size] = {};

  /// How many of that mass are in a unit. bound: at least the mass of the box.
  static double per_mass(double bound) { return std::ldexp(1.0, 60) / (bound > 0 ? bound : 1); }
  GROVE_HOST_DEVICE static double weight(int l, int m) {
    double product = 1;
    for (int k = 2; k <= l - m; ++k) product *= k;
    for (int k = 2; k <= l + m; ++k) product *= k;
    return std::ldexp(1.0, std::ilogb(product) / 2);
  }
  GROVE_HOST_DEVICE static std::int64_t whole(double value, double per_mass) {
    return static_cast<std::int64_t>(std::rint(value * per_mass));
  }
  /// The index of a multipole's real part; its imaginary part is the next.
  GROVE_HOST_DEVICE static constexpr int place(int l, int m) {
    return low + 2 * Harmonics<order>::index(l, m);
  }

  void add(const BoxMoments<order>& moments, double per_mass) {
    for (int axis = 0; axis < 3; ++axis) of[axis] += whole(moments.first[axis], per_mass);
    of[3] += whole(moments.mass, per_mass);
    of[4] += whole(moments.second, per_mass);
    for (int l = 0; l <= order; ++l)
      for (int m = 0; m <= l; ++m) {
        of[place(l, m)] += whole(moments.multipoles(l, m).re, weight(l, m) * per_mass);
        of[place(l, m) + 1] += whole(moments.multipoles(l, m).im, weight(l, m) * per_mass);
      }
  }
  BoxMoments<order> moments(double per_mass) const {
    const auto value = [&](int i, double per) { return static_cast<double>(of[i]) / per; };
    BoxMoments<order> result;
    for (int axis = 0; axis < 3; ++axis) result.first[axis] = value(axis, per_mass);
    result.mass = value(3, per_mass);
    result.second = value(4, per_mass);
    for (int l = 0; l <= order; ++l)
      for (int m = 0; m <= l; ++m)
        result.multipoles(l, m) = {value(place(l, m), weight(l, m) * per_mass),
                                   value(place(l, m) + 1, weight(l, m) * per_mass)};
    // These are the same sums, which GPUs make in double precision as such alone.
    result.multipoles(0, 0) = {result.mass, 0};
    result.multipoles(1, 0) = {-result.first.z, 0};
    result.multipoles(1, 1) = {-0.5 * result.first.x, -0.5 * result.first.y};
    return result;
  }
};

/// The force at a place, for a mass of 1.
template <class T>
struct ExpandedForce {
  Vec3<T> acceleration;
  T potential;
};
using FarForce = ExpandedForce<double>;

/// That of the potential - sum_jk R*_jk(x) L_jk.
template <int order, class T>
GROVE_HOST_DEVICE ExpandedForce<T> local_force(const Harmonics<order, T>& local, const Vec3<T>& x) {
  T sum = 0, along_z = 0;
  BasicComplex<T> across{0, 0}, sectoral{1, 0};
  GROVE_UNROLL
  for (int m = 0; m <= order; ++m) {
    if (m > 0) sectoral = next_sectoral(m, sectoral, x);
    const T weight = m == 0 ? 1 : 2;  // those of -m are the same
    visit_regular_harmonics<order>(m, sectoral, x, [&](int l, const BasicComplex<T>& r) {
      const BasicComplex<T> mirrored = r.conjugate();
      sum += weight * (mirrored * local(l, m)).re;
      if (l == order) return;
      along_z += weight * (mirrored * local(l + 1, m)).re;
      const BasicComplex<T> up = mirrored * local(l + 1, m + 1);
      across += m == 0 ? up : up - (mirrored * local(l + 1, m - 1)).conjugate();
    });
  }
  return {{across.re, across.im, along_z}, -sum};
}

/// The gravity of all images |n|max > 1 of the particles, and of the homogeneous density that is subtracted:
/// the potential at x is
///   - sum_jk R*_jk(x) L_jk - 2 pi / 3 sum_y m (x - y)^2 + c M,
/// so that with the images |n|max <= 1, the particle's own ones among them, it is the periodic potential of
/// mean 0. R of order `order`; L_jk = sum_lm M*_lm T_(j+l, k+m), with M_lm the box's multipoles, and T_lm the
/// sums of the irregular harmonics over the images (LatticeSums).
/// Source: Berman and Greengard 1994, J. Math. Phys. 35, 6036; harmonics as in Dehnen 2014, ComAC 1, 1.
template <int order>
struct FarField {
  Harmonics<order> local{};  ///< L
  Vec3d first{0, 0, 0};
  double mass = 0, second = 0;

  /// Cost: some 2000 operations (order 12), 0.3 microseconds of a core.
  GROVE_HOST_DEVICE FarForce at(const Vec3d& x) const {
    const FarForce expanded = local_force(local, x), rest = but_for_expansion(x);
    return {expanded.acceleration + rest.acceleration, expanded.potential + rest.potential};
  }
  GROVE_HOST_DEVICE FarForce but_for_expansion(const Vec3d& x) const {
    constexpr double third = 4.1887902047863910;  // 4 pi / 3
    const Vec3d from_centre = mass * x - first;
    const double squares = mass * norm2(x) - 2 * dot(x, first) + second;
    return {third * from_centre, near_images_constant * mass - 0.5 * third * squares};
  }

  /// The potential at a point mass of its periodic images, 2.8373 (Wigner's constant), and the sum of
  /// 1 / |n| over 0 < |n|max <= 1.
  static constexpr double near_images_constant = 2.837297479480619 + 19.104083527755577;
};

/// From places and units of the run to those of a FarField, and back. Images of a box, which are not open.
struct FarUnits {
  double edge = 1, gravitational_constant = 1;

  explicit FarUnits(const GravityParameters& gravity)
      : edge(gravity.images.edge), gravitational_constant(gravity.gravitational_constant) {}
  GROVE_HOST_DEVICE Vec3d place(const Vec3d& p) const { return p * (1 / edge) - Vec3d{0.5, 0.5, 0.5}; }
  template <int order>
  GROVE_HOST_DEVICE DirectForce force(const FarField<order>& field, const Vec3d& p) const {
    return force(field.at(place(p)));
  }
  GROVE_HOST_DEVICE DirectForce force(const FarForce& far) const {
    const double potential = gravitational_constant / edge;
    return {far.acceleration * (potential / edge), far.potential * potential};
  }
};

}  // namespace grove
