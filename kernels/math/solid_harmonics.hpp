#pragma once

#include <type_traits>

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// A number, or a vector in which all are it.
template <class T>
GROVE_HOST_DEVICE constexpr T number(double value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return value - T{};
}

/// A complex number that devices know, too, or a vector of them.
template <class T>
struct BasicComplex {
  T re{}, im{};

  GROVE_HOST_DEVICE BasicComplex& operator+=(const BasicComplex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  /// Adds a b by four fused operations, where `+= a * b` takes six.
  GROVE_HOST_DEVICE void add_product(const BasicComplex& a, const BasicComplex& b) {
    re += a.re * b.re;
    im += a.re * b.im;
    re -= a.im * b.im;
    im += a.im * b.re;
  }
  GROVE_HOST_DEVICE friend BasicComplex operator+(const BasicComplex& a, const BasicComplex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  GROVE_HOST_DEVICE friend BasicComplex operator-(const BasicComplex& a, const BasicComplex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  GROVE_HOST_DEVICE friend BasicComplex operator*(const BasicComplex& a, const BasicComplex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  GROVE_HOST_DEVICE friend BasicComplex operator*(T s, const BasicComplex& a) { return {s * a.re, s * a.im}; }
  GROVE_HOST_DEVICE BasicComplex conjugate() const { return {re, -im}; }
};
using DeviceComplex = BasicComplex<double>;

/// Numbers f_lm of l <= order, 0 <= m <= l. Those of m < 0 follow: f_l,-m = (-1)^m f_lm*.
template <int order, class T = double>
struct Harmonics {
  static constexpr int size = (order + 1) * (order + 2) / 2;
  BasicComplex<T> of[size];

  GROVE_HOST_DEVICE static constexpr int index(int l, int m) { return l * (l + 1) / 2 + m; }
  GROVE_HOST_DEVICE BasicComplex<T>& operator()(int l, int m) { return of[index(l, m)]; }
  GROVE_HOST_DEVICE const BasicComplex<T>& operator()(int l, int m) const { return of[index(l, m)]; }
  /// Any m, |m| <= l.
  GROVE_HOST_DEVICE BasicComplex<T> at(int l, int m) const {
    if (m >= 0) return (*this)(l, m);
    const BasicComplex<T> mirrored = (*this)(l, -m).conjugate();
    return m % 2 == 0 ? mirrored : BasicComplex<T>{-mirrored.re, -mirrored.im};
  }
};

/// R_mm of visit_regular_harmonics() from R_(m-1)(m-1), m > 0. R_00 is 1.
template <class T>
GROVE_HOST_DEVICE BasicComplex<T> next_sectoral(int m, const BasicComplex<T>& sectoral, const Vec3<T>& r) {
  return number<T>(0.5 / m) * (sectoral * BasicComplex<T>{r.x, r.y});
}

/// Regular solid harmonics R_lm = r^l P_lm(cos theta) e^(i m phi) / (l + m)!, without the phase of Condon and
/// Shortley: visit(l, R_lm) for l = m to order, one after the other, from R_mm; or all times a number, from
/// R_mm times it. No array holds all of them: a thread of a GPU has not enough registers for it.
/// Cost: some 10 operations each.
template <int order, class T, typename Visit>
GROVE_HOST_DEVICE void visit_regular_harmonics(int m, const BasicComplex<T>& sectoral, const Vec3<T>& r,
                                               const Visit& visit) {
  const T r2 = norm2(r);
  BasicComplex<T> below{}, here = sectoral;
  GROVE_UNROLL
  for (int l = m; l <= order; ++l) {
    visit(l, here);
    const T scale = number<T>(1.0 / ((l + 1 + m) * (l + 1 - m)));
    const BasicComplex<T> above = (scale * number<T>(2 * l + 1) * r.z) * here - (scale * r2) * below;
    below = here;
    here = above;
  }
}

}  // namespace grove
