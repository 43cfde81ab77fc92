#pragma once

#include <cstdint>
#include <numbers>

#include "base/host_device.hpp"

/// Kernels W(r, H) over which particles of gas are spread; beyond the support radius H they are 0.
namespace grove {

enum class SmoothingKernel : std::uint8_t {
  wendland_c2,   ///< Dehnen and Aly 2012, MNRAS 425, 1068, table 1: does not pair particles
  cubic_spline,  ///< Monaghan and Lattanzio 1985, A&A 149, 135
};

/// The number of neighbours N in 4 pi H^3 rho / 3 = N m.
GROVE_HOST_DEVICE constexpr double neighbours_of(SmoothingKernel kernel) {
  return kernel == SmoothingKernel::wendland_c2 ? 100 : 50;
}

/// W and dW/dr.
template <class Real>
struct KernelValueOf {
  Real value, slope;
};
using KernelValue = KernelValueOf<double>;

/// At 0 <= r <= H. per_h: 1 / H; in units of any length, 1 / H = 1 among them.
template <class Real>
GROVE_HOST_DEVICE KernelValueOf<Real> kernel_within(SmoothingKernel kernel, Real r, Real per_h) {
  const Real q = r * per_h, per_volume = per_h * per_h * per_h, rest = 1 - q;
  if (kernel == SmoothingKernel::wendland_c2) {
    constexpr Real middle = 21 / (2 * std::numbers::pi);
    const Real norm = middle * per_volume, cube = rest * rest * rest;
    return {norm * cube * rest * (1 + 4 * q), -20 * norm * per_h * q * cube};
  }
  constexpr Real middle = 8 / std::numbers::pi;
  const Real norm = middle * per_volume;
  if (2 * q < 1) return {norm * (1 + 6 * q * q * (q - 1)), norm * per_h * q * (18 * q - 12)};
  return {2 * norm * rest * rest * rest, -6 * norm * per_h * rest * rest};
}

/// At r >= 0, for H > 0.
GROVE_HOST_DEVICE inline KernelValue kernel_at(SmoothingKernel kernel, double r, double H) {
  return r < H ? kernel_within(kernel, r, 1 / H) : KernelValue{0, 0};
}

/// dW/dH at the same place times -H, as W is H^-3 times a function of r / H.
GROVE_HOST_DEVICE inline double slope_by_support(const KernelValue& w, double r) {
  return 3 * w.value + r * w.slope;
}

/// dW/dr alone, at r >= 0. per_h: 1 / H.
template <class Real>
GROVE_HOST_DEVICE Real kernel_slope(SmoothingKernel kernel, Real r, Real per_h) {
  const Real q = r * per_h, rest = 1 - q < 0 ? 0 : 1 - q, scale = per_h * per_h * per_h * per_h;
  if (kernel == SmoothingKernel::wendland_c2) {
    constexpr Real factor = -210 / std::numbers::pi;
    return factor * scale * q * rest * rest * rest;
  }
  constexpr Real factor = 48 / std::numbers::pi;
  return factor * scale * (2 * q < 1 ? q * (3 * q - 2) : -rest * rest);
}

}  // namespace grove
