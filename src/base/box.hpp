#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// Integer coordinates of a position in the root cube.
using IntegerPosition = Vec3<Coordinate>;

/// The directions that the sides of cells are parallel to: the rows of a rotation matrix, or of half of one,
/// in units of 2^-31. Integers, so that all processors turn a position to the same bits.
struct CellAxes {
  static constexpr std::int64_t one = std::int64_t{1} << 31;
  Vec3<std::int64_t> x{one, 0, 0}, y{0, one, 0}, z{0, 0, one};
  Vec3<std::int64_t> middle{one, one, one};  ///< the coordinates of the middle of the root cube

  /// Number k is turned about the axis (0, 1, golden ratio) by k times 72 degrees, so that 0 to 4 are the
  /// five cubes whose corners are those of a dodecahedron. Their mean has the symmetry of an icosahedron: an
  /// error of forces that has the symmetry of a cube cancels in it up to spherical harmonics of order 5.
  /// Turned coordinates are halved, so that those of a turned cube fit into the cube (the golden ratio / 2
  /// of its edge). Any k; its remainder by 5 counts.
  static CellAxes turned(std::uint32_t k);

  /// The same, number 0 halved, too, and all coordinates shifted by up to 3/32 of the edge, on each axis as a
  /// hash of k says. So cells that are halves of the root cube lie elsewhere for each k, though there are but
  /// five turns (GADGET-4 shifts its root cube, too: Springel et al. 2021, MNRAS 506, 2871).
  static CellAxes shifted(std::uint32_t k);

  /// Coordinates along these axes. Exact, rounded down at last.
  GROVE_HOST_DEVICE constexpr IntegerPosition along(const IntegerPosition& c) const {
    const Vec3<std::int64_t> from_middle = c.as<std::int64_t>() - Vec3<std::int64_t>{one, one, one};
    return {coordinate(dot(x, from_middle), middle.x), coordinate(dot(y, from_middle), middle.y),
            coordinate(dot(z, from_middle), middle.z)};
  }

  friend bool operator==(const CellAxes&, const CellAxes&) = default;

 private:
  GROVE_HOST_DEVICE static constexpr Coordinate coordinate(std::int64_t from_middle, std::int64_t middle) {
    return static_cast<Coordinate>((from_middle >> 31) + middle);
  }
};

/// The space that the particles live in: the root cube that gives them integer coordinates, and the rule for
/// distances (open now; periodic images would be one change, in `nearest`).
///
/// The edge is a power of two and the low corner a multiple of edge/8, so both are exact in double precision
/// and so are all multiples of the integer unit edge / 2^32.
struct Box {
  Vec3d low{0, 0, 0};  ///< low corner, length units of the run
  double edge = 1;     ///< a power of two
  CellAxes axes{};     ///< of all cells in it

  /// The smallest such cube that holds low..high with room to move. Error if a coordinate is not finite or
  /// the extent cannot be represented (InputError). Points that coincide get a cube of the size of their
  /// rounding.
  static Box around(const Vec3d& low, const Vec3d& high);

  /// True if integer coordinates exist for this position.
  GROVE_HOST_DEVICE bool contains(const Vec3d& p) const {
    return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x < low.x + edge && p.y < low.y + edge &&
           p.z < low.z + edge;
  }

  /// Integer coordinates along the axes of the cells; exact in every step (difference of nearby doubles
  /// apart), linear but for the last bit, the same on every processor. A position outside of the box has
  /// those of the nearest point on a face.
  GROVE_HOST_DEVICE IntegerPosition coordinates(const Vec3d& p) const {
    const double scale = 4294967296.0 / edge;
    return axes.along({coordinate((p.x - low.x) * scale), coordinate((p.y - low.y) * scale),
                       coordinate((p.z - low.z) * scale)});
  }

  /// The shortest of the equivalent separations.
  template <class T>
  GROVE_HOST_DEVICE static constexpr Vec3<T> nearest(const Vec3<T>& separation) {
    return separation;
  }

  friend bool operator==(const Box&, const Box&) = default;

 private:
  /// p - low may round up to the edge for a p just below the high face.
  GROVE_HOST_DEVICE static Coordinate coordinate(double c) {
    return c >= 4294967295.0 ? 4294967295u : c > 0 ? static_cast<Coordinate>(c) : 0;
  }
};

}  // namespace grove
