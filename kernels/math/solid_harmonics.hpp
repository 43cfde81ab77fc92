#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// A complex number that devices know, too.
struct DeviceComplex {
  double re = 0, im = 0;

  GROVE_HOST_DEVICE DeviceComplex& operator+=(const DeviceComplex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  /// Adds a b by four fused operations, where `+= a * b` takes six.
  GROVE_HOST_DEVICE void add_product(const DeviceComplex& a, const DeviceComplex& b) {
    re += a.re * b.re;
    im += a.re * b.im;
    re -= a.im * b.im;
    im += a.im * b.re;
  }
  GROVE_HOST_DEVICE friend DeviceComplex operator+(const DeviceComplex& a, const DeviceComplex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  GROVE_HOST_DEVICE friend DeviceComplex operator-(const DeviceComplex& a, const DeviceComplex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  GROVE_HOST_DEVICE friend DeviceComplex operator*(const DeviceComplex& a, const DeviceComplex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  GROVE_HOST_DEVICE friend DeviceComplex operator*(double s, const DeviceComplex& a) {
    return {s * a.re, s * a.im};
  }
  GROVE_HOST_DEVICE DeviceComplex conjugate() const { return {re, -im}; }
};

/// Numbers f_lm of l <= order, 0 <= m <= l. Those of m < 0 follow: f_l,-m = (-1)^m f_lm*.
template <int order>
struct Harmonics {
  static constexpr int size = (order + 1) * (order + 2) / 2;
  DeviceComplex of[size];

  GROVE_HOST_DEVICE static constexpr int index(int l, int m) { return l * (l + 1) / 2 + m; }
  GROVE_HOST_DEVICE DeviceComplex& operator()(int l, int m) { return of[index(l, m)]; }
  GROVE_HOST_DEVICE const DeviceComplex& operator()(int l, int m) const { return of[index(l, m)]; }
  /// Any m, |m| <= l.
  GROVE_HOST_DEVICE DeviceComplex at(int l, int m) const {
    if (m >= 0) return (*this)(l, m);
    const DeviceComplex mirrored = (*this)(l, -m).conjugate();
    return m % 2 == 0 ? mirrored : DeviceComplex{-mirrored.re, -mirrored.im};
  }
};

/// R_mm of visit_regular_harmonics() from R_(m-1)(m-1), m > 0. R_00 is 1.
GROVE_HOST_DEVICE inline DeviceComplex next_sectoral(int m, const DeviceComplex& sectoral, const Vec3d& r) {
  return (0.5 / m) * (sectoral * DeviceComplex{r.x, r.y});
}

/// Regular solid harmonics R_lm = r^l P_lm(cos theta) e^(i m phi) / (l + m)!, without the phase of Condon and
/// Shortley: visit(l, R_lm) for l = m to order, one after the other, from R_mm; or all times a number, from
/// R_mm times it. No array holds all of them: a thread of a GPU has not enough registers for it.
/// Cost: some 10 operations each.
template <int order, typename Visit>
GROVE_HOST_DEVICE void visit_regular_harmonics(int m, const DeviceComplex& sectoral, const Vec3d& r,
                                               const Visit& visit) {
  const double r2 = norm2(r);
  DeviceComplex below{0, 0}, here = sectoral;
  GROVE_UNROLL
  for (int l = m; l <= order; ++l) {
    visit(l, here);
    const double scale = 1.0 / ((l + 1 + m) * (l + 1 - m));
    const DeviceComplex above = (scale * (2 * l + 1) * r.z) * here - (scale * r2) * below;
    below = here;
    here = above;
  }
}

}  // namespace grove
