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
/// s from the middle, in units of the radius of the group, n <= 4, or 5 with octupoles. L_n is a symmetric
/// tensor without traces, of which the components with at most one z are independent: L_zz = -L_xx - L_yy,
/// and so with any more indices. A cell of mass m and second moments M at R from the middle has, with t_n =
/// R^(n+1) (-D)^n (1/R),
///     L_n = (m t_n + M : t_(n+2) / (2 R^2)) / R^(n+1),
/// without the second moments for n >= 4, whose part is of the order of what is left out. An octupole O adds
/// -O : t_(n+3) / (15 R^3) to what is in brackets, for n <= 2.
/// Source: Dehnen 2002, J. Comput. Phys. 179, 27, for cells about cells; Warren and Salmon 1995, Comput.
/// Phys. Commun. 87, 266.
namespace grove {

/// The independent components, in this order: third, fourth, zeroth, first, second; fifth.
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
    xxxxx,
    xxxxy,
    xxxyy,
    xxyyy,
    xyyyy,
    yyyyy,
    xxxxz,
    xxxyz,
    xxyyz,
    xyyyz,
    yyyyz,
    most
  };
  /// 16 are of third or fourth order: a sum for each lane of half a warp.
  static constexpr int high = one, low = xxxxx - one, fifth = most - xxxxx;
  static constexpr int count(Order order) { return order == Order::octupole ? most : xxxxx; }
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

/// The octupole of such a cell, as its components act together with the independent ones of t: times
/// -1 / (15 R^3), in units of the group's radius.
template <class T>
struct FarOctupole {
  Octupole<T> part;

  /// o: numbers, times a unit.
  GROVE_INLINE static FarOctupole of(const Octupole<T>& o, T unit, const FarCell<T>& cell, T per_radius) {
    const T r = cell.inverse * per_radius, f = r * r * (r * unit) * T(-1.F / 15);
    return {{f * (T(4.F) * o.xxx + T(3.F) * o.xyy), f * (T(6.F) * o.xxy + T(3.F) * o.yyy),
             f * (T(3.F) * o.xxx + T(6.F) * o.xyy), f * (T(3.F) * o.xxy + T(4.F) * o.yyy),
             f * (T(4.F) * o.xxz + o.yyz), f * (T(6.F) * o.xyz), f * (o.xxz + T(4.F) * o.yyz)}};
  }
  /// -O : t / (15 R^3), t of the components with three more indices than one of L.
  GROVE_INLINE T third(T t_xxx, T t_xxy, T t_xyy, T t_yyy, T t_xxz, T t_xyz, T t_yyz) const {
    return part.xxx * t_xxx + part.xxy * t_xxy + part.xyy * t_xyy + part.yyy * t_yyy + part.xxz * t_xxz +
           part.xyz * t_xyz + part.yyz * t_yyz;
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

/// The components of t_5, by the number of y: those without z, and with one.
template <class T>
struct FifthOrder {
  T without[6], with[5];

  GROVE_INLINE static FifthOrder of(const Vec3<T>& n) {
    const T a = n.x * n.x, b = n.y * n.y, ab = a * b, xyz = n.x * n.y * n.z;
    const T p = (T(945.F) * a - T(630.F)) * a + T(45.F), q = (T(945.F) * b - T(630.F)) * b + T(45.F);
    return {{n.x * ((T(945.F) * a - T(1050.F)) * a + T(225.F)), n.y * p,
             n.x * (T(945.F) * ab - T(105.F) * a - T(315.F) * b + T(45.F)),
             n.y * (T(945.F) * ab - T(105.F) * b - T(315.F) * a + T(45.F)), n.x * q,
             n.y * ((T(945.F) * b - T(1050.F)) * b + T(225.F))},
            {n.z * p, xyz * (T(945.F) * a - T(315.F)), n.z * (T(945.F) * ab - T(105.F) * (a + b) + T(15.F)),
             xyz * (T(945.F) * b - T(315.F)), n.z * q}};
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

/// Adds what a cell's octupole gives to these.
template <class T>
GROVE_INLINE void add_octupole_terms(const FarCell<T>& c, const FarOctupole<T>& o, const FourthOrder<T>& t,
                                     const FifthOrder<T>& fifth, T (&l)[ExpansionTerm::low]) {
  using E = ExpansionTerm;
  const Vec3<T>& n = c.direction;
  const T p = T(15.F) * n.x * n.x - T(3.F), q = T(15.F) * n.y * n.y - T(3.F);
  const T i1 = c.inverse, i2 = i1 * i1, i3 = i2 * i1;
  const T xxzz = -(t.xxxx + t.xxyy), xyzz = -(t.xxxy + t.xyyy), yyzz = -(t.xxyy + t.yyyy);
  const T(&u)[6] = fifth.without, (&v)[5] = fifth.with;
  const T three = -(u[0] + u[2]), four = -(u[1] + u[3]), five = -(u[2] + u[4]), six = -(u[3] + u[5]);  // zz
  l[E::one - E::one] += i1 * o.third(n.x * (p - T(6.F)), n.y * p, n.x * q, n.y * (q - T(6.F)), n.z * p,
                                     T(15.F) * n.x * n.y * n.z, n.z * q);
  l[E::x - E::one] += i2 * o.third(t.xxxx, t.xxxy, t.xxyy, t.xyyy, t.xxxz, t.xxyz, t.xyyz);
  l[E::y - E::one] += i2 * o.third(t.xxxy, t.xxyy, t.xyyy, t.yyyy, t.xxyz, t.xyyz, t.yyyz);
  l[E::z - E::one] += i2 * o.third(t.xxxz, t.xxyz, t.xyyz, t.yyyz, xxzz, xyzz, yyzz);
  l[E::xx - E::one] += i3 * o.third(u[0], u[1], u[2], u[3], v[0], v[1], v[2]);
  l[E::xy - E::one] += i3 * o.third(u[1], u[2], u[3], u[4], v[1], v[2], v[3]);
  l[E::yy - E::one] += i3 * o.third(u[2], u[3], u[4], u[5], v[2], v[3], v[4]);
  l[E::xz - E::one] += i3 * o.third(v[0], v[1], v[2], v[3], three, four, five);
  l[E::yz - E::one] += i3 * o.third(v[1], v[2], v[3], v[4], four, five, six);
}

/// L_3 and L_4 of a cell.
template <class T>
GROVE_INLINE void high_terms(const FarCell<T>& c, const FourthOrder<T>& t, const FifthOrder<T>& fifth,
                             T (&l)[ExpansionTerm::high]) {
  using E = ExpansionTerm;
  const Vec3<T>& n = c.direction;
  const T a = n.x * n.x, b = n.y * n.y, xyz = n.x * n.y * n.z;
  const T(&u)[6] = fifth.without, (&v)[5] = fifth.with;
  const T i2 = c.inverse * c.inverse, i4 = i2 * i2, m4 = c.mass * i4, m5 = m4 * c.inverse;
  const T k = T(15.F) * a - T(3.F), h = T(15.F) * b - T(3.F);
  l[E::xxx] = m4 * (n.x * (k - T(6.F))) + i4 * c.second(u[0], u[2], u[1], v[0], v[1]);
  l[E::xxy] = m4 * (n.y * k) + i4 * c.second(u[1], u[3], u[2], v[1], v[2]);
  l[E::xyy] = m4 * (n.x * h) + i4 * c.second(u[2], u[4], u[3], v[2], v[3]);
  l[E::yyy] = m4 * (n.y * (h - T(6.F))) + i4 * c.second(u[3], u[5], u[4], v[3], v[4]);
  l[E::xxz] = m4 * (n.z * k) + i4 * c.second(v[0], v[2], v[1], -(u[0] + u[2]), -(u[1] + u[3]));
  l[E::xyz] = m4 * (T(15.F) * xyz) + i4 * c.second(v[1], v[3], v[2], -(u[1] + u[3]), -(u[2] + u[4]));
  l[E::yyz] = m4 * (n.z * h) + i4 * c.second(v[2], v[4], v[3], -(u[2] + u[4]), -(u[3] + u[5]));
  l[E::xxxx] = m5 * t.xxxx, l[E::xxxy] = m5 * t.xxxy, l[E::xxyy] = m5 * t.xxyy, l[E::xyyy] = m5 * t.xyyy;
  l[E::yyyy] = m5 * t.yyyy, l[E::xxxz] = m5 * t.xxxz, l[E::xxyz] = m5 * t.xxyz, l[E::xyyz] = m5 * t.xyyz;
  l[E::yyyz] = m5 * t.yyyz;
}

/// L_5 of a cell, from ExpansionTerm::xxxxx on.
template <class T>
GROVE_INLINE void fifth_terms(const FarCell<T>& c, const FifthOrder<T>& t, T (&l)[ExpansionTerm::fifth]) {
  const T i2 = c.inverse * c.inverse, m6 = c.mass * (i2 * i2 * i2);
  for (int k = 0; k < 6; ++k) l[k] = m6 * t.without[k];
  for (int k = 0; k < 5; ++k) l[6 + k] = m6 * t.with[k];
}

/// Adds the force of an expansion at s from the middle. l: [ExpansionTerm::count(order)]; s in units of the
/// group's radius.
template <Order order, class T>
GROVE_INLINE void add_expansion(const T* l, const Vec3<T>& s, T per_radius, Accumulator<T>& sum) {
  using E = ExpansionTerm;
  const auto along = [&s](T x, T y, T z) { return x * s.x + y * s.y + z * s.z; };
  // A tensor of fourth order times s, in the order of the components of L_3.
  struct Third {
    T c[7];
  };
  const auto times_s = [&along](T xxxx, T xxxy, T xxyy, T xyyy, T yyyy, T xxxz, T xxyz, T xyyz, T yyyz) {
    const T xxzz = -(xxxx + xxyy), xyzz = -(xxxy + xyyy), yyzz = -(xxyy + yyyy);
    return Third{{along(xxxx, xxxy, xxxz), along(xxxy, xxyy, xxyz), along(xxyy, xyyy, xyyz),
                  along(xyyy, yyyy, yyyz), along(xxxz, xxyz, xxzz), along(xxyz, xyyz, xyzz),
                  along(xyyz, yyyz, yyzz)}};
  };
  // L_4 s and L_5 s s; then two of these sums each time, one for the acceleration, sum_n L_n s^(n-1) /
  // (n-1)!, the other for the potential, by Horner's rule.
  const Third four = times_s(l[E::xxxx], l[E::xxxy], l[E::xxyy], l[E::xyyy], l[E::yyyy], l[E::xxxz],
                             l[E::xxyz], l[E::xyyz], l[E::yyyz]);
  Third five{};
  if constexpr (order == Order::octupole) {
    const T *const u = l + E::xxxxx, *const v = l + E::xxxxz;
    five = times_s(along(u[0], u[1], v[0]), along(u[1], u[2], v[1]), along(u[2], u[3], v[2]),
                   along(u[3], u[4], v[3]), along(u[4], u[5], v[4]), along(v[0], v[1], -(u[0] + u[2])),
                   along(v[1], v[2], -(u[1] + u[3])), along(v[2], v[3], -(u[2] + u[4])),
                   along(v[3], v[4], -(u[3] + u[5])));
  }
  const auto contracted = [&](T fifth, T fourth, T half) {
    T c[7];
    for (int k = 0; k < 7; ++k) {
      T above = four.c[k];
      if constexpr (order == Order::octupole) above += fifth * five.c[k];
      c[k] = l[E::xxx + k] + fourth * above;
    }
    const T xx = l[E::xx] + half * along(c[0], c[1], c[4]), xy = l[E::xy] + half * along(c[1], c[2], c[5]),
            yy = l[E::yy] + half * along(c[2], c[3], c[6]),
            xz = l[E::xz] + half * along(c[4], c[5], -(c[0] + c[2])),
            yz = l[E::yz] + half * along(c[5], c[6], -(c[1] + c[3]));
    return Vec3<T>{along(xx, xy, xz), along(xy, yy, yz), along(xz, yz, -(xx + yy))};
  };
  const Vec3<T> a = contracted(T(0.25F), T(1.F / 3), T(0.5F)), p = contracted(T(0.2F), T(0.25F), T(1.F / 3));
  const T per_area = per_radius * per_radius;
  sum.acceleration.x += (l[E::x] + a.x) * per_area;
  sum.acceleration.y += (l[E::y] + a.y) * per_area;
  sum.acceleration.z += (l[E::z] + a.z) * per_area;
  const T half = T(0.5F);
  sum.potential +=
      (l[E::one] + along(l[E::x] + half * p.x, l[E::y] + half * p.y, l[E::z] + half * p.z)) * per_radius;
}

/// The middle and radius of a group's box, and which of the accepted cells are expanded about it: those
/// beyond the reach of softening whose terms beyond the expansion, m radius^4 / d^6 and less, with octupoles
/// m radius^5 / d^7, are below a part of the tolerance. d is the distance of the cell from the box.
struct ExpansionFrame {
  Vec3f middle;
  float radius;       ///< of a ball about the middle that holds the box
  float per_radius2;  ///< 1 / radius^2
  float per_mass;     ///< a cell is expanded where (d / radius)^6, or ^7, is above its mass times this
  float softening;    ///< largest of the targets, and not below the least
  Order order;

  /// excess: GravityParameters::expansion_excess().
  GROVE_HOST_DEVICE static ExpansionFrame of(const TargetBounds& targets, float excess, Order order) {
    const Vec3f half = (targets.high - targets.low) * 0.5F;
    const float radius = larger(std::sqrt(norm2(half)), least_softening), per_radius2 = 1 / (radius * radius);
    const float t = targets.inverse_tolerance;  // (G / (Delta |a|))^0.4, or ^(1/3)
    const float whole = t * t * (order == Order::octupole ? t : std::sqrt(t));
    return {targets.low + half,
            radius,
            per_radius2,
            excess < no_expansion ? excess * (whole * per_radius2) : no_expansion,
            larger(targets.softening, least_softening),
            order};
  }
  /// distance2: of the cell from the box.
  GROVE_HOST_DEVICE bool expands(float mass, float cell_softening, float distance2) const {
    return order == Order::octupole ? expands<Order::octupole>(mass, cell_softening, distance2)
                                    : expands<Order::quadrupole>(mass, cell_softening, distance2);
  }
  /// The same where the order of the frame is known. In units of the radius, as d^6 and radius^4 themselves
  /// leave the range of a float.
  template <Order known>
  GROVE_HOST_DEVICE bool expands(float mass, float cell_softening, float distance2) const {
    const float x = distance2 * per_radius2;
    return x > 1 && x * x * (known == Order::octupole ? x * std::sqrt(x) : x) > mass * per_mass &&
           distance2 > scale_of(Spline{}, larger(cell_softening, softening)) * (1 + leaf_margin);
  }
};

}  // namespace grove
