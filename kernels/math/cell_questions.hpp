#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/middle_bins.hpp"

/// Questions about cells to the services of a decomposition, and their answers; these structs travel
/// between ranks, and backends work on them. A cell is given by its number among the top cells.
namespace grove {

/// A number of particles and what they weigh together.
struct Tally {
  Count count, weight;

  GROVE_HOST_DEVICE Tally& operator+=(const Tally& o) { return count += o.count, weight += o.weight, *this; }
  GROVE_HOST_DEVICE friend Tally operator+(Tally a, const Tally& b) { return a += b; }
  GROVE_HOST_DEVICE friend Tally operator-(const Tally& a, const Tally& b) {
    return {a.count - b.count, a.weight - b.weight};
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

/// Tight bounds, both inclusive; low > high: no particle.
struct CellBounds {
  IntegerPosition low, high;

  static constexpr CellBounds of_nothing() { return {{~0u, ~0u, ~0u}, {0, 0, 0}}; }
  /// Those of the particles of both.
  CellBounds& operator|=(const CellBounds& o) {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], o.low[axis]);
      high[axis] = std::max(high[axis], o.high[axis]);
    }
    return *this;
  }
  friend bool operator==(const CellBounds&, const CellBounds&) = default;
};

/// The axis that a cell is to be cut on. Asked for are the number of particles with a coordinate less than
/// the middle, and, behind it, those in each of the bins.
struct AxisChoice {
  std::int32_t cell;
  std::int32_t axis;
  Coordinate middle;        ///< 0: nothing is asked for, the number is 0
  std::int32_t bins_shift;  ///< MiddleBins::shift; negative: the bins are not asked for

  bool wants_bins() const { return middle > 0 && bins_shift >= 0; }
  std::size_t answers() const { return wants_bins() ? 1 + std::size_t{MiddleBins::number} : 1; }
};

/// Equidistant candidate cuts of a cell: first + step, first + 2 step, ... (below 2^32). Asked for is a Tally
/// for each, of what lies left of it; particles left of `first` do not count.
struct CandidateCuts {
  std::int32_t cell;
  Coordinate first;
  Coordinate step;  ///< a power of two if there are more than `few` candidates
  std::int32_t candidates;
  std::int32_t weigh;  ///< 0: weights are not needed, numbers stand for them

  static constexpr std::int32_t few = 16;
};

/// An interval of coordinates whose particles are wanted one by one.
struct KeyInterval {
  std::int32_t cell;
  Coordinate first, last;  ///< both inclusive
  std::int32_t weigh;      ///< 0: weights are not needed, numbers stand for them
};
struct GatheredKey {
  Tally weight;  ///< of this one particle
  Coordinate key;
  std::int32_t input;  ///< which interval
};

/// Candidate cuts among the particles of a cell with one coordinate, which are ordered by id: the candidates
/// are the ids first + step, first + 2 step, ..., and ids below `first` do not count.
struct TiedCuts {
  ParticleId first;
  ParticleId step;
  std::int32_t cell;
  Coordinate coordinate;
  std::int32_t candidates;
  std::int32_t unused;
};

/// The division of a cell; its id is 0 if all particles with the coordinate of the cut go right.
struct CellDivision {
  Cut cut;
  std::int32_t cell;
  std::int32_t child;  ///< number of the left child; the right one follows
};
struct DivisionResult {
  ParticleId first_right;  ///< the least id that goes right with the coordinate of the cut, or the greatest
                           ///< number there is
  Tally left;              ///< what goes left
  CellBounds left_bounds, right_bounds;  ///< of the children
};

}  // namespace grove
