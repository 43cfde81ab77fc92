#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/scalars.hpp"

/// Third moments of nodes: O_ijk = 5/2 sum m (y_i y_j y_k - y^2 (delta_ij y_k + delta_ik y_j + delta_jk
/// y_i)/5) over the particles at y from the centre of mass, symmetric and without traces. At x their
/// potential, with its sign changed, is O_ijk x_i x_j x_k / |x|^7.
namespace grove {

/// The independent components; O_xzz = -O_xxx - O_xyy, and so for any other two indices.
template <class T>
struct Octupole {
  T xxx, xxy, xyy, yyy, xxz, xyz, yyz;
};

GROVE_HOST_DEVICE inline Octupole<double> operator+(const Octupole<double>& a, const Octupole<double>& b) {
  return {a.xxx + b.xxx, a.xxy + b.xxy, a.xyy + b.xyy, a.yyy + b.yyy,
          a.xxz + b.xxz, a.xyz + b.xyz, a.yyz + b.yyz};
}
/// The raw third moments without more than one z, and the rest by their traces sum m y^2 y.
struct ThirdMoments {
  double xxx = 0, xxy = 0, xyy = 0, yyy = 0, xxz = 0, xyz = 0, yyz = 0;
  Vec3d trace{0, 0, 0};

  /// A mass at y.
  GROVE_HOST_DEVICE void add(double mass, const Vec3d& y) {
    const Vec3d my = y * mass;
    const double xx = my.x * y.x, xy = my.x * y.y, yy = my.y * y.y;
    xxx += xx * y.x, xxy += xx * y.y, xyy += xy * y.y, yyy += yy * y.y;
    xxz += xx * y.z, xyz += xy * y.z, yyz += yy * y.z;
    trace += my * norm2(y);
  }
  /// What second moments M about a place at y add to those about 0: the sum of M_ij y_k over the places that
  /// k can take.
  template <class Second>
  GROVE_HOST_DEVICE void add_moved(const Second& m, const Vec3d& y) {
    xxx += 3 * m.xx * y.x, yyy += 3 * m.yy * y.y;
    xxy += m.xx * y.y + 2 * m.xy * y.x, xyy += m.yy * y.x + 2 * m.xy * y.y;
    xxz += m.xx * y.z + 2 * m.xz * y.x, yyz += m.yy * y.z + 2 * m.yz * y.y;
    xyz += m.xy * y.z + m.xz * y.y + m.yz * y.x;
    const Vec3d my{m.xx * y.x + m.xy * y.y + m.xz * y.z, m.xy * y.x + m.yy * y.y + m.yz * y.z,
                   m.xz * y.x + m.yz * y.y + m.zz * y.z};
    trace += y * (m.xx + m.yy + m.zz) + my * 2.0;
  }
  GROVE_HOST_DEVICE Octupole<double> octupole() const {
    constexpr double f = 2.5;
    const Vec3d fifth = trace * 0.2;
    return {f * (xxx - 3 * fifth.x), f * (xxy - fifth.y), f * (xyy - fifth.x),
            f * (yyy - 3 * fifth.y), f * (xxz - fifth.z), f * xyz,
            f * (yyz - fifth.z)};
  }
};

/// An octupole in eight bytes: seven numbers from -127 to 127, and the exponent of the unit that all share.
/// These are off by at most 1/127 of the largest of them, the three components that follow from them by twice
/// that, which is little beside the moments that are left out.
struct PackedOctupole {
  std::uint32_t low;   ///< xxx, xxy, xyy, yyy; a byte each, 128 more than the number
  std::uint32_t high;  ///< xxz, xyz, yyz, and the exponent as a float has it; 0: all are 0

  GROVE_HOST_DEVICE static PackedOctupole of(const Octupole<double>& o) {
    const double all[] = {o.xxx, o.xxy, o.xyy, o.yyy, o.xxz, o.xyz, o.yyz};
    double largest = 0;
    for (const double component : all)
      if (std::abs(component) > largest) largest = std::abs(component);
    PackedOctupole packed{0, 0};
    if (!(largest > 0)) return packed;
    const int exponent = std::ilogb(largest) - digits;
    if (exponent <= -bias || exponent > bias) return packed;
    const double per_unit = std::ldexp(1.0, -exponent);
    for (int k = 0; k < 7; ++k) {
      const double units = std::rint(all[k] * per_unit);
      const double number = units > 127 ? 127 : units < -127 ? -127 : units;
      (k < 4 ? packed.low : packed.high) |= static_cast<std::uint32_t>(number + middle) << (8 * (k % 4));
    }
    packed.high |= static_cast<std::uint32_t>(exponent + bias) << 24;
    return packed;
  }
  /// The numbers, to be multiplied by the unit.
  GROVE_INLINE Octupole<float> numbers() const {
    return {number(low, 0),  number(low, 1),  number(low, 2), number(low, 3),
            number(high, 0), number(high, 1), number(high, 2)};
  }
  GROVE_INLINE float unit() const { return float_of_bits((high >> 24) << 23); }
  template <class T>
  GROVE_INLINE Octupole<T> unpacked() const {
    const Octupole<float> o = numbers();
    const float u = unit();
    return {T(u * o.xxx), T(u * o.xxy), T(u * o.xyy), T(u * o.yyy), T(u * o.xxz), T(u * o.xyz), T(u * o.yyz)};
  }

 private:
  static constexpr int bias = 127;       ///< of a float's exponent
  static constexpr int digits = 6;       ///< the largest component is 64 units or more
  static constexpr double middle = 128;  ///< the byte of 0

  GROVE_INLINE static float number(std::uint32_t word, int place) {
#if defined(__CUDA_ARCH__)
    // As the last digits of 2^23: two instructions at full rate, which conversions are not.
    constexpr std::uint32_t two_to_23 = 0x4b000000;
    return __uint_as_float(__byte_perm(word, two_to_23, 0x7440U + static_cast<unsigned>(place))) - 8388736.F;
#else
    return static_cast<float>((word >> (8 * place)) & 0xffU) - static_cast<float>(middle);
#endif
  }
};

/// Nodes with octupoles have them where others have their mean squared softening, which they do not need:
/// they are accepted beyond softening only (AcceptanceRule::least_reach).
GROVE_HOST_DEVICE inline void set_octupole(NodeMoments& moments, const PackedOctupole& octupole) {
  moments.softening2 = float_of_bits(octupole.low);
  moments.more = float_of_bits(octupole.high);
}
GROVE_HOST_DEVICE inline PackedOctupole octupole_of(const NodeMoments& moments) {
  return {bits_of_float(moments.softening2), bits_of_float(moments.more)};
}

}  // namespace grove
