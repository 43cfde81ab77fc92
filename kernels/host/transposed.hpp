#pragma once

#if defined(__AVX512F__)
#include <immintrin.h>

namespace grove {

/// Four rows of sixteen numbers, transposed in each 128-bit lane: lane j of a has number 4 j of each row, of
/// b number 4 j + 1, and so on.
struct FourColumns {
  __m512 a, b, c, d;
};
inline FourColumns transposed(__m512 r0, __m512 r1, __m512 r2, __m512 r3) {
  constexpr __mmask16 all = 0xffff;
  const __m512 t0 = _mm512_maskz_unpacklo_ps(all, r0, r1), t1 = _mm512_maskz_unpacklo_ps(all, r2, r3),
               t2 = _mm512_maskz_unpackhi_ps(all, r0, r1), t3 = _mm512_maskz_unpackhi_ps(all, r2, r3);
  return {_mm512_maskz_shuffle_ps(all, t0, t1, 0x44), _mm512_maskz_shuffle_ps(all, t0, t1, 0xee),
          _mm512_maskz_shuffle_ps(all, t2, t3, 0x44), _mm512_maskz_shuffle_ps(all, t2, t3, 0xee)};
}

}  // namespace grove
#endif
