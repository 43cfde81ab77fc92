#pragma once

#include <cmath>

#include "base/host_device.hpp"

namespace grove {

/// A vector of three components; an aggregate, trivially copyable.
template <class T>
struct Vec3 {
  T x, y, z;

  GROVE_HOST_DEVICE constexpr T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  GROVE_HOST_DEVICE constexpr const T& operator[](int axis) const {
    return axis == 0 ? x : axis == 1 ? y : z;
  }

  GROVE_HOST_DEVICE constexpr Vec3& operator+=(const Vec3& o) { return x += o.x, y += o.y, z += o.z, *this; }
  GROVE_HOST_DEVICE constexpr Vec3& operator-=(const Vec3& o) { return x -= o.x, y -= o.y, z -= o.z, *this; }
  GROVE_HOST_DEVICE constexpr Vec3& operator*=(T s) { return x *= s, y *= s, z *= s, *this; }

  GROVE_HOST_DEVICE friend constexpr Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
  GROVE_HOST_DEVICE friend constexpr Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
  GROVE_HOST_DEVICE friend constexpr Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  GROVE_HOST_DEVICE friend constexpr Vec3 operator*(Vec3 a, T s) { return a *= s; }
  GROVE_HOST_DEVICE friend constexpr Vec3 operator*(T s, Vec3 a) { return a *= s; }
  GROVE_HOST_DEVICE friend constexpr bool operator==(const Vec3&, const Vec3&) = default;

  /// The same vector in another number type.
  template <class U>
  GROVE_HOST_DEVICE constexpr Vec3<U> as() const {
    return {static_cast<U>(x), static_cast<U>(y), static_cast<U>(z)};
  }
};

using Vec3d = Vec3<double>;
using Vec3f = Vec3<float>;

template <class T>
GROVE_HOST_DEVICE constexpr T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
GROVE_HOST_DEVICE constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
GROVE_HOST_DEVICE constexpr T norm2(const Vec3<T>& a) {
  return dot(a, a);
}

template <class T>
GROVE_HOST_DEVICE T norm(const Vec3<T>& a) {
  return std::sqrt(norm2(a));
}

}  // namespace grove
