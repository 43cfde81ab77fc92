#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/octupole.hpp"
#include "kernels/math/scalars.hpp"
#include "kernels/math/softening.hpp"

/// The effect of a source on targets, in walk units, for one target (T = float, double) or a register full of
/// them (T = Lanes). psi_n are the softened potentials of softening.hpp; d points from target to source.
namespace grove {

/// All that acts on a target, summed so far. The potential with its sign changed.
template <class T>
struct Accumulator {
  Vec3<T> acceleration;
  T potential;
};

/// Softening shapes as types. Each gives psi_0 .. psi_1 or psi_3 at a squared distance.
///
/// None: 1/r; the distance must not vanish.
struct Newton {};
/// Plummer; `scale` of a target or a source is eps^2 > 0; of a pair, the larger.
struct Plummer {};
/// Spline; `scale` is h^2 > 0; of a pair, the larger.
struct Spline {};

template <class T>
GROVE_INLINE T pair_scale(Plummer, T target, T source) {
  return larger(target, source);
}
template <class T>
GROVE_INLINE T pair_scale(Spline, T target, T source) {
  return larger(target, source);
}
template <class T>
GROVE_INLINE T pair_scale(Newton, T target, T) {
  return target;
}

template <class T>
GROVE_INLINE SoftenedPair<T> softened_pair(Newton, T r2, T) {
  const T inverse = inverse_sqrt(r2);
  return {inverse, inverse * (inverse * inverse)};
}
template <class T>
GROVE_INLINE SoftenedPair<T> softened_pair(Plummer, T r2, T scale) {
  return softened_pair(Newton{}, r2 + scale, scale);
}
/// Below this squared distance 1/r would leave the range; the spline is flat there.
inline constexpr float least_distance2 = 1e-24F;
/// For lanes of which some are within h.
template <class T>
GROVE_INLINE SoftenedPair<T> pair_within(Spline, T r2, T scale) {
  return spline_pair(r2, inverse_sqrt(larger(r2, T(least_distance2))), inverse_sqrt(scale));
}
/// Few pairs are within h, and then the lanes of whole registers are not: those take the short way.
template <class T>
GROVE_INLINE SoftenedPair<T> softened_pair(Spline, T r2, T scale) {
  if (any_less(r2, scale)) [[unlikely]]
    return pair_within(Spline{}, r2, scale);
  return softened_pair(Newton{}, r2, scale);
}

/// Adds the force of a point mass at separation d, given the psi.
template <class T>
GROVE_INLINE void add_pair(const SoftenedPair<T>& pair, const Vec3<T>& d, T mass, Accumulator<T>& sum) {
  sum.potential += mass * pair.potential;
  const T f = mass * pair.force;
  sum.acceleration.x += f * d.x;
  sum.acceleration.y += f * d.y;
  sum.acceleration.z += f * d.z;
}

/// Adds the force of a point mass at separation d.
template <class Shape, class T>
GROVE_INLINE void add_particle(Shape shape, const Vec3<T>& d, T mass, T scale, Accumulator<T>& sum) {
  add_pair(softened_pair(shape, T(d.x * d.x + d.y * d.y + d.z * d.z), scale), d, mass, sum);
}

/// A node as a source, for Newtonian forces with traceless second moments Q = 3 M - tr(M), from which the raw
/// ones come back as (Q + trace)/3 where softening needs them.
struct alignas(64) CellSource {
  Vec3f centre;
  float mass;
  float xx, yy, zz, xy, xz, yz;
  float trace;
  float softening;            ///< largest softening inside
  float softening2;           ///< mean squared softening
  PackedOctupole octupole{};  ///< means nothing to other orders

  /// From raw second moments.
  GROVE_HOST_DEVICE static CellSource of(const Vec3f& centre, float mass, const NodeMoments& m,
                                         float softening, float softening2) {
    const float trace = m.xx + m.yy + m.zz;
    return {centre,   mass,  3 * m.xx - trace, 3 * m.yy - trace, 3 * m.zz - trace, 3 * m.xy, 3 * m.xz,
            3 * m.yz, trace, softening,        softening2,       octupole_of(m)};
  }
};

/// The scale of a softening length.
GROVE_HOST_DEVICE inline float scale_of(Plummer, float length) { return length * length; }
GROVE_HOST_DEVICE inline float scale_of(Spline, float length) {
  const float radius = static_cast<float>(spline_radius_over_softening) * length;
  return radius * radius;
}
/// The scale of a cell.
GROVE_HOST_DEVICE inline float scale_of(Newton, const CellSource&) { return 0; }
GROVE_HOST_DEVICE inline float scale_of(Plummer, const CellSource& cell) { return cell.softening2; }
GROVE_HOST_DEVICE inline float scale_of(Spline, const CellSource& cell) {
  return scale_of(Spline{}, cell.softening);
}

/// Adds along n - across q.
template <class T>
GROVE_INLINE void add_along_and_across(T along, const Vec3<T>& n, T across, const Vec3<T>& q,
                                       Accumulator<T>& sum) {
  sum.acceleration.x += along * n.x;
  sum.acceleration.x -= across * q.x;
  sum.acceleration.y += along * n.y;
  sum.acceleration.y -= across * q.y;
  sum.acceleration.z += along * n.z;
  sum.acceleration.z -= across * q.z;
}

/// Adds the force of a node far enough to be Newtonian: with q = Q d, h = d q/r^2 and v = m r^2,
/// P = (v + h/2)/r^3, a = [(v + 5h/2) d - q]/r^5.
///
/// No power leaves the range of a float: in walk units r is between the spline's radius of the least
/// softening, 2^-25.4, and 2^25, so 1/r^5 is between 2^-125 and 2^127; the mass is below 2 and, as r > b, Q
/// below 4 m r^2, so that d q stays below 2^103. Near the least r d q may fall below the smallest float,
/// 2^-149: for masses above 2^-30 an error of 2^-17 of m r^4.
template <class T>
GROVE_INLINE void add_quadrupole(Newton, const Vec3<T>& d, const CellSource& s, T, Accumulator<T>& sum) {
  const T r2 = d.x * d.x + d.y * d.y + d.z * d.z;
  const T inverse = inverse_sqrt(r2), inverse2 = inverse * inverse;
  const T inverse3 = inverse * inverse2, inverse5 = inverse3 * inverse2;
  const T qx = T(s.xx) * d.x + T(s.xy) * d.y + T(s.xz) * d.z;
  const T qy = T(s.xy) * d.x + T(s.yy) * d.y + T(s.yz) * d.z;
  const T qz = T(s.xz) * d.x + T(s.yz) * d.y + T(s.zz) * d.z;
  const T h = (d.x * qx + d.y * qy + d.z * qz) * inverse2;
  const T v = T(s.mass) * r2, along = multiply_add(T(2.5F), h, v);
  sum.potential += inverse3 * multiply_add(T(0.5F), h, v);
  sum.acceleration.x += inverse5 * (along * d.x - qx);
  sum.acceleration.y += inverse5 * (along * d.y - qy);
  sum.acceleration.z += inverse5 * (along * d.z - qz);
}

/// The same with the octupole O, numbers times a unit: with n = d/r, q = Q n, h = n q, t = O n n and c = n t
/// P = m/r + h/(2 r^3) - c/r^4, a = [m + (5h/2 - 7c/r)/r^2] n/r^2 - (q - 3t/r)/r^4. As O is below 5 m r^3, no
/// power leaves the range of a float here either.
template <class T>
GROVE_INLINE void add_octupole(const Vec3<T>& d, const CellSource& s, const Octupole<T>& o, T unit,
                               Accumulator<T>& sum) {
  const T inverse = inverse_sqrt(T(d.x * d.x + d.y * d.y + d.z * d.z)), inverse2 = inverse * inverse;
  const Vec3<T> n{d.x * inverse, d.y * inverse, d.z * inverse};
  const auto along_n = [&n](T x, T y, T z) { return x * n.x + y * n.y + z * n.z; };
  const Vec3<T> u{unit * n.x, unit * n.y, unit * n.z};
  const auto along_u = [&u](T x, T y, T z) { return x * u.x + y * u.y + z * u.z; };
  const T xx = along_u(o.xxx, o.xxy, o.xxz), xy = along_u(o.xxy, o.xyy, o.xyz),
          yy = along_u(o.xyy, o.yyy, o.yyz), xz = along_u(o.xxz, o.xyz, -(o.xxx + o.xyy)),
          yz = along_u(o.xyz, o.yyz, -(o.xxy + o.yyy));
  const Vec3<T> t{along_n(xx, xy, xz), along_n(xy, yy, yz), along_n(xz, yz, -(xx + yy))};
  const Vec3<T> q{along_n(T(s.xx), T(s.xy), T(s.xz)), along_n(T(s.xy), T(s.yy), T(s.yz)),
                  along_n(T(s.xz), T(s.yz), T(s.zz))};
  const T h = along_n(q.x, q.y, q.z), c = along_n(t.x, t.y, t.z) * inverse, mass(s.mass);
  sum.potential += inverse * (mass + inverse2 * (T(0.5F) * h - c));
  const T along = inverse2 * (mass + inverse2 * (T(2.5F) * h - T(7.F) * c));
  const T across = inverse2 * inverse2, three = T(3.F) * inverse;
  sum.acceleration.x += along * n.x - across * (q.x - three * t.x);
  sum.acceleration.y += along * n.y - across * (q.y - three * t.y);
  sum.acceleration.z += along * n.z - across * (q.z - three * t.z);
}

template <class T>
GROVE_INLINE SoftenedSeries<T> softened_series(Plummer, T r2, T scale) {
  return plummer_series(inverse_sqrt(r2 + scale));
}
template <class T>
GROVE_INLINE SoftenedSeries<T> softened_series(Spline, T r2, T scale) {
  return spline_series(r2, inverse_sqrt(larger(r2, T(least_distance2))), inverse_sqrt(scale));
}

/// Adds the force of a node under softening, raw second moments M:
/// P = m psi_0 + (d M d psi_2 - tr M psi_1)/2, a = (m psi_1 + (d M d psi_3 - tr M psi_2)/2) d - psi_2 M d.
template <class Shape, class T>
GROVE_INLINE void add_quadrupole(Shape shape, const Vec3<T>& d, const CellSource& s, T scale,
                                 Accumulator<T>& sum) {
  const auto [inverse, c0, c1, c2, c3] = softened_series(shape, T(d.x * d.x + d.y * d.y + d.z * d.z), scale);
  const T inverse2 = inverse * inverse;
  const T x = d.x * inverse, y = d.y * inverse, z = d.z * inverse;
  constexpr float third = 1.F / 3;
  const T xx((s.xx + s.trace) * third), yy((s.yy + s.trace) * third), zz((s.zz + s.trace) * third);
  const T xy(s.xy * third), xz(s.xz * third), yz(s.yz * third);
  const T qx = xx * x + xy * y + xz * z;
  const T qy = xy * x + yy * y + yz * z;
  const T qz = xz * x + yz * y + zz * z;
  const T half_a = T(0.5F) * (x * qx + y * qy + z * qz) * inverse2, mass(s.mass);
  const T half_trace = T(0.5F * s.trace) * inverse2;
  sum.potential += inverse * (mass * c0 + half_a * c2 - half_trace * c1);
  const T along = inverse2 * (mass * c1 + half_a * c3 - half_trace * c2);
  // In this order: close to a spline's centre 1/r^4 would leave the range, but c2 is small there.
  const T across = inverse2 * c2 * inverse2;
  add_along_and_across(along, {x, y, z}, across, {qx, qy, qz}, sum);
}

}  // namespace grove
