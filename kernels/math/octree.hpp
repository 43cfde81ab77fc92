#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/opening.hpp"

/// The octree of a leaf, as functions of integers, for all who build one.
///
/// Cells are those of the root cube halved on all axes: level l has the leading l bits of the coordinates in
/// common. A cell of more particles than a bucket may have is divided into its octants that are not empty, in
/// the order of a curve; where only one is, into that one's octants. Any other cell is a bucket, its
/// particles ordered by id, but cut in two where a group ends in it. Particles that coincide are divided by
/// number: ordered by id, at multiples of the largest 8^k p that lies between two of them, p the largest
/// power of two that a bucket may have. So tree and order depend on coordinates and ids alone, not on how
/// many levels a builder looks at.
namespace grove {

/// The state of a curve in a cell: one of the 24 ways in which Hilbert's may run through it, or Morton's.
using CurveState = std::uint8_t;
inline constexpr CurveState morton_state = 24, curve_states = 25;
GROVE_HOST_DEVICE constexpr CurveState first_state(Curve curve) {
  return curve == Curve::morton ? morton_state : CurveState{0};
}

/// Which of the octants a cell of this level's children a coordinate is in; bit: 31 for those of the root.
GROVE_HOST_DEVICE constexpr unsigned octant_of(Coordinate x, Coordinate y, Coordinate z, int bit) {
  return (x >> bit & 1U) | (y >> bit & 1U) << 1 | (z >> bit & 1U) << 2;
}

/// One level of a curve: which of the octants in its order this one is, and how it runs there.
struct CurveStep {
  std::uint8_t bits = 0;

  GROVE_HOST_DEVICE constexpr unsigned digit() const { return bits & 7; }
  GROVE_HOST_DEVICE constexpr CurveState state() const { return static_cast<CurveState>(bits >> 3); }
};

/// Hilbert's curve after Hamilton and Rau-Chaplin 2008 (Information Processing Letters 105, 155), algorithm
/// 2 in three dimensions: a state is the corner where the curve enters the cell, and the axis along which it
/// leaves from there.
GROVE_HOST_DEVICE constexpr CurveStep curve_step(CurveState state, unsigned octant) {
  if (state == morton_state) return {static_cast<std::uint8_t>(octant | unsigned{morton_state} << 3)};
  const unsigned corner = state & 7U, turn = (state >> 3) + 1U;
  const unsigned seen = octant ^ corner;
  const unsigned turned = (seen >> turn | seen << (3 - turn)) & 7U;
  const unsigned digit = (turned ^ turned >> 1 ^ turned >> 2) & 7U;
  const unsigned even = digit == 0 ? 0 : (digit - 1) & 6U, entry = even ^ even >> 1;
  const unsigned next_corner = corner ^ ((entry << turn | entry >> (3 - turn)) & 7U);
  const unsigned ones = digit == 0 ? 0 : (digit & 1U) ? digit : digit - 1;  // its trailing ones give the axis
  const unsigned axis = digit == 0 ? 0 : (ones & 3U) != 3 ? 1 : ones == 7 ? 0 : 2;
  return {static_cast<std::uint8_t>(digit | next_corner << 3 | ((turn + axis) % 3) << 6)};
}

/// The size of the pieces that particles [first, last] of a leaf, more than one, are divided into by number.
GROVE_HOST_DEVICE constexpr std::int32_t piece_size(std::int32_t first, std::int32_t last,
                                                    std::int32_t bucket) {
  std::int32_t size = 1;
  while (2 * size <= bucket) size *= 2;  // so that pieces end where groups do
  while (first / size / 8 != last / size / 8) size *= 8;
  return size;
}

/// The end of a group among particles [first, last] of a leaf, no more than a group: where the second
/// one's begin, or last + 1.
GROVE_HOST_DEVICE constexpr std::int32_t group_end(std::int32_t first, std::int32_t last) {
  const std::int32_t end = last / group_size * group_size;
  return end > first ? end : last + 1;
}

}  // namespace grove
