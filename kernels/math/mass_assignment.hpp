#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// How the mass of a particle is spread over the points of a mesh (Hockney and Eastwood 1981, section 5-3).
enum class Assignment : std::uint8_t {
  cic,  ///< cloud in cell: two points along each axis
  tsc,  ///< triangular-shaped cloud: three
};

GROVE_HOST_DEVICE constexpr int points_of(Assignment assignment) {
  return assignment == Assignment::cic ? 2 : 3;
}

/// The share of its mass that a particle at u, in spacings of the mesh, gives the points first, first + 1,
/// ... along an axis.
struct AxisWeights {
  int first;
  double share[3];  ///< cic: two of them
};
GROVE_HOST_DEVICE inline AxisWeights axis_weights(Assignment assignment, double u) {
  if (assignment == Assignment::cic) {
    const double below = std::floor(u), f = u - below;
    return {static_cast<int>(below), {1 - f, f, 0}};
  }
  const double nearest = std::floor(u + 0.5), d = u - nearest;
  return {static_cast<int>(nearest) - 1,
          {0.5 * (0.5 - d) * (0.5 - d), 0.75 - d * d, 0.5 * (0.5 + d) * (0.5 + d)}};
}

/// The number of a point in a periodic mesh. It is hardly ever further than an edge away: a division would
/// take longer.
GROVE_HOST_DEVICE inline int periodic_point(int number, int points) {
  while (number < 0) number += points;
  while (number >= points) number -= points;
  return number;
}

/// A periodic mesh that particles are assigned to. It can stand for less than the box, as a mesh that is
/// folded onto a part of it (Jenkins et al. 1998, ApJ 499, 20): its points are box / scale / n apart, and
/// particles of all parts meet there.
struct MassMesh {
  Assignment assignment = Assignment::tsc;
  double box = 1;    ///< length
  int scale = 1;     ///< parts that an edge of the box is folded into: a power of two
  double total = 1;  ///< mass of all particles, > 0

  /// Returns the place of x in spacings, in [0, n), on n points whose first one is `offset` spacings from the
  /// box's corner. All compilers give the same bits, even those that fuse a product with what is added to it:
  /// the only products are by a power of two, and before a choice.
  GROVE_HOST_DEVICE double place(double x, int n, double offset) const {
    const double parts = x / box * scale;
    double part = parts - std::floor(parts) - offset / n;
    if (part < 0) part += 1;
    const double u = part * n;
    return u < n ? u : 0;
  }

  /// Masses are integers of 2^-exponent(): all together are below 2^61.
  int exponent() const { return 60 - std::ilogb(total); }
};

/// A particle on its way to a mesh.
struct MassPoint {
  Vec3d position;
  double mass;
};

/// Planes first ... last - 1 of a mesh of n^3 points.
struct MeshPlanes {
  int points, first, last;
};

/// Calls add(index, share) for the points of these planes that a particle gives mass: index is ((x - first) n
/// + y) n + z, share in units of 2^-exponent. mesh, offset: as place() has them.
template <class Add>
GROVE_HOST_DEVICE void spread_mass(const MassMesh& mesh, double offset, int exponent,
                                   const MeshPlanes& planes, const MassPoint& particle, const Add& add) {
  const int n = planes.points, width = points_of(mesh.assignment);
  const auto weights = [&](int axis) {
    return axis_weights(mesh.assignment, mesh.place(particle.position[axis], n, offset));
  };
  const AxisWeights x = weights(0), y = weights(1), z = weights(2);
  const double mass = std::ldexp(particle.mass, exponent);
  for (int i = 0; i < width; ++i) {
    const int plane = periodic_point(x.first + i, n);
    if (plane < planes.first || plane >= planes.last) continue;
    for (int j = 0; j < width; ++j) {
      const auto row = (static_cast<std::size_t>(plane - planes.first) * static_cast<std::size_t>(n) +
                        static_cast<std::size_t>(periodic_point(y.first + j, n))) *
                       static_cast<std::size_t>(n);
      const double share = mass * (x.share[i] * y.share[j]);
      for (int k = 0; k < width; ++k)
        add(row + static_cast<std::size_t>(periodic_point(z.first + k, n)),
            static_cast<std::int64_t>(std::llrint(share * z.share[k])));
    }
  }
}

}  // namespace grove
