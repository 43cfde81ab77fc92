#pragma once

#include <cmath>
#include <cstdint>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

/// The cells of the octree of the root cube that hold nodes, for the criterion opening_cell. They follow from
/// the places that walks see, offsets in single precision, and so are the same on hosts and GPUs.
///
/// The cell of a node is the smallest that holds its particles where the tree is new. In trees that are
/// refitted its size stays: of the cells of that size it is the one that holds the centre of mass now. The
/// smallest that holds the particles now would grow to the root cube with the first that crosses its middle.
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
  /// How often the root cube is halved down to it: 0 .. 32.
  GROVE_HOST_DEVICE std::uint8_t level() const {
    int level = 32;
    for (Coordinate bits = differing; bits != 0; bits >>= 1) --level;
    return static_cast<std::uint8_t>(level);
  }
};

/// The two lengths that a criterion of the form l/theta + s takes, in walk units.
struct EdgeAndOffset {
  float edge;    ///< l
  float offset;  ///< s: of the centre of mass from the middle
};

/// Those of the cell of a level that holds the centre of mass. centre: of mass, an offset in the frame. Cells
/// along turned axes are halved in their coordinates.
GROVE_HOST_DEVICE inline EdgeAndOffset edge_and_offset(int level, const RootFrame& frame,
                                                       const Vec3f& centre) {
  constexpr double units_of_root = 4294967296.0, half = units_of_root / 2;
  constexpr double one = static_cast<double>(CellAxes::one);
  const double span = static_cast<double>(std::uint64_t{1} << (32 - level));
  const Vec3d from_middle =
      (frame.place(centre) - frame.root.low) * (units_of_root / frame.root.edge) - Vec3d{half, half, half};
  const auto distance = [&](const Vec3<std::int64_t>& axis, std::int64_t middle) {
    const double cells = (dot(axis.as<double>(), from_middle) / one + static_cast<double>(middle)) / span;
    return (cells - std::floor(cells) - 0.5) * span;
  };
  const CellAxes& axes = frame.root.axes;
  const Vec3d d{distance(axes.x, axes.middle.x), distance(axes.y, axes.middle.y),
                distance(axes.z, axes.middle.z)};
  const double length = frame.root.edge / units_of_root / (norm(axes.x.as<double>()) / one) / frame.unit;
  return {static_cast<float>(span * length), static_cast<float>(norm(d) * length)};
}

}  // namespace grove
