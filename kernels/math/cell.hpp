#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// An exact cut: of the particles of a cell, ordered by (integer coordinate on the axis, id), those that are
/// less than (coordinate, id) go left.
struct Cut {
  ParticleId id;
  Coordinate coordinate;
  std::int32_t axis;  ///< 0, 1, 2; -1: the cell is a leaf

  GROVE_HOST_DEVICE bool is_left(Coordinate c, ParticleId particle) const {
    return c < coordinate || (c == coordinate && particle < id);
  }
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// One cell of the bisection, from the root to the buckets. A new one is a leaf.
struct Cell {
  Vec3<Coordinate> low{0, 0, 0}, high{0, 0, 0};  ///< tight bounds of its particles, both inclusive
  Cut cut{0, 0, -1};                             ///< how it is divided; id and coordinate are those of the
                                                 ///< first particle that goes right
  Count first = 0;                               ///< its first particle, in left-to-right order of the tree
  Count count = 0;                               ///< its particles
  Count weight = 0;                              ///< the sum of their weights
  std::int32_t child = -1;    ///< index of its left child, the right one follows; -1: the cell is a leaf
  LeafNumber first_leaf = 0;  ///< its leftmost leaf, in left-to-right order
  LeafNumber leaves = 1;      ///< leaves below it; 1 for a leaf; see CutScheme::knows_leaves()

  GROVE_HOST_DEVICE bool is_leaf() const { return child < 0; }
  /// True if it is never divided among ranks: it has at most so many particles, or they are all in one place
  /// (its bounds are known). 0: only leaves are whole.
  GROVE_HOST_DEVICE bool is_whole(Count domain_cell) const {
    return domain_cell == 0 ? leaves <= 1 : count <= domain_cell || low == high;
  }
  friend bool operator==(const Cell&, const Cell&) = default;
};

}  // namespace grove
