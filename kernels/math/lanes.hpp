#pragma once

#include <cmath>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernels/math/scalars.hpp"

/// A vector register of floats, so that formulas written for one number (templates over T) also run on many:
/// the compilers' vector types where there are some, one float elsewhere. For files that the host's compiler
/// compiles alone: another one would see another width.
namespace grove {

#if defined(__GNUC__)
#if defined(__AVX512F__)
inline constexpr int lane_count = 16;
#elif defined(__AVX__)
inline constexpr int lane_count = 8;
#else
inline constexpr int lane_count = 4;
#endif
using FloatVector = float __attribute__((vector_size(4 * lane_count)));
using IntVector = int __attribute__((vector_size(4 * lane_count)));
/// The same of doubles.
inline constexpr int double_lanes = lane_count / 2;
using DoubleVector = double __attribute__((vector_size(4 * lane_count)));
#else
inline constexpr int lane_count = 1, double_lanes = 1;
using FloatVector = float;
using IntVector = int;
using DoubleVector = double;
#endif

/// lane_count floats.
struct Lanes {
  FloatVector v;

  Lanes() = default;
  GROVE_INLINE Lanes(float all) : v(all - FloatVector{}) {}
  GROVE_INLINE explicit Lanes(double all) : Lanes(static_cast<float>(all)) {}
  GROVE_INLINE explicit Lanes(int all) : Lanes(static_cast<float>(all)) {}
#if defined(__GNUC__)
  GROVE_INLINE explicit Lanes(FloatVector vector) : v(vector) {}
#endif

  GROVE_INLINE static Lanes load(const float* from) {
    Lanes l;
    std::memcpy(&l.v, from, sizeof(l.v));
    return l;
  }
  GROVE_INLINE void store(float* to) const { std::memcpy(to, &v, sizeof(v)); }

  GROVE_INLINE friend Lanes operator+(Lanes a, Lanes b) { return make(a.v + b.v); }
  GROVE_INLINE friend Lanes operator-(Lanes a, Lanes b) { return make(a.v - b.v); }
  GROVE_INLINE friend Lanes operator*(Lanes a, Lanes b) { return make(a.v * b.v); }
  GROVE_INLINE friend Lanes operator-(Lanes a) { return make(-a.v); }
  GROVE_INLINE Lanes& operator+=(Lanes b) { return v += b.v, *this; }
  GROVE_INLINE Lanes& operator-=(Lanes b) { return v -= b.v, *this; }
  GROVE_INLINE Lanes& operator*=(Lanes b) { return v *= b.v, *this; }

  GROVE_INLINE static Lanes make(FloatVector vector) {
    Lanes l;
    l.v = vector;
    return l;
  }
};

/// The result of a comparison of Lanes.
struct LaneMask {
  IntVector v;
};
GROVE_INLINE LaneMask operator<(Lanes a, Lanes b) { return {a.v < b.v}; }
GROVE_INLINE LaneMask operator>=(Lanes a, Lanes b) { return {a.v >= b.v}; }

GROVE_INLINE bool any_less(Lanes a, Lanes b) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ) != 0;
#else
  const LaneMask less = a < b;
  int lanes[lane_count];
  std::memcpy(lanes, &less.v, sizeof(lanes));
  int found = 0;
  for (const int lane : lanes) found |= lane;
  return found != 0;
#endif
}

GROVE_INLINE Lanes select(LaneMask condition, Lanes a, Lanes b) {
  return Lanes::make(condition.v ? a.v : b.v);
}

GROVE_INLINE Lanes larger(Lanes a, Lanes b) {
#if defined(__AVX512F__)
  return Lanes::make(_mm512_maskz_max_ps(0xffff, a.v, b.v));
#else
  return Lanes::make(a.v > b.v ? a.v : b.v);
#endif
}

/// The lanes before this one, and 0 in the others.
GROVE_INLINE Lanes lanes_before(int end, Lanes a) {
#if defined(__AVX512F__)
  return Lanes::make(_mm512_maskz_mov_ps(static_cast<__mmask16>((1U << end) - 1), a.v));
#else
  float value[lane_count];
  a.store(value);
  for (int lane = end; lane < lane_count; ++lane) value[lane] = 0;
  return Lanes::load(value);
#endif
}

/// The largest lane.
GROVE_INLINE float largest_lane(Lanes a) {
  float value[lane_count];
  a.store(value);
  for (int half = lane_count / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) value[lane] = larger(value[lane], value[lane + half]);
  return value[0];
}

/// 1/sqrt(x), x > 0: the processor's estimate (relative error below 2^-14 with AVX-512, 1.5 x 2^-12
/// with AVX) and one Newton step, which leaves 1.5 times the square of that: 5.6e-9 or 2.0e-7, and rounding.
GROVE_INLINE Lanes inverse_sqrt(Lanes x) {
#if defined(__AVX512F__)
  const Lanes y = Lanes::make(_mm512_maskz_rsqrt14_ps(0xffff, x.v));
#elif defined(__AVX__)
  const Lanes y = Lanes::make(_mm256_rsqrt_ps(x.v));
#else
  float value[lane_count];
  x.store(value);
  for (float& f : value) f = 1 / std::sqrt(f);
  return Lanes::load(value);
#endif
#if defined(__AVX__)
  return y * (Lanes(1.5F) - Lanes(0.5F) * x * y * y);
#endif
}

}  // namespace grove
