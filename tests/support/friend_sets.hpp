#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/host/disjoint_sets.hpp"
#include "kernels/math/nearest_image.hpp"
#include "support/particle_sets.hpp"

/// Particles for friends of friends, and their groups by brute force.
namespace grove::test {

enum class FriendSet {
  uniform,
  clumps,      ///< 64 of them, far denser than the rest, some across faces
  chain,       ///< through the whole box and back, in no order along it
  coincident,  ///< 30 at each place
  crowds,      ///< two balls of radius 0.004 with 1000 each, 0.03 between their centres, and 20 others
  lattice,     ///< 1/16 between neighbours
  aliases,     ///< three clumps whose cells have the same keys if the length is 1e-7, in turn
  far,         ///< clumps, with a tenth of all spread over 10^8 as much
};

/// Particle i of a set of so many in the unit cube.
inline Vec3d friend_place(FriendSet set, std::uint64_t i, std::uint64_t count) {
  const Vec3d u = place(Shape::uniform, i), middle{0.5, 0.5, 0.5};
  switch (set) {
    case FriendSet::uniform:
      return u;
    case FriendSet::clumps: {
      const Vec3d at = place(Shape::uniform, 1000000 + i % 64);
      if (i % 5 == 0) return u;
      Vec3d p = at + 0.1 * std::pow(uniform(7777 + i), 3) * (u - middle);
      for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
      return p;
    }
    case FriendSet::chain: {
      const double along = static_cast<double>(i * 7919 % count) / static_cast<double>(count);
      return {along, 0.5 + 0.4 * std::sin(20 * along), 0.5 + 0.4 * std::cos(20 * along)};
    }
    case FriendSet::coincident:
      return place(Shape::uniform, i / 30);
    case FriendSet::crowds: {
      if (i % 100 == 0) return u;
      const double angle = 6.3 * u.x, radius = 0.004 * uniform(7777 + i);
      const Vec3d off{radius * std::cos(angle), radius * std::sin(angle), 0.002 * (u.z - 0.5)};
      return middle + off + Vec3d{i % 2 == 0 ? 0.0 : 0.03, 0, 0};
    }
    case FriendSet::lattice:
      return 0.0625 * Vec3d{static_cast<double>(i % 16), static_cast<double>(i / 16 % 16),
                            static_cast<double>(i / 256 % 16)};
    case FriendSet::aliases: {  // the first and second of them in a box of edge 1, the first and third in
                                // open space
      const double apart[] = {0, 1.0 / 9, 1e-7 / 1.7338 * 0x1p21};
      return Vec3d{apart[i % 3], 0, 0} + 3e-7 * u;
    }
    case FriendSet::far:
      return (i % 10 == 0 ? 1e8 : 1.0) * friend_place(FriendSet::clumps, i, count);
  }
  return u;
}

/// The least number of each one's group.
inline std::vector<std::uint32_t> friends_by_brute_force(std::span<const Vec3d> place, double length,
                                                         const NearestImage& nearest) {
  const auto count = static_cast<std::uint32_t>(place.size());
  DisjointSets sets(count);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t j = i + 1; j < count; ++j)
      if (squared_length(nearest(place[j] - place[i])) < length * length) sets.unite(i, j);
  std::vector<std::uint32_t> groups;
  for (std::uint32_t i = 0; i < count; ++i) groups.push_back(sets.root(i));
  return groups;
}

}  // namespace grove::test
