#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.hpp"
#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "particles/particles.hpp"
#include "support/particle_sets.hpp"

/// Particles among which neighbours are searched.
namespace grove::test {

enum class Cloud { random, clustered, coincident, lattice };

/// In the unit cube.
inline Vec3d place_in(Cloud cloud, std::uint64_t i) {
  const Vec3d u = place(Shape::uniform, i);
  switch (cloud) {
    case Cloud::random:
      return u;
    case Cloud::clustered: {  // half of them within 1e-3 of one of eight corners of a cube that is cut by
                              // faces
      if (i % 2 == 0) return u;
      const Vec3d corner{i / 2 % 2 * 0.5, i / 4 % 2 * 0.5, i / 8 % 2 * 0.5};
      Vec3d p = corner + std::pow(uniform(7777 + i), 3) * 1e-3 * (u - Vec3d{0.5, 0.5, 0.5});
      for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
      return p;
    }
    case Cloud::coincident:  // 40 in each place
      return place(Shape::uniform, i / 40);
    case Cloud::lattice:  // separations are equal to radii, or nearly
      return 0.05 * Vec3d{static_cast<double>(i % 20), static_cast<double>(i / 20 % 20),
                          static_cast<double>(i / 400 % 20)};
  }
  return u;
}

/// A component of the separation to the nearest image; period 0: space is open.
inline double period_nearest(double d, double period) {
  return period > 0 ? std::fma(-period, std::rint(d / period), d) : d;
}

/// The first `count` particles of a cloud, numbers as ids; decomposed, in tree order.
struct Shared {
  Particles particles;
  Domain domain;
  Forest forest;

  Shared(const Communicator& comm, Cloud cloud, std::uint64_t count)
      : particles(scattered(comm, count, [&](std::uint64_t i) { return place_in(cloud, i); })) {
    DecompositionReport report;
    domain = decompose(comm, particles, {}, {}, report);
    forest.build(particles, domain.box, domain.leaf_begin);
  }
};

}  // namespace grove::test
