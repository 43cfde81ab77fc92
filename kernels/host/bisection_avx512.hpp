#pragma once

#include "kernels/host/bisection_portable.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__BMI2__)
#define GROVE_BISECTION_AVX512 1
// GCC 12 takes the undefined vectors inside its own intrinsics for uses of uninitialised variables.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <array>

namespace grove::bisection {

/// Lanes of 4 records, permuted so that those whose bit is set come first and the others last.
struct alignas(64) PartitionOrder {
  std::array<std::uint32_t, 16> lanes;
};
constexpr std::array<PartitionOrder, 16> partition_orders() {
  std::array<PartitionOrder, 16> orders{};
  for (std::uint32_t bits = 0; bits < 16; ++bits) {
    std::size_t to = 0;
    for (const bool wanted : {true, false})
      for (std::uint32_t record = 0; record < 4; ++record)
        if (((bits >> record & 1) != 0) == wanted)
          for (std::uint32_t lane = 0; lane < 4; ++lane) orders[bits].lanes[to++] = 4 * record + lane;
  }
  return orders;
}
inline constexpr std::array<PartitionOrder, 16> partition_order = partition_orders();

/// The functions of Portable, with AVX-512: 4 records or 16 keys a vector.
struct Avx512 {
  static constexpr std::size_t padding = 16;

  static Bounds bounds(const Record* records, std::size_t count) {
    __m512i low = first(records), high = low;
    scan(records, count, low, high);
    return pack(low, high);
  }

  static void extract(const Record* records, std::size_t count, int axis, Coordinate* keys) {
    const __m512i lanes = key_lanes(axis);
    for (std::size_t i = 0; i < count; i += 16) {
      const std::size_t left = count - i;
      const __m512i a = load(records + i, left), b = load(records + i + 4, left < 4 ? 0 : left - 4);
      const __m512i c = load(records + i + 8, left < 8 ? 0 : left - 8);
      const __m512i d = load(records + i + 12, left < 12 ? 0 : left - 12);
      const __m512i ab = _mm512_permutex2var_epi32(a, lanes, b), cd = _mm512_permutex2var_epi32(c, lanes, d);
      _mm512_storeu_si512(keys + i, _mm512_inserti64x4(ab, _mm512_castsi512_si256(cd), 1));
    }
  }

  static std::size_t count_less(const Coordinate* keys, std::size_t count, Coordinate threshold) {
    const __m512i t = splat(threshold);
    std::size_t less = 0, i = 0;
    for (; i + 16 <= count; i += 16)
      less +=
          static_cast<std::size_t>(_mm_popcnt_u32(_mm512_cmplt_epu32_mask(_mm512_loadu_si512(keys + i), t)));
    const __mmask16 valid = lanes_below(count - i);
    return less + popcount(_mm512_mask_cmplt_epu32_mask(valid, _mm512_maskz_loadu_epi32(valid, keys + i), t));
  }

  static Selection select(const Coordinate* keys, std::size_t count, Coordinate low, Coordinate high,
                          Coordinate* selected) {
    const __m512i vlow = splat(low), vhigh = splat(high);
    Selection s{0, 0};
    for (std::size_t i = 0; i < count; i += 16) {
      const __mmask16 valid = lanes_below(count - i);
      const __m512i v = _mm512_maskz_loadu_epi32(valid, keys + i);
      const __mmask16 below = _mm512_mask_cmplt_epu32_mask(valid, v, vlow);
      const __mmask16 inside = _mm512_mask_cmple_epu32_mask(_kandn_mask16(below, valid), v, vhigh);
      _mm512_storeu_si512(selected + s.count, _mm512_maskz_compress_epi32(inside, v));
      s.count += popcount(inside);
      s.below += popcount(below);
    }
    return s;
  }

  template <class Visitor>
  static void for_each_equal(const Coordinate* keys, std::size_t count, Coordinate wanted, Visitor&& visit) {
    const __m512i w = splat(wanted);
    for (std::size_t i = 0; i < count; i += 16) {
      const __mmask16 valid = lanes_below(count - i);
      std::uint32_t found = _mm512_mask_cmpeq_epu32_mask(valid, _mm512_maskz_loadu_epi32(valid, keys + i), w);
      for (; found != 0; found &= found - 1) visit(i + _tzcnt_u32(found));
    }
  }

  static std::size_t find(const Coordinate* keys, std::size_t count, Coordinate threshold, bool less,
                          std::size_t first, std::uint32_t* positions) {
    const __m512i t = splat(threshold);
    const auto flip = static_cast<__mmask16>(less ? 0 : 0xffff);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; i += 16) {
      const __mmask16 valid = lanes_below(count - i);
      const __mmask16 below = _mm512_cmplt_epu32_mask(_mm512_maskz_loadu_epi32(valid, keys + i), t);
      const __mmask16 wanted = _kand_mask16(_kxor_mask16(below, flip), valid);
      if (wanted == 0) continue;  // almost always, after an earlier decomposition
      const __m512i index = _mm512_add_epi32(lane, splat(static_cast<std::uint32_t>(first + i)));
      _mm512_storeu_si512(positions + n, _mm512_maskz_compress_epi32(wanted, index));
      n += popcount(wanted);
    }
    return n;
  }

  static Parts partition(Record* records, std::size_t count, int axis, Coordinate threshold,
                         Record* scratch) {
    const __m512i t = splat(threshold), spread = splat(static_cast<std::uint32_t>(axis));
    __m512i low = _mm512_set1_epi32(-1), high = _mm512_setzero_si512();
    Record* const end = scratch + count + 4;  // the right part is written downwards from here
    std::size_t left = 0, right = 0;
    const auto bound = [&](__m512i v, __mmask16 valid) {
      const __m512i key = _mm512_castps_si512(_mm512_permutevar_ps(_mm512_castsi512_ps(v), spread));
      const __mmask16 is_left = _mm512_mask_cmplt_epu32_mask(valid, key, t);
      low = _mm512_mask_min_epu32(low, is_left, low, v);
      high = _mm512_mask_max_epu32(high, is_left, high, v);
      return is_left;
    };
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const __m512i v = _mm512_loadu_si512(records + i);
      const std::uint32_t bits = _pext_u32(bound(v, 0xffff), 0x1111);
      const __m512i sorted = permute(v, bits);
      _mm512_storeu_si512(records + left, sorted);  // never beyond what has been read
      _mm512_storeu_si512(end - right - 4, sorted);
      const std::size_t n = popcount(bits);
      left += n;
      right += 4 - n;
    }
    if (i < count) {
      const __mmask16 valid = lanes_below(4 * (count - i));
      const __m512i v = _mm512_maskz_loadu_epi32(valid, records + i);
      const __mmask16 is_left = bound(v, valid), is_right = _kandn_mask16(is_left, valid);
      const std::size_t n = popcount(is_left) / 4;
      _mm512_mask_compressstoreu_epi32(records + left, is_left, v);
      left += n;
      right += count - i - n;
      _mm512_mask_compressstoreu_epi32(end - right, is_right, v);
    }
    return {left, pack(low, high), copy(end - right, right, records + left)};
  }

  /// Divides 4 * vectors records, a multiple of a bucket, in registers. False if
  /// equal coordinates straddle the cut; then nothing has been done.
  template <int vectors, class Rule>
  static bool divide_group(const Rule& rule, Record* records, const Bounds& bounds, Parts& parts) {
    constexpr int halves = (vectors + 3) / 4;
    constexpr int count = 4 * vectors;
    __m512i v[4 * halves], key[halves];
    for (int i = 0; i < 4 * halves; ++i)
      v[i] = i < vectors ? _mm512_loadu_si512(records + 4 * i) : _mm512_setzero_si512();
    const int axis = rule.axis(bounds.low_corner(), bounds.high_corner());
    gather_keys<halves>(v, axis, key);
    const __m512i middle = splat(rule.middle(bounds.low[axis], bounds.high[axis]));
    std::uint32_t less = 0;
    for (int h = 0; h < halves; ++h)
      less |= static_cast<std::uint32_t>(_mm512_cmplt_epu32_mask(key[h], middle)) << 16 * h;
    constexpr auto valid = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
    const auto k =
        static_cast<std::size_t>(rule.left_count(count, static_cast<Count>(popcount(less & valid))));
    const std::uint32_t left = lowest<vectors>(key, static_cast<std::uint32_t>(k)) & valid;
    if (popcount(left) != k) return false;
    parts = move_group<vectors>(records, v, left, k);
    return true;
  }

  template <bool left_waits>
  static Parts partition(const ColumnPointers& columns, std::size_t count, int axis, Coordinate threshold,
                         const ColumnPointers& scratch) {
    const __m512i t = splat(threshold);
    ColumnBounds left, right;
    std::size_t kept = 0, waiting = 0;
    for (std::size_t i = 0; i < count; i += 16) {
      const std::size_t size = std::min<std::size_t>(16, count - i);
      const std::size_t from = left_waits ? count - i - size : i;
      const __mmask16 valid = lanes_below(size);
      const __m512i key = _mm512_maskz_loadu_epi32(valid, columns[static_cast<std::size_t>(axis)] + from);
      const __mmask16 is_left = _mm512_mask_cmplt_epu32_mask(valid, key, t);
      const __mmask16 is_right = _kandn_mask16(is_left, valid);
      const __mmask16 keep = left_waits ? is_right : is_left, wait = left_waits ? is_left : is_right;
      const std::size_t n = popcount(keep), to = left_waits ? count - kept - n : kept;
      const __mmask16 stored = lanes_below(n);
      for (std::size_t c = 0; c < 4; ++c) {
        const __m512i v = _mm512_maskz_loadu_epi32(valid, columns[c] + from);
        _mm512_mask_storeu_epi32(columns[c] + to, stored, _mm512_maskz_compress_epi32(keep, v));
        _mm512_storeu_si512(scratch[c] + waiting, _mm512_maskz_compress_epi32(wait, v));
        if (c == 3) continue;
        left.include(c, is_left, v);
        right.include(c, is_right, v);
      }
      kept += n;
      waiting += size - n;
    }
    for (std::size_t c = 0; c < 4; ++c)
      std::copy_n(scratch[c], waiting, columns[c] + (left_waits ? 0 : kept));
    return {left_waits ? waiting : kept, left.pack(), right.pack()};
  }

  static void sort_bucket(Record* bucket, const ParticleId* id) {
    static_assert(bucket_size == 8);
    const __m512i a = _mm512_loadu_si512(bucket), b = _mm512_loadu_si512(bucket + 4);
    const __m256i index = _mm512_castsi512_si256(_mm512_permutex2var_epi32(a, key_lanes(3), b));
    // Indices are unsigned: the upper half of the range would be taken for negative offsets.
    const __m512i ids = _mm512_i64gather_epi64(_mm512_cvtepu32_epi64(index), id, sizeof(ParticleId));
    alignas(64) ParticleId others[bucket_size];
    _mm512_store_si512(others, ids);
    __m512i rank = _mm512_setzero_si512();
    for (const ParticleId other : others) {
      const __m512i o = _mm512_set1_epi64(static_cast<long long>(other));
      rank = _mm512_mask_add_epi64(rank, _mm512_cmplt_epu64_mask(o, ids), rank, _mm512_set1_epi64(1));
    }
    alignas(64) std::uint64_t ranks[bucket_size];
    alignas(64) Record copy[bucket_size];
    _mm512_store_si512(ranks, rank);
    _mm512_store_si512(copy, a);
    _mm512_store_si512(copy + 4, b);
    for (int i = 0; i < bucket_size; ++i) bucket[ranks[i]] = copy[i];
  }

 private:
  /// key (out): the coordinates on the axis, 16 from every 4 vectors of records.
  template <int halves>
  static void gather_keys(const __m512i* v, int axis, __m512i* key) {
    const __m512i lanes = key_lanes(axis);
    for (int h = 0; h < halves; ++h, v += 4)
      key[h] = _mm512_inserti64x4(_mm512_permutex2var_epi32(v[0], lanes, v[1]),
                                  _mm512_castsi512_si256(_mm512_permutex2var_epi32(v[2], lanes, v[3])), 1);
  }

  /// Bits of the keys that fewer than k keys are less than. All pairs are compared, without branches.
  template <int vectors>
  static std::uint32_t lowest(const __m512i* key, std::uint32_t k) {
    constexpr int halves = (vectors + 3) / 4;
    alignas(64) Coordinate keys[16 * halves];
    __m512i rank[halves];
    for (int h = 0; h < halves; ++h) {
      _mm512_store_si512(keys + 16 * h, key[h]);
      rank[h] = _mm512_setzero_si512();
    }
    const __m512i one = splat(1);
    for (int i = 0; i < 4 * vectors; ++i) {
      const __m512i other = splat(keys[i]);
      for (int h = 0; h < halves; ++h)
        rank[h] = _mm512_mask_add_epi32(rank[h], _mm512_cmplt_epu32_mask(other, key[h]), rank[h], one);
    }
    std::uint32_t bits = 0;
    for (int h = 0; h < halves; ++h)
      bits |= static_cast<std::uint32_t>(_mm512_cmplt_epu32_mask(rank[h], splat(k))) << 16 * h;
    return bits;
  }

  /// Stores those of the records in v whose bit of `left` is set, k in number, before the others.
  template <int vectors>
  static Parts move_group(Record* records, const __m512i* v, std::uint32_t left, std::size_t k) {
    __m512i low[2] = {splat(~0u), splat(~0u)}, high[2] = {splat(0), splat(0)};
    for (int i = 0; i < vectors; ++i) {
      const std::uint32_t bits = left >> 4 * i & 15;
      const auto is_left = static_cast<__mmask16>(_pdep_u32(bits, 0x1111) * 15);
      _mm512_storeu_si512(records + popcount(_bzhi_u32(left, static_cast<unsigned>(4 * i))),
                          permute(v[i], bits));
      low[0] = _mm512_mask_min_epu32(low[0], is_left, low[0], v[i]);
      high[0] = _mm512_mask_max_epu32(high[0], is_left, high[0], v[i]);
      low[1] = _mm512_mask_min_epu32(low[1], _knot_mask16(is_left), low[1], v[i]);
      high[1] = _mm512_mask_max_epu32(high[1], _knot_mask16(is_left), high[1], v[i]);
    }
    for (int i = 0; i < vectors; ++i) {  // over what the left ones left behind them
      const std::uint32_t bits = ~left >> 4 * i & 15;
      Record* const to = records + k + popcount(_bzhi_u32(~left, static_cast<unsigned>(4 * i)));
      _mm512_mask_storeu_epi32(to, lanes_below(4 * popcount(bits)), permute(v[i], bits));
    }
    return {k, pack(low[0], high[0]), pack(low[1], high[1])};
  }

  /// The records whose bit is set first.
  static __m512i permute(__m512i v, std::uint32_t bits) {
    return _mm512_permutexvar_epi32(_mm512_load_si512(&partition_order[bits]), v);
  }

  /// Lanes of two vectors of records that hold an axis, in the lower half.
  static __m512i key_lanes(int axis) {
    return _mm512_add_epi32(_mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0),
                            _mm512_set1_epi32(axis));
  }

  struct ColumnBounds {
    __m512i low[3], high[3];

    ColumnBounds() {
      for (std::size_t c = 0; c < 3; ++c) low[c] = _mm512_set1_epi32(-1), high[c] = _mm512_setzero_si512();
    }
    void include(std::size_t c, __mmask16 lanes, __m512i v) {
      low[c] = _mm512_mask_min_epu32(low[c], lanes, low[c], v);
      high[c] = _mm512_mask_max_epu32(high[c], lanes, high[c], v);
    }
    Bounds pack() const {
      Bounds b{};
      for (std::size_t c = 0; c < 3; ++c) {
        b.low[c] = _mm512_reduce_min_epu32(low[c]);
        b.high[c] = _mm512_reduce_max_epu32(high[c]);
      }
      return b;
    }
  };

  static std::size_t popcount(std::uint32_t mask) { return static_cast<std::size_t>(_mm_popcnt_u32(mask)); }
  static __m512i splat(std::uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }
  static __mmask16 lanes_below(std::size_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xffffu : _bzhi_u32(0xffff, static_cast<unsigned>(n)));
  }
  /// Up to 4 records; the missing ones are 0.
  static __m512i load(const Record* records, std::size_t left) {
    const auto valid =
        static_cast<__mmask8>(left >= 4 ? 0xffu : _bzhi_u32(0xff, static_cast<unsigned>(2 * left)));
    return _mm512_maskz_loadu_epi64(valid, records);
  }
  static __m512i first(const Record* records) {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(records)));
  }
  static void scan(const Record* records, std::size_t count, __m512i& low, __m512i& high) {
    for (std::size_t i = 0; i < count; i += 4) {
      const std::size_t left = count - i;
      const auto valid =
          static_cast<__mmask8>(left >= 4 ? 0xffu : _bzhi_u32(0xff, static_cast<unsigned>(2 * left)));
      const __m512i v = _mm512_mask_loadu_epi64(low, valid, records + i);
      high = _mm512_max_epu32(high, _mm512_mask_loadu_epi64(high, valid, records + i));
      low = _mm512_min_epu32(low, v);
    }
  }
  static Bounds copy(const Record* from, std::size_t count, Record* to) {
    __m512i low = first(from), high = low;
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const __m512i v = _mm512_loadu_si512(from + i);
      _mm512_storeu_si512(to + i, v);
      low = _mm512_min_epu32(low, v);
      high = _mm512_max_epu32(high, v);
    }
    if (i < count) {
      const auto valid = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<unsigned>(2 * (count - i))));
      const __m512i v = _mm512_maskz_loadu_epi64(valid, from + i);
      _mm512_mask_storeu_epi64(to + i, valid, v);
      low = _mm512_mask_min_epu32(
          low, static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(4 * (count - i)))), low, v);
      high = _mm512_max_epu32(high, v);
    }
    return pack(low, high);
  }
  static Bounds pack(__m512i low, __m512i high) {
    const __m256i low2 = _mm256_min_epu32(_mm512_castsi512_si256(low), _mm512_extracti64x4_epi64(low, 1));
    const __m256i high2 = _mm256_max_epu32(_mm512_castsi512_si256(high), _mm512_extracti64x4_epi64(high, 1));
    Bounds b;
    _mm_store_si128(reinterpret_cast<__m128i*>(b.low),
                    _mm_min_epu32(_mm256_castsi256_si128(low2), _mm256_extracti128_si256(low2, 1)));
    _mm_store_si128(reinterpret_cast<__m128i*>(b.high),
                    _mm_max_epu32(_mm256_castsi256_si128(high2), _mm256_extracti128_si256(high2, 1)));
    return b;
  }
};

}  // namespace grove::bisection
#endif
