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

/// One cell of the bisection, from the root to the buckets.
struct Cell {
  Vec3<Coordinate> low, high;  ///< tight bounds of its particles, both inclusive
  Cut cut;                     ///< how it is divided
  Count first;                 ///< its first particle, in left-to-right order of the tree
  Count count;                 ///< its particles
  Count weight;                ///< the sum of their weights
  std::int32_t child;          ///< index of its left child, the right one follows; -1: the cell is a leaf
  std::int32_t first_leaf;     ///< its leftmost leaf, in left-to-right order
  std::int32_t leaves;         ///< leaves below it; 1 for a leaf

  GROVE_HOST_DEVICE bool is_leaf() const { return child < 0; }
  friend bool operator==(const Cell&, const Cell&) = default;
};

}  // namespace grove
