#pragma once

#include "base/box.hpp"
#include "base/types.hpp"

namespace grove {

/// A cell of the root cube that has been halved so many times, on z, y and x in turn.
struct GeometricCell {
  static constexpr int most_halvings = 96;  ///< then it is a point
  IntegerPosition low{0, 0, 0};
  int halvings = 0;

  IntegerPosition high() const {
    IntegerPosition last = low;
    for (int axis = 0; axis < 3; ++axis) last[axis] |= bits_below(axis);
    return last;
  }
  /// The bits of coordinates that all its places share.
  IntegerPosition shared_bits() const { return {~bits_below(0), ~bits_below(1), ~bits_below(2)}; }
  /// Its right half, or its left one.
  GeometricCell half(bool right) const {
    const int axis = 2 - halvings % 3;
    GeometricCell cell{low, halvings + 1};
    if (right) cell.low[axis] |= Coordinate{1} << (31 - halvings / 3);
    return cell;
  }

 private:
  Coordinate bits_below(int axis) const {
    const int cuts = (halvings + axis) / 3;  // on this axis: z comes first
    return cuts == 32 ? 0 : ~Coordinate{0} >> cuts;
  }
};

}  // namespace grove
