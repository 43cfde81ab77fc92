#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/array.hpp"
#include "kernels/host/bisection_columns.hpp"

namespace grove::bisection {

/// Bounds of small blocks of columns. Particles that come in the order of an earlier tree, as they do in all
/// steps but the first, are cut again in nearly the same places: most blocks then lie on one side of a cut as
/// a whole, and need not be read.
class Blocks {
 public:
  explicit Blocks(Columns& columns, std::size_t count) : columns_(columns), count_(count) {
    const std::size_t blocks = (count + size - 1) / size;
    for (std::size_t c = 0; c < 3; ++c) {
      low_[c].resize(blocks);
      high_[c].resize(blocks);
    }
    for (std::size_t b = 0; b < blocks; ++b) update(b);
  }

  /// Simd::select() over the coordinates on an axis of records [begin, begin + count).
  template <class Simd>
  Selection select(int axis, std::size_t begin, std::size_t count, Coordinate low, Coordinate high,
                   Coordinate* selected) const {
    const auto c = static_cast<std::size_t>(axis);
    const Coordinate* const keys = columns_.axis(axis);
    Selection sum{0, 0};
    for_each(begin, begin + count, [&](std::size_t b, std::size_t from, std::size_t to) {
      if (high_[c][b] < low) {
        sum.below += to - from;
      } else if (low_[c][b] <= high) {
        const Selection s = Simd::select(keys + from, to - from, low, high, selected + sum.count);
        sum.count += s.count;
        sum.below += s.below;
      }
    });
    return sum;
  }

  /// Columns::partition(), if at most one in eight records lies in the wrong part; otherwise nothing is done.
  template <class Simd>
  std::optional<Parts> partition(std::size_t begin, std::size_t count, std::size_t left, int axis,
                                 Coordinate threshold, std::uint32_t* scratch) {
    const std::size_t middle = begin + left, end = begin + count;
    std::uint32_t* const wrong_left = scratch;
    const std::size_t n = find<Simd>(begin, middle, axis, threshold, false, wrong_left);
    if (n > count / 8) return {};
    std::uint32_t* const wrong_right = scratch + n + Simd::padding;
    find<Simd>(middle, end, axis, threshold, true, wrong_right);
    for (int c = 0; c < 4; ++c) {
      std::uint32_t* const values = columns_.axis(c);
      for (std::size_t i = 0; i < n; ++i) std::swap(values[wrong_left[i]], values[wrong_right[i]]);
    }
    update_all(wrong_left, n);
    update_all(wrong_right, n);
    return Parts{left, bounds(begin, middle), bounds(middle, end)};
  }

  /// Calls visit(i) for records [begin, begin + count) of this coordinate on the axis, i counted from begin.
  template <class Simd, class Visitor>
  void for_each_equal(int axis, std::size_t begin, std::size_t count, Coordinate wanted,
                      Visitor&& visit) const {
    const auto c = static_cast<std::size_t>(axis);
    for_each(begin, begin + count, [&](std::size_t b, std::size_t from, std::size_t to) {
      if (low_[c][b] <= wanted && wanted <= high_[c][b])
        Simd::for_each_equal(columns_.axis(axis) + from, to - from, wanted,
                             [&](std::size_t i) { visit(from - begin + i); });
    });
  }

  /// Tight bounds of records [begin, end).
  Bounds bounds(std::size_t begin, std::size_t end) const {
    const std::size_t first = (begin + size - 1) / size, last = end / size;  // whole blocks
    if (first >= last) return columns_.bounds(begin, end - begin);
    Bounds b{};
    for (std::size_t c = 0; c < 3; ++c) {
      b.low[c] = *std::min_element(&low_[c][first], &low_[c][0] + last);
      b.high[c] = *std::max_element(&high_[c][first], &high_[c][0] + last);
    }
    if (begin < first * size) widen(b, columns_.bounds(begin, first * size - begin));
    if (last * size < end) widen(b, columns_.bounds(last * size, end - last * size));
    return b;
  }

 private:
  static constexpr std::size_t size = 256;

  /// Calls visit(block, from, to) for the parts of blocks that records [begin, end) consist of.
  template <class Visitor>
  static void for_each(std::size_t begin, std::size_t end, Visitor&& visit) {
    for (std::size_t b = begin / size; b * size < end; ++b)
      visit(b, std::max(begin, b * size), std::min(end, (b + 1) * size));
  }

  /// Positions of records [begin, end) that are, or are not, less than the threshold.
  template <class Simd>
  std::size_t find(std::size_t begin, std::size_t end, int axis, Coordinate threshold, bool less,
                   std::uint32_t* positions) const {
    const auto c = static_cast<std::size_t>(axis);
    std::size_t n = 0;
    for_each(begin, end, [&](std::size_t b, std::size_t from, std::size_t to) {
      if (less ? low_[c][b] < threshold : high_[c][b] >= threshold)
        n += Simd::find(columns_.axis(axis) + from, to - from, threshold, less, from, positions + n);
    });
    return n;
  }

  void update(std::size_t block) {
    const std::size_t begin = block * size;
    const Bounds b = columns_.bounds(begin, std::min(size, count_ - begin));
    for (std::size_t c = 0; c < 3; ++c) {
      low_[c][block] = b.low[c];
      high_[c][block] = b.high[c];
    }
  }

  /// Ascending positions.
  void update_all(const std::uint32_t* positions, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      if (i == 0 || positions[i] / size != positions[i - 1] / size) update(positions[i] / size);
  }

  static void widen(Bounds& a, const Bounds& b) {
    for (std::size_t c = 0; c < 3; ++c) {
      a.low[c] = std::min(a.low[c], b.low[c]);
      a.high[c] = std::max(a.high[c], b.high[c]);
    }
  }

  Columns& columns_;
  std::size_t count_;
  std::array<Array<Coordinate>, 3> low_, high_;
};

}  // namespace grove::bisection
