#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/kokkos/bisection.hpp"

/// The passes over memory that the bisection consists of, without intrinsics: branch-free loops over vectors
/// of 16 bytes, which GCC and Clang map to any processor. bisection_avx512.hpp has the same functions.
namespace grove::bisection {

/// A record as a vector: x, y, z, index.
using RecordVector [[gnu::vector_size(16)]] = std::uint32_t;

/// Tight bounds of records, both inclusive; the fourth element means nothing.
struct Bounds {
  alignas(16) Coordinate low[4];
  alignas(16) Coordinate high[4];

  int longest_axis() const { return grove::longest_axis(low_corner(), high_corner()); }
  IntegerPosition low_corner() const { return {low[0], low[1], low[2]}; }
  IntegerPosition high_corner() const { return {high[0], high[1], high[2]}; }
};

/// What a partition returns.
struct Parts {
  std::size_t left;  ///< records in the left part
  Bounds left_bounds, right_bounds;
};

struct Portable {
  /// Elements that vectors may write past the end of an array of keys, and records past one of records.
  static constexpr std::size_t padding = 0;

  /// Tight bounds of count >= 1 records.
  static Bounds bounds(const Record* records, std::size_t count) {
    RecordVector low = load(records), high = low;
    for (std::size_t i = 1; i < count; ++i) include(load(records + i), low, high);
    return pack(low, high);
  }

  /// keys (out): count coordinates on the axis.
  static void extract(const Record* records, std::size_t count, int axis, Coordinate* keys) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = records[i][axis];
  }

  /// How many of count keys are less than the threshold.
  static std::size_t count_less(const Coordinate* keys, std::size_t count, Coordinate threshold) {
    std::size_t less = 0;
    for (std::size_t i = 0; i < count; ++i) less += keys[i] < threshold;
    return less;
  }

  /// Copies the keys in low..high, inclusive; returns how many. selected (out): as many, plus padding; may be
  /// the array of keys.
  static std::size_t select(const Coordinate* keys, std::size_t count, Coordinate low, Coordinate high,
                            Coordinate* selected) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Coordinate key = keys[i];
      selected[n] = key;
      n += key >= low && key <= high;
    }
    return n;
  }

  /// Calls visit(record) for the records with this coordinate on the axis.
  template <class Visitor>
  static void for_each_equal(const Record* records, std::size_t count, int axis, Coordinate coordinate,
                             Visitor&& visit) {
    for (std::size_t i = 0; i < count; ++i)
      if (records[i][axis] == coordinate) visit(records[i]);
  }

  /// Moves the records with a coordinate less than the threshold to the left. Neither part may be empty.
  /// scratch: count + padding records.
  static Parts partition(Record* records, std::size_t count, int axis, Coordinate threshold,
                         Record* scratch) {
    RecordVector low = ~RecordVector{}, high{};
    std::size_t left = 0, right = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const RecordVector r = load(records + i);
      const bool is_left = records[i][axis] < threshold;
      store(records + left, r);
      store(scratch + right, r);
      left += is_left;
      right += !is_left;
      const std::uint32_t take = -static_cast<std::uint32_t>(is_left);
      const RecordVector mask{take, take, take, take};
      low = minimum(low, r | ~mask);
      high = maximum(high, r & mask);
    }
    return {left, pack(low, high), copy(scratch, right, records + left)};
  }

 private:
  static RecordVector load(const Record* record) {
    RecordVector v;
    std::memcpy(&v, record, sizeof v);
    return v;
  }
  static void store(Record* record, RecordVector v) { std::memcpy(record, &v, sizeof v); }
  static RecordVector minimum(RecordVector a, RecordVector b) { return a < b ? a : b; }
  static RecordVector maximum(RecordVector a, RecordVector b) { return a > b ? a : b; }
  static void include(RecordVector r, RecordVector& low, RecordVector& high) {
    low = minimum(low, r);
    high = maximum(high, r);
  }
  static Bounds pack(RecordVector low, RecordVector high) {
    Bounds b;
    std::memcpy(b.low, &low, sizeof low);
    std::memcpy(b.high, &high, sizeof high);
    return b;
  }
  static Bounds copy(const Record* from, std::size_t count, Record* to) {
    RecordVector low = load(from), high = low;
    for (std::size_t i = 0; i < count; ++i) {
      const RecordVector r = load(from + i);
      store(to + i, r);
      include(r, low, high);
    }
    return pack(low, high);
  }
};

}  // namespace grove::bisection
