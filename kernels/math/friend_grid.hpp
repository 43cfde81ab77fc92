#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/nearest_image.hpp"

namespace grove {

/// The keys of a run of cells along x, both ends included; nothing if the last is below the first.
struct CellRun {
  std::uint64_t first, last;
};

/// A grid of cells so small that all particles of a cell are friends: the diagonal is below the linking
/// length (dense boxes of Prokopenko et al. 2023, arXiv:2103.05162). Friends are in cells that differ by at
/// most reach() on each axis.
///
/// Cells have keys, x first, then y, then z. All axes are cyclic. On an axis with more cells than
/// most_on_axis several have the same key, in periodic boxes as many each; cell() tells them apart.
class FriendGrid {
 public:
  using Cell = Vec3<std::int64_t>;
  static constexpr std::int64_t most_on_axis = std::int64_t{1} << 21;

  /// low, high: corners of a box around all positions; length: the linking length. In a periodic box
  /// positions may be some edges outside.
  FriendGrid(const Vec3d& low, const Vec3d& high, double length, const NearestImage& nearest)
      : low_(low), per_cell_(cells_per_length / length) {
    if (!nearest.is_open()) fill_box(nearest.edge);
    for (int axis = 0; axis < 3 && nearest.is_open(); ++axis) {
      const double cells = std::floor((high[axis] - low[axis]) * per_cell_) + 1 + reach_;
      size_[axis] = static_cast<std::uint32_t>(std::min(cells, static_cast<double>(most_on_axis)));
    }
  }

  /// False if positions so far apart have no exact cells: from 2^38 cells on the rounding of positions
  /// counts. Neither has a length whose square, which distances are compared with, leaves the range of
  /// numbers.
  static bool resolves(double extent, double length) {
    return length > 0x1p-500 && length < 0x1p500 && extent * cells_per_length < 0x1p38 * length;
  }

  GROVE_HOST_DEVICE Cell cell(const Vec3d& p) const {
    return {along(p.x - low_.x), along(p.y - low_.y), along(p.z - low_.z)};
  }
  GROVE_HOST_DEVICE std::uint64_t key(const Cell& cell) const {
    return row_key(wrapped(cell.y, size_.y), wrapped(cell.z, size_.z)) + wrapped(cell.x, size_.x);
  }
  /// Bits that keys have.
  int key_bits() const {
    int bits = 0;
    for (std::uint64_t last = row_key(size_.y - 1, size_.z - 1) + size_.x - 1; last > 0; last /= 2) ++bits;
    return bits;
  }

  GROVE_HOST_DEVICE int reach() const { return reach_; }
  /// The place of all cells with a key.
  GROVE_HOST_DEVICE Cell place(std::uint64_t key) const {
    const std::uint64_t row = key / size_.x;
    return {static_cast<std::int64_t>(key % size_.x), static_cast<std::int64_t>(row % size_.y),
            static_cast<std::int64_t>(row / size_.y)};
  }
  /// The cells in reach along x in the row that is dy and dz, at most reach(), from that of a place. Part 0
  /// ends with the row, part 1 is what goes on at its other end.
  GROVE_HOST_DEVICE CellRun near(const Cell& place, int dy, int dz, int part) const {
    const std::uint64_t begin = row_key(stepped(place.y, dy, size_.y), stepped(place.z, dz, size_.z));
    const std::int64_t size = size_.x, first = place.x - reach_, last = place.x + reach_;
    const bool is_whole = 2 * reach_ + 1 >= size;
    if (part == 0)
      return run(begin, is_whole || first < 0 ? 0 : first, is_whole || last >= size ? size - 1 : last);
    if (!is_whole && first < 0) return run(begin, first + size, size - 1);
    if (!is_whole && last >= size) return run(begin, 0, last - size);
    return {1, 0};
  }

 private:
  /// Above the root of 3 by 2^-10, which is more than cells are rounded.
  static constexpr double cells_per_length = 1.7338;

  /// Whole cells, as many for each key, and so somewhat smaller ones: the length is below two of them, or
  /// below three where there are fewer than 8.
  void fill_box(double edge) {
    low_ = {0, 0, 0};
    const double wanted = std::ceil(edge * per_cell_);
    const double per_key = std::ceil(wanted / static_cast<double>(most_on_axis));
    const double size = std::ceil(wanted / per_key);
    per_cell_ = size * per_key / edge;
    size_.x = size_.y = size_.z = static_cast<std::uint32_t>(size);
    reach_ = wanted < 8 ? 3 : 2;
  }

  GROVE_HOST_DEVICE std::int64_t along(double distance) const {
    return static_cast<std::int64_t>(std::floor(distance * per_cell_));
  }
  GROVE_HOST_DEVICE static std::uint64_t wrapped(std::int64_t cell, std::uint32_t size) {
    if (cell >= 0 && cell < size) return static_cast<std::uint64_t>(cell);
    const std::int64_t rest = cell % size;
    return static_cast<std::uint64_t>(rest < 0 ? rest + size : rest);
  }
  /// Some steps from a cell of an axis, fewer than it has.
  GROVE_HOST_DEVICE static std::uint64_t stepped(std::int64_t from, int steps, std::uint32_t size) {
    const std::int64_t to = from + steps;
    return static_cast<std::uint64_t>(to < 0 ? to + size : to >= size ? to - size : to);
  }
  GROVE_HOST_DEVICE std::uint64_t row_key(std::uint64_t y, std::uint64_t z) const {
    return (z * size_.y + y) * size_.x;
  }
  GROVE_HOST_DEVICE static CellRun run(std::uint64_t begin, std::int64_t first, std::int64_t last) {
    return {begin + static_cast<std::uint64_t>(first), begin + static_cast<std::uint64_t>(last)};
  }

  Vec3d low_;
  double per_cell_;                    ///< 1 / edge of a cell
  Vec3<std::uint32_t> size_{1, 1, 1};  ///< keys on each axis
  int reach_ = 2;
};

}  // namespace grove
