#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/scalars.hpp"
#include "kernels/math/softening_table.hpp"

/// The potential of far cells, expanded about the middle of a group's box. A cell is added to the expansion
/// once, and not once to each target.
///
/// The potential, with its sign changed, of Newtonian sources is sum_n P_n, P_n = L_n : s^n / n!, at a place
/// s from the middle, in units of the radius of the group, n <= 4. L_n is a symmetric tensor without traces,
/// of which the components with at most one z are independent: L_zz = -L_xx - L_yy, and so with any more
/// indices. A cell of mass m and second moments M at R from the middle has, with t_n = R^(n+1) (-D)^n (1/R),
///     L_n = (m t_n + M : t_(n+2) / (2 R^2)) / R^(n+1),
/// without the second moments for n = 4, whose part is of the order of what is left out.
/// Source: Dehnen 2002, J. Comput. Phys. 179, 27, for cells about cells; Warren and Salmon 1995, Comput.
/// Phys. Commun. 87, 266.
namespace grove {

/// The independent components, in this order: third, fourth, zeroth, first, second.
struct ExpansionTerm {
  enum : int {
    xxx,
    xxy,
    xyy,
    yyy,
    xxz,
    xyz,
    yyz,
    xxxx,
    xxxy,
    xxyy,
    xyyy,
    yyyy,
    xxxz,
    xxyz,
    xyyz,
    yyyz,
    one,
    x,
    y,
    z,
    xx,
    xy,
    yy,
    xz,
    yz,
    count
  };
  /// 16 are of third or fourth order: a sum for each lane of half a warp.
  static constexpr int high = one, low = count - one;
};

/// A cell beside the middle of a group, in units of the group's radius.
template <class T>
struct FarCell {
  T mass;
  T inverse;             ///< 1 / R
  Vec3<T> direction;     ///< R over its length
  T xx, yy, xy, xz, yz;  ///< second moments over R^2: (M_xx - M_zz) / 2, (M_yy - M_zz) / 2, M_xy, M_xz, M_yz

  /// d: from the middle to the cell. xx_zz, yy_zz: M_xx - M_zz, M_yy - M_zz.
  GROVE_INLINE static FarCell of(const Vec3<T>& d, T mass, T xx_zz, T yy_zz, T xy, T xz, T yz, T radius) {
    const T r = inverse_sqrt(d.x * d.x + d.y * d.y + d.z * d.z), r2 = r * r, half = r2 * T(0.5F);
    return {mass,    r * radius, {d.x * r, d.y * r, d.z * r}, xx_zz * half, yy_zz * half, xy * r2,
            xz * r2, yz * r2};
  }

  /// M : t / (2 R^2), t of the components with two more indices than one of L.
  GROVE_INLINE T second(T t_xx, T t_yy, T t_xy, T t_xz, T t_yz) const {
    return xx * t_xx + yy * t_yy + xy * t_xy + xz * t_xz + yz * t_yz;
  }
};

/// The components of t_4.
template <class T>
struct FourthOrder {
  T xxxx, xxxy, xxyy, xyyy, yyyy, xxxz, xxyz, xyyz, yyyz;

  GROVE_INLINE static FourthOrder of(const Vec3<T>& n) {
    const T a = n.x * n.x, b = n.y * n.y, xy = n.x * n.y, xz = n.x * n.z, yz = n.y * n.z;
    const T p = T(105.F) * a - T(45.F), q = T(105.F) * b - T(45.F);
    return {a * (T(105.F) * a - T(90.F)) + T(9.F),
            xy * p,
            T(105.F) * a * b - T(15.F) * (a + b) + T(3.F),
            xy * q,
            b * (T(105.F) * b - T(90.F)) + T(9.F),
            xz * p,
            yz * (p + T(30.F)),
            xz * (q + T(30.F)),
            yz * q};
  }
};

/// L_0, L_1 and L_2 of a cell, from ExpansionTerm::one on.
template <class T>
GROVE_INLINE void low_terms(const FarCell<T>& c, const FourthOrder<T>& t, T (&l)[ExpansionTerm::low]) {
  using E = ExpansionTerm;
  const Vec3<T>& n = c.direction;
  const T a = n.x * n.x, b = n.y * n.y;
  const T t_xx = T(3.F) * a - T(1.F), t_yy = T(3.F) * b - T(1.F);
  const T t_xy = T(3.F) * n.x * n.y, t_xz = T(3.F) * n.x * n.z, t_yz = T(3.F) * n.y * n.z;
  const T p = T(15.F) * a - T(3.F), q = T(15.F) * b - T(3.F);
  const T t_xxx = n.x * (p - T(6.F)), t_xxy = n.y * p, t_xyy = n.x * q, t_yyy = n.y * (q - T(6.F));
  const T t_xxz = n.z * p, t_xyz = T(15.F) * n.x * n.y * n.z, t_yyz = n.z * q;
  const T i1 = c.inverse, i2 = i1 * i1, i3 = i2 * i1, m = c.mass;
  l[E::one - E::one] = i1 * (m + c.second(t_xx, t_yy, t_xy, t_xz, t_yz));
  l[E::x - E::one] = i2 * (m * n.x + c.second(t_xxx, t_xyy, t_xxy, t_xxz, t_xyz));
  l[E::y - E::one] = i2 * (m * n.y + c.second(t_xxy, t_yyy, t_xyy, t_xyz, t_yyz));
  l[E::z - E::one] = i2 * (m * n.z + c.second(t_xxz, t_yyz, t_xyz, -(t_xxx + t_xyy), -(t_xxy + t_yyy)));
  l[E::xx - E::one] = i3 * (m * t_xx + c.second(t.xxxx, t.xxyy, t.xxxy, t.xxxz, t.xxyz));
  l[E::xy - E::one] = i3 * (m * t_xy + c.second(t.xxxy, t.xyyy, t.xxyy, t.xxyz, t.xyyz));
  l[E::yy - E::one] = i3 * (m * t_yy + c.second(t.xxyy, t.yyyy, t.xyyy, t.xyyz, t.yyyz));
  l[E::xz - E::one] =
      i3 * (m * t_xz + c.second(t.xxxz, t.xyyz, t.xxyz, -(t.xxxx + t.xxyy), -(t.xxxy + t.xyyy)));
  l[E::yz - E::one] =
      i3 * (m * t_yz + c.second(t.xxyz, t.yyyz, t.xyyz, -(t.xxxy + t.xyyy), -(t.xxyy + t.yyyy)));
}

/// L_3 and L_4 of a cell.
template <class T>
GROVE_INLINE void high_terms(const FarCell<T>& c, const FourthOrder<T>& t, T (&l)[ExpansionTerm::high]) {
  using E = ExpansionTerm;
  const Vec3<T>& n = c.direction;
  const T a = n.x * n.x, b = n.y * n.y, ab = a * b, xyz = n.x * n.y * n.z;
  // Components of t_5 with no z and with one.
  const T p = (T(945.F) * a - T(630.F)) * a + T(45.F), q = (T(945.F) * b - T(630.F)) * b + T(45.F);
  const T five_0 = n.x * ((T(945.F) * a - T(1050.F)) * a + T(225.F)), five_1 = n.y * p;
  const T five_2 = n.x * (T(945.F) * ab - T(105.F) * a - T(315.F) * b + T(45.F));
  const T five_3 = n.y * (T(945.F) * ab - T(105.F) * b - T(315.F) * a + T(45.F));
  const T five_4 = n.x * q, five_5 = n.y * ((T(945.F) * b - T(1050.F)) * b + T(225.F));
  const T four_0 = n.z * p, four_1 = xyz * (T(945.F) * a - T(315.F));
  const T four_2 = n.z * (T(945.F) * ab - T(105.F) * (a + b) + T(15.F));
  const T four_3 = xyz * (T(945.F) * b - T(315.F)), four_4 = n.z * q;
  const T i2 = c.inverse * c.inverse, i4 = i2 * i2, m4 = c.mass * i4, m5 = m4 * c.inverse;
  const T k = T(15.F) * a - T(3.F), h = T(15.F) * b - T(3.F);
  l[E::xxx] = m4 * (n.x * (k - T(6.F))) + i4 * c.second(five_0, five_2, five_1, four_0, four_1);
  l[E::xxy] = m4 * (n.y * k) + i4 * c.second(five_1, five_3, five_2, four_1, four_2);
  l[E::xyy] = m4 * (n.x * h) + i4 * c.second(five_2, five_4, five_3, four_2, four_3);
  l[E::yyy] = m4 * (n.y * (h - T(6.F))) + i4 * c.second(five_3, five_5, five_4, four_3, four_4);
  l[E::xxz] = m4 * (n.z * k) + i4 * c.second(four_0, four_2, four_1, -(five_0 + five_2), -(five_1 + five_3));
  l[E::xyz] =
      m4 * (T(15.F) * xyz) + i4 * c.second(four_1, four_3, four_2, -(five_1 + five_3), -(five_2 + five_4));
  l[E::yyz] = m4 * (n.z * h) + i4 * c.second(four_2, four_4, four_3, -(five_2 + five_4), -(five_3 + five_5));
  l[E::xxxx] = m5 * t.xxxx, l[E::xxxy] = m5 * t.xxxy, l[E::xxyy] = m5 * t.xxyy, l[E::xyyy] = m5 * t.xyyy;
  l[E::yyyy] = m5 * t.yyyy, l[E::xxxz] = m5 * t.xxxz, l[E::xxyz] = m5 * t.xxyz, l[E::xyyz] = m5 * t.xyyz;
  l[E::yyyz] = m5 * t.yyyz;
}

/// Adds the force of an expansion at s from the middle. l: [ExpansionTerm::count]; s in units of the group's
/// radius.
template <class T>
GROVE_INLINE void add_expansion(const T* l, const Vec3<T>& s, T per_radius, Accumulator<T>& sum) {
  using E = ExpansionTerm;
  // L_4 s, in the order of the components of L_3; then two of these sums each time, one for the acceleration,
  // sum_n L_n s^(n-1) / (n-1)!, the other for the potential, by Horner's rule.
  const T xxzz = -(l[E::xxxx] + l[E::xxyy]), xyzz = -(l[E::xxxy] + l[E::xyyy]),
          yyzz = -(l[E::xxyy] + l[E::yyyy]);
  const auto along = [&s](T x, T y, T z) { return x * s.x + y * s.y + z * s.z; };
  const T four[] = {along(l[E::xxxx], l[E::xxxy], l[E::xxxz]), along(l[E::xxxy], l[E::xxyy], l[E::xxyz]),
                    along(l[E::xxyy], l[E::xyyy], l[E::xyyz]), along(l[E::xyyy], l[E::yyyy], l[E::yyyz]),
                    along(l[E::xxxz], l[E::xxyz], xxzz),       along(l[E::xxyz], l[E::xyyz], xyzz),
                    along(l[E::xyyz], l[E::yyyz], yyzz)};
  const auto contracted = [&](T fourth, T half) {
    T c[7];
    for (int k = 0; k < 7; ++k) c[k] = l[E::xxx + k] + fourth * four[k];
    const T xx = l[E::xx] + half * along(c[0], c[1], c[4]), xy = l[E::xy] + half * along(c[1], c[2], c[5]),
            yy = l[E::yy] + half * along(c[2], c[3], c[6]),
            xz = l[E::xz] + half * along(c[4], c[5], -(c[0] + c[2])),
            yz = l[E::yz] + half * along(c[5], c[6], -(c[1] + c[3]));
    return Vec3<T>{along(xx, xy, xz), along(xy, yy, yz), along(xz, yz, -(xx + yy))};
  };
  const Vec3<T> a = contracted(T(1.F / 3), T(0.5F)), p = contracted(T(0.25F), T(1.F / 3));
  const T per_area = per_radius * per_radius;
  sum.acceleration.x += (l[E::x] + a.x) * per_area;
  sum.acceleration.y += (l[E::y] + a.y) * per_area;
  sum.acceleration.z += (l[E::z] + a.z) * per_area;
  const T half = T(0.5F);
  sum.potential +=
      (l[E::one] + along(l[E::x] + half * p.x, l[E::y] + half * p.y, l[E::z] + half * p.z)) * per_radius;
}

/// The middle and radius of a group's box, and which of the accepted cells are expanded about it: those
/// beyond the reach of softening whose terms beyond the expansion, m radius^4 / d^6 and less, are below a
/// part of the tolerance. d is the distance of the cell from the box.
struct ExpansionFrame {
  Vec3f middle;
  float radius;       ///< of a ball about the middle that holds the box
  float per_radius2;  ///< 1 / radius^2
  float per_mass;     ///< a cell is expanded where (d / radius)^6 is above its mass times this
  float softening;    ///< largest of the targets, and not below the least

  /// excess: GravityParameters::expansion_excess().
  GROVE_HOST_DEVICE static ExpansionFrame of(const TargetBounds& targets, float excess) {
    const Vec3f half = (targets.high - targets.low) * 0.5F;
    const float radius = larger(std::sqrt(norm2(half)), least_softening), per_radius2 = 1 / (radius * radius);
    const float t = targets.inverse_tolerance;  // (G / (Delta |a|))^0.4
    return {targets.low + half, radius, per_radius2,
            excess < no_expansion ? excess * (t * t * std::sqrt(t) * per_radius2) : no_expansion,
            larger(targets.softening, least_softening)};
  }
  /// distance2: of the cell from the box. In units of the radius, as d^6 and radius^4 themselves leave the
  /// range of a float.
  GROVE_HOST_DEVICE bool expands(float mass, float cell_softening, float distance2) const {
    const float x = distance2 * per_radius2;
    return x > 1 && x * x * x > mass * per_mass &&
           distance2 > scale_of(Spline{}, larger(cell_softening, softening)) * (1 + leaf_margin);
  }
};

}  // namespace grove
