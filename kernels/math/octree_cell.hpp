#pragma once

#include <cmath>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

/// The cells of the octree of the root cube that hold nodes, for the criterion opening_cell. They follow from
/// the places that walks see, offsets in single precision, and so are the same on hosts and GPUs, and nothing
/// about them is kept from walk to walk. In trees that are refitted the cell of a node is the smallest that
/// holds its particles now: larger than when it was new, if one has left that.
namespace grove {

/// The places of a leaf in the root cube.
struct RootFrame {
  Box root;
  Vec3d origin;  ///< of the leaf, units of the run
  double unit;   ///< of length of the walk, in units of the run

  GROVE_HOST_DEVICE Vec3d place(const Vec3f& offset) const { return origin + offset.as<double>() * unit; }
};

/// The smallest cell that holds some places, of which there is at least one.
struct SmallestCell {
  IntegerPosition any;       ///< coordinates of one of them
  Coordinate differing = 0;  ///< bits in which those of others differ from it, on any axis

  GROVE_HOST_DEVICE static SmallestCell of(const RootFrame& frame, const Vec3f& offset) {
    return {frame.root.coordinates(frame.place(offset)), 0};
  }
  GROVE_HOST_DEVICE void add(const SmallestCell& other) {
    differing |= other.differing | (any.x ^ other.any.x) | (any.y ^ other.any.y) | (any.z ^ other.any.z);
  }
};

/// The two lengths that a criterion of the form l/theta + s takes, in walk units.
struct EdgeAndOffset {
  float edge;    ///< l
  float offset;  ///< s: of the centre of mass from the middle
};

/// Those of a cell. centre: of mass, an offset in the frame. Cells along turned axes are halved in their
/// coordinates.
GROVE_HOST_DEVICE inline EdgeAndOffset edge_and_offset(const SmallestCell& cell, const RootFrame& frame,
                                                       const Vec3f& centre) {
  constexpr double units_of_root = 4294967296.0, half = units_of_root / 2;
  constexpr double one = static_cast<double>(CellAxes::one);
  Coordinate below = cell.differing;  // all bits from the highest one on
  for (int shift = 1; shift < 32; shift *= 2) below |= below >> shift;
  const double span = static_cast<double>(below) + 1;
  const Vec3d from_middle =
      (frame.place(centre) - frame.root.low) * (units_of_root / frame.root.edge) - Vec3d{half, half, half};
  const CellAxes& axes = frame.root.axes;
  const auto distance = [&](const Vec3<std::int64_t>& axis, Coordinate any) {
    const double middle = static_cast<double>(any & ~below) + span / 2;
    return dot(axis.as<double>(), from_middle) / one + half - middle;
  };
  const Vec3d d{distance(axes.x, cell.any.x), distance(axes.y, cell.any.y), distance(axes.z, cell.any.z)};
  const double length = frame.root.edge / units_of_root / (norm(axes.x.as<double>()) / one) / frame.unit;
  return {static_cast<float>(span * length), static_cast<float>(norm(d) * length)};
}

}  // namespace grove
