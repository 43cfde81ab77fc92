#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernels/host/bisection.hpp"

/// The passes over memory that the bisection consists of, without intrinsics: branch-free loops over vectors
/// of 16 bytes, which GCC and Clang map to any processor. bisection_avx512.hpp has the same functions.
namespace grove::bisection {

/// A record as a vector: x, y, z, index.
using RecordVector [[gnu::vector_size(16)]] = std::uint32_t;

/// Tight bounds of records, both inclusive; the fourth element means nothing.
struct Bounds {
  alignas(16) Coordinate low[4];
  alignas(16) Coordinate high[4];

  IntegerPosition low_corner() const { return {low[0], low[1], low[2]}; }
  IntegerPosition high_corner() const { return {high[0], high[1], high[2]}; }
};

/// Sets the bounds on one axis from count >= 1 coordinates.
inline void set_bounds(const Coordinate* keys, std::size_t count, std::size_t axis, Bounds& bounds) {
  Coordinate low = keys[0], high = keys[0];
  for (std::size_t i = 1; i < count; ++i) {
    low = std::min(low, keys[i]);
    high = std::max(high, keys[i]);
  }
  bounds.low[axis] = low;
  bounds.high[axis] = high;
}

/// The result of a partition.
struct Parts {
  std::size_t left;  ///< records in the left part
  Bounds left_bounds, right_bounds;
};

/// The result of select().
struct Selection {
  std::size_t count;  ///< keys inside the interval
  std::size_t below;  ///< keys less than it
};

/// Four arrays: coordinates on x, y, z, and indices.
using ColumnPointers = std::array<std::uint32_t*, 4>;

struct Portable {
  /// Elements that vectors may write past the end of an array of keys, and records past one of records.
  static constexpr std::size_t padding = 0;

  /// Tight bounds of count >= 1 records.
  static Bounds bounds(const Record* records, std::size_t count) {
    RecordVector low = load(records), high = low;
    for (std::size_t i = 1; i < count; ++i) include(load(records + i), low, high);
    return pack(low, high);
  }

  /// keys (out): count coordinates on the axis (3: indices), plus padding.
  static void extract(const Record* records, std::size_t count, int axis, Coordinate* keys) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = load(records + i)[axis];
  }

  /// How many of count keys are less than the threshold.
  static std::size_t count_less(const Coordinate* keys, std::size_t count, Coordinate threshold) {
    std::size_t less = 0;
    for (std::size_t i = 0; i < count; ++i) less += keys[i] < threshold;
    return less;
  }

  /// Copies the keys in low..high, inclusive. selected (out): as many, plus padding; may be the array of
  /// keys.
  static Selection select(const Coordinate* keys, std::size_t count, Coordinate low, Coordinate high,
                          Coordinate* selected) {
    Selection s{0, 0};
    for (std::size_t i = 0; i < count; ++i) {
      const Coordinate key = keys[i];
      selected[s.count] = key;
      s.count += key >= low && key <= high;
      s.below += key < low;
    }
    return s;
  }

  /// Calls visit(i) for the keys that equal this one.
  template <class Visitor>
  static void for_each_equal(const Coordinate* keys, std::size_t count, Coordinate wanted, Visitor&& visit) {
    for (std::size_t i = 0; i < count; ++i)
      if (keys[i] == wanted) visit(i);
  }

  /// The indices, counted from `first`, of the keys that are less than the threshold, or of those that are
  /// not. Returns how many. positions (out): as many, plus padding.
  static std::size_t find(const Coordinate* keys, std::size_t count, Coordinate threshold, bool less,
                          std::size_t first, std::uint32_t* positions) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
      positions[n] = static_cast<std::uint32_t>(first + i);
      n += (keys[i] < threshold) == less;
    }
    return n;
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

  /// Sorts a full bucket by id, by rank: how many ids are smaller. All pairs are compared, without branches.
  static void sort_bucket(Record* bucket, const ParticleId* id) {
    ParticleId ids[bucket_size];
    Record copy[bucket_size];
    for (int i = 0; i < bucket_size; ++i) {
      copy[i] = bucket[i];
      ids[i] = id[copy[i].index];
    }
    for (int i = 0; i < bucket_size; ++i) {
      std::size_t rank = 0;
      for (int j = 0; j < bucket_size; ++j) rank += ids[j] < ids[i];
      bucket[rank] = copy[i];
    }
  }

  /// The same as partition() for records stored by columns. Those of the smaller part wait in scratch until
  /// the others have moved together in place: left_waits says which. scratch: four arrays of that part's size
  /// plus padding.
  template <bool left_waits>
  static Parts partition(const ColumnPointers& columns, std::size_t count, int axis, Coordinate threshold,
                         const ColumnPointers& scratch) {
    const Coordinate* const keys = columns[static_cast<std::size_t>(axis)];
    std::size_t kept = 0, waiting = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = left_waits ? count - 1 - i : i;
      const std::size_t to = left_waits ? count - 1 - kept : kept;
      const bool is_left = keys[from] < threshold;
      for (std::size_t c = 0; c < 4; ++c) {
        const std::uint32_t v = columns[c][from];
        columns[c][to] = v;
        scratch[c][waiting] = v;
      }
      kept += is_left != left_waits;
      waiting += is_left == left_waits;
    }
    const std::size_t left = left_waits ? waiting : kept;
    Parts parts{left, {}, {}};
    for (std::size_t c = 0; c < 4; ++c) {
      std::copy_n(scratch[c], waiting, columns[c] + (left_waits ? 0 : kept));
      if (c == 3) break;
      set_bounds(columns[c], left, c, parts.left_bounds);
      set_bounds(columns[c] + left, count - left, c, parts.right_bounds);
    }
    return parts;
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
