#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// Integer coordinates of a position in the root cube.
using IntegerPosition = Vec3<Coordinate>;

/// The space that the particles live in: the root cube that gives them integer coordinates, and the rule for
/// distances (open now; periodic images would be one change, in `nearest`).
///
/// The edge is a power of two and the low corner a multiple of edge/8, so both are exact in double precision
/// and so are all multiples of the integer unit edge / 2^32.
struct Box {
  Vec3d low{0, 0, 0};  ///< low corner, length units of the run
  double edge = 1;     ///< a power of two

  /// The smallest such cube that holds low..high with room to move. Error if a coordinate is not finite or
  /// the extent cannot be represented (InputError). Points that coincide get a cube of the size of their
  /// rounding.
  static Box around(const Vec3d& low, const Vec3d& high);

  /// Whether integer coordinates exist for this position.
  GROVE_HOST_DEVICE bool contains(const Vec3d& p) const {
    return p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x < low.x + edge && p.y < low.y + edge &&
           p.z < low.z + edge;
  }

  /// Length of one integer unit.
  GROVE_HOST_DEVICE double unit() const { return edge / 4294967296.0; }

  /// Integer coordinates; exact in every step (difference of nearby doubles apart), monotone, the same on
  /// every processor. Of a position outside the box: those of the nearest face.
  GROVE_HOST_DEVICE IntegerPosition coordinates(const Vec3d& p) const {
    const double scale = 4294967296.0 / edge;
    return {coordinate((p.x - low.x) * scale), coordinate((p.y - low.y) * scale),
            coordinate((p.z - low.z) * scale)};
  }

  /// The position of the low corner of an integer cell.
  GROVE_HOST_DEVICE Vec3d position(const IntegerPosition& c) const {
    return {low.x + c.x * unit(), low.y + c.y * unit(), low.z + c.z * unit()};
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
