#include "let/totals.hpp"

#include <cstddef>
#include <vector>

#include "let/leaf_sum.hpp"

namespace grove {

Totals operator+(Totals a, const Totals& b) {
  a.mass += b.mass;
  a.kinetic_energy += b.kinetic_energy;
  a.potential_energy += b.potential_energy;
  a.absolute_momentum += b.absolute_momentum;
  a.momentum += b.momentum;
  a.angular_momentum += b.angular_momentum;
  a.mass_moment += b.mass_moment;
  return a;
}

namespace {

Totals of_particle(const Particles& particles, std::size_t i) {
  const double mass = particles.mass[i], speed2 = norm2(particles.velocity[i]);
  const Vec3d momentum = mass * particles.velocity[i];
  return {.mass = mass,
          .kinetic_energy = 0.5 * mass * speed2,
          .potential_energy = 0.5 * mass * static_cast<double>(particles.potential[i]),
          .absolute_momentum = mass * std::sqrt(speed2),
          .momentum = momentum,
          .angular_momentum = cross(particles.position[i], momentum),
          .mass_moment = mass * particles.position[i]};
}

}  // namespace

Totals compute_totals(const Communicator& comm, const Particles& particles, const Domain& domain) {
  std::vector<Totals> leaves(domain.leaf_begin.empty() ? 0 : domain.leaf_begin.size() - 1);
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(domain.leaf_begin[leaf]);
    const auto end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
    for (std::size_t i = begin; i < end; ++i) leaves[leaf] = leaves[leaf] + of_particle(particles, i);
  }
  return LeafSum<Totals>(comm, domain, leaves)();
}

}  // namespace grove
