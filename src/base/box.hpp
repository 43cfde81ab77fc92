#pragma once

#include <cmath>
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

  /// The same, or number 0 if none is to be turned, number 0 halved, too, and all coordinates shifted by up
  /// to 3/32 of the edge, on each axis as a hash of k says. So cells that are halves of the root cube lie
  /// elsewhere for each k, though there are but five turns (GADGET-4 shifts its root cube, too: Springel et
  /// al. 2021, MNRAS 506, 2871).
  static CellAxes shifted(std::uint32_t k, bool turns);

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

/// The images of a periodic box: copies of all that is in it, shifted by whole edges.
struct Images {
  double edge = 0;  ///< of the box, length units of the run; 0: space is open, and there is no other image
  /// The least radius of the balls of cells and leaves that act through expansions, which walks then leave
  /// out (kernels/math/ball.hpp). Below 0: there are none.
  double least_ball = -1;

  GROVE_HOST_DEVICE bool are_open() const { return !(edge > 0); }
  GROVE_HOST_DEVICE bool expands_far() const { return least_ball >= 0; }
  /// Images that walks go through: the box itself, the first, and what touches it.
  GROVE_HOST_DEVICE int count() const { return are_open() ? 1 : 27; }
  GROVE_HOST_DEVICE Vec3d shift(int image) const {
    if (image == 0) return {0, 0, 0};
    const int n = image <= 13 ? image - 1 : image;  // 13 of 0 to 26 is the middle one
    return edge * Vec3d{n % 3 - 1.0, n / 3 % 3 - 1.0, n / 9 - 1.0};
  }
  /// The distance, along one axis, of the nearest image of a place from an interval, with its rounding taken
  /// off: margin times the distances from both ends. 0: within.
  GROVE_HOST_DEVICE double outside(double low, double high, double place, double margin) const {
    const double here = outside_image(low, high, place, margin);
    if (are_open()) return here;
    const double before = outside_image(low, high, place - edge, margin),
                 behind = outside_image(low, high, place + edge, margin);
    const double other = before < behind ? before : behind;
    return here < other ? here : other;
  }

 private:
  GROVE_HOST_DEVICE static double outside_image(double low, double high, double place, double margin) {
    const double below = low - place, above = place - high;
    const double rounding = margin * ((below < 0 ? -below : below) + (above < 0 ? -above : above));
    const double distance = (below > above ? below : above) - rounding;
    return distance > 0 ? distance : 0;
  }
};

/// The space that the particles live in: the root cube that gives them integer coordinates.
///
/// In open space the edge is a power of two and the low corner a multiple of edge/8, so both are exact in
/// double precision and so are all multiples of the integer unit edge / 2^32. A periodic box has any edge and
/// its low corner at 0.
struct Box {
  Vec3d low{0, 0, 0};  ///< low corner, length units of the run
  double edge = 1;
  CellAxes axes{};  ///< of all cells in it

  /// The smallest such cube that holds low..high with room to move. Error if a coordinate is not finite or
  /// the extent cannot be represented (InputError). Points that coincide get a cube of the size of their
  /// rounding.
  static Box around(const Vec3d& low, const Vec3d& high);

  /// A periodic box.
  static Box periodic(double edge) { return {{0, 0, 0}, edge}; }

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

  /// The distance of a place from the box, the largest along one axis; below 0: it is within.
  GROVE_HOST_DEVICE double outside(const Vec3d& p) const {
    double largest = -edge;
    for (int axis = 0; axis < 3; ++axis) {
      const double below = low[axis] - p[axis], above = p[axis] - (low[axis] + edge);
      if (below > largest) largest = below;
      if (above > largest) largest = above;
    }
    return largest;
  }

  /// The image of a place that is in the box, if this is a periodic one. What is no number stays so.
  GROVE_HOST_DEVICE Vec3d wrapped(const Vec3d& p) const {
    return {wrapped(p.x, low.x), wrapped(p.y, low.y), wrapped(p.z, low.z)};
  }

  friend bool operator==(const Box&, const Box&) = default;

 private:
  /// A place just below 0 is at the edge when it is rounded, and so at the other face.
  GROVE_HOST_DEVICE double wrapped(double p, double from) const {
    if (p >= from && p < from + edge) return p;
    const double inside = p - edge * std::floor((p - from) / edge);
    if (inside < from || inside >= from + edge) return from;
    return inside;
  }

  /// p - low may round up to the edge for a p just below the high face.
  GROVE_HOST_DEVICE static Coordinate coordinate(double c) {
    return c >= 4294967295.0 ? 4294967295u : c > 0 ? static_cast<Coordinate>(c) : 0;
  }
};

}  // namespace grove
