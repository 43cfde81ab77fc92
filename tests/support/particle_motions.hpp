#pragma once

#include <cstdint>
#include <utility>

#include "kernels/math/decomposition_parameters.hpp"
#include "support/particle_sets.hpp"

namespace grove::test {

/// Rule `domains` with these sizes.
inline DecompositionParameters domains(Count leaf_size, Count domain_cell) {
  DecompositionParameters p;
  p.rule = CutRule::domains;
  p.leaf_size = leaf_size;
  p.domain_cell = domain_cell;
  return p;
}

/// Motions of particles between two decompositions. All stay in the first cube.
enum class Motion {
  none,
  small,
  swap_axes,
  into_a_corner,
  most_into_a_corner,
  back,
  into_two_clusters,  ///< small ones, which no face of a large cell meets
  grow_clusters       ///< these
};

/// The middle of the cluster that a particle is in.
inline Vec3d cluster_of(ParticleId id) { return id % 2 == 0 ? Vec3d{0.7, 0.8, 0.65} : Vec3d{0.3, 0.3, 0.3}; }

inline void move(Particles& particles, Motion motion, int round) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    Vec3d& p = particles.position[i];
    const std::uint64_t seed = 3 * particles.id[i] + 1000003 * static_cast<std::uint64_t>(round);
    const Vec3d u{uniform(seed), uniform(seed + 1), uniform(seed + 2)};
    const Vec3d middle{0.5, 0.5, 0.5};
    if (motion == Motion::small) p = 0.98 * (p - middle) + middle + 0.02 * (u - middle);
    if (motion == Motion::swap_axes) std::swap(p.x, p.z);
    if (motion == Motion::into_a_corner) p = 0.01 * p;
    if (motion == Motion::most_into_a_corner && particles.id[i] % 16 > 0) p = 0.01 * p;
    if (motion == Motion::back) p = u;
    const Vec3d centre = cluster_of(particles.id[i]);
    if (motion == Motion::into_two_clusters) p = centre + 0.02 * (p - middle);
    if (motion == Motion::grow_clusters) p = centre + 1.3 * (p - centre);
  }
}

}  // namespace grove::test
