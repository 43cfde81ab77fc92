#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "base/array.hpp"
#include "kernels/host/bisection_portable.hpp"

namespace grove::bisection {

/// Records by columns: an array for each axis and one of indices, so that a cut on one axis reads a quarter
/// of the memory.
class Columns {
 public:
  explicit Columns(std::size_t count) : stride_(padded(count)), memory_(4 * stride_) {}

  /// Length of the scratch that partition() needs for this many records, and enough for their keys.
  static std::size_t scratch_size(std::size_t count) { return 4 * (padded(count / 2) + 16); }

  /// The coordinates on an axis; 3: the indices.
  std::uint32_t* axis(int c) { return memory_.data() + static_cast<std::size_t>(c) * stride_; }
  const std::uint32_t* axis(int c) const { return memory_.data() + static_cast<std::size_t>(c) * stride_; }

  template <class Simd>
  void unpack(std::size_t begin, std::span<const Record> records) {
    constexpr std::size_t chunk = 256;  // reads each record from memory once
    std::uint32_t part[chunk];
    for (std::size_t i = 0; i < records.size(); i += chunk) {
      const std::size_t size = std::min(chunk, records.size() - i);
      for (int c = 0; c < 4; ++c) {
        Simd::extract(records.data() + i, size, c, part);
        std::copy_n(part, size, axis(c) + begin + i);
      }
    }
  }

  void pack(std::size_t begin, std::span<Record> records) const {
    const std::uint32_t *x = axis(0) + begin, *y = axis(1) + begin, *z = axis(2) + begin,
                        *index = axis(3) + begin;
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = {x[i], y[i], z[i], index[i]};
  }

  /// Tight bounds of records [begin, begin + count).
  Bounds bounds(std::size_t begin, std::size_t count) const {
    Bounds b{};
    for (int c = 0; c < 3; ++c) set_bounds(axis(c) + begin, count, static_cast<std::size_t>(c), b);
    return b;
  }

  /// Moves those of records [begin, begin + count) to the left whose coordinate is less than the threshold.
  /// left: how many these are. bounds: of all.
  template <class Simd>
  Parts partition(std::size_t begin, std::size_t count, std::size_t left, int axis_, Coordinate threshold,
                  const Bounds& all, std::uint32_t* scratch) {
    const std::size_t smaller = std::min(left, count - left);
    if (smaller < count / peel_ratio) return peel<Simd>(begin, count, left, axis_, threshold, all, scratch);
    const std::size_t step = padded(smaller) + 16;
    const ColumnPointers from{axis(0) + begin, axis(1) + begin, axis(2) + begin, axis(3) + begin};
    const ColumnPointers wait{scratch, scratch + step, scratch + 2 * step, scratch + 3 * step};
    return left < count - left ? Simd::template partition<true>(from, count, axis_, threshold, wait)
                               : Simd::template partition<false>(from, count, axis_, threshold, wait);
  }

 private:
  /// If one part is this many times smaller than all, only what lies in the wrong part moves.
  static constexpr std::size_t peel_ratio = 16;

  static std::size_t padded(std::size_t count) { return (count + 15) / 16 * 16; }

  template <class Simd>
  Parts peel(std::size_t begin, std::size_t count, std::size_t left, int axis_, Coordinate threshold,
             const Bounds& all, std::uint32_t* scratch) {
    const Coordinate* const keys = axis(axis_) + begin;
    std::uint32_t *const wrong_left = scratch, *const wrong_right = scratch + scratch_size(count) / 2;
    const std::size_t n = Simd::find(keys, left, threshold, false, 0, wrong_left);
    Simd::find(keys + left, count - left, threshold, true, 0, wrong_right);
    for (int c = 0; c < 4; ++c) {
      std::uint32_t *const a = axis(c) + begin, *const b = a + left;
      for (std::size_t i = 0; i < n; ++i) std::swap(a[wrong_left[i]], b[wrong_right[i]]);
    }
    return peeled_bounds(begin, count, left, all);
  }

  /// The larger part keeps the bounds of all, but where the smaller one touched them.
  Parts peeled_bounds(std::size_t begin, std::size_t count, std::size_t left, const Bounds& all) const {
    const std::size_t right = count - left;
    const bool left_is_small = left < right;
    Parts parts{left, all, all};
    Bounds& small = left_is_small ? parts.left_bounds : parts.right_bounds;
    Bounds& large = left_is_small ? parts.right_bounds : parts.left_bounds;
    small = left_is_small ? bounds(begin, left) : bounds(begin + left, right);
    for (std::size_t c = 0; c < 3; ++c)
      if (small.low[c] == all.low[c] || small.high[c] == all.high[c])
        set_bounds(axis(static_cast<int>(c)) + (left_is_small ? begin + left : begin), std::max(left, right),
                   c, large);
    return parts;
  }

  std::size_t stride_;
  Array<std::uint32_t> memory_;
};

}  // namespace grove::bisection
