#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/host_device.hpp"

/// Operations of formulas on a number: for one here, for a register full of them in lanes.hpp.
namespace grove {

#if defined(__CUDACC__) || defined(__HIPCC__)
#define GROVE_INLINE __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define GROVE_INLINE inline __attribute__((always_inline))
#else
#define GROVE_INLINE inline
#endif

/// True if a < b, of lanes: anywhere.
template <class T>
GROVE_HOST_DEVICE constexpr bool any_less(T a, T b) {
  return a < b;
}

/// a where the condition holds, else b.
template <class T>
GROVE_HOST_DEVICE constexpr T select(bool condition, T a, T b) {
  return condition ? a : b;
}

/// On a GPU one instruction. If one is NaN it gives the other, on the host sometimes not.
GROVE_HOST_DEVICE inline float larger(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}
GROVE_HOST_DEVICE inline double larger(double a, double b) { return a > b ? a : b; }

/// A float as the number of its bits, and back.
GROVE_HOST_DEVICE inline std::uint32_t bits_of_float(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}
GROVE_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
#endif
}

/// a b + c, where the compiler would otherwise fuse what a b is added to with another product.
template <class T>
GROVE_INLINE T multiply_add(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Adds a term to a sum, and exactly what the sum is off by to the rest (Knuth 1998, The Art of Computer
/// Programming 2, 4.2.2, theorem B).
template <class T>
GROVE_INLINE void add_exactly(T& sum, T& rest, T term) {
  const T after = sum + term, added = after - sum;
  rest += (sum - (after - added)) + (term - added);
  sum = after;
}

/// 1/sqrt(x), x > 0. On a GPU the processor's approximation, whose relative error is below 2^-22.9 (PTX ISA,
/// rsqrt.approx.ftz.f32).
GROVE_HOST_DEVICE inline float inverse_sqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / std::sqrt(x);
#endif
}
/// On a GPU within one unit in the last place (CUDA C++ Programming Guide, mathematical functions): a seed of
/// 20 bits and one step of third order, a third of what a root and a division cost.
GROVE_HOST_DEVICE inline double inverse_sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return rsqrt(x);
#else
  return 1 / std::sqrt(x);
#endif
}

/// a / b. On a GPU, in single precision and for |b| < 2^126, within two units in the last place (CUDA C++
/// Programming Guide, __fdividef).
template <class T>
GROVE_HOST_DEVICE T quotient(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return __fdividef(a, b);
#endif
  return a / b;
}

}  // namespace grove
