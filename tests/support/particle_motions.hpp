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
enum class Motion { none, small, swap_axes, into_a_corner, most_into_a_corner, back };

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
  }
}

}  // namespace grove::test
