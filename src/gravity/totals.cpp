#include "gravity/totals.hpp"

#include <cstddef>
#include <vector>

#include "leaf_sum.hpp"

namespace grove {

Totals compute_totals(const Communicator& comm, const Particles& particles, const Domain& domain,
                      const ExternalField& field) {
  std::vector<Totals> leaves(domain.leaf_begin.empty() ? 0 : domain.leaf_begin.size() - 1);
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(domain.leaf_begin[leaf]);
    const auto end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
    for (std::size_t i = begin; i < end; ++i)
      leaves[leaf] = leaves[leaf] + Totals::of_particle(particles.mass[i], particles.position[i],
                                                        particles.velocity[i], particles.potential[i],
                                                        field.at(particles.position[i]).potential);
    for (std::size_t i = begin; particles.has_gas && i < end; ++i)
      if (particles.type[i] == gas_type)
        leaves[leaf].add_gas(particles.mass[i], particles.velocity[i], particles.internal_energy[i],
                             particles.energy_rate[i], particles.hydro_acceleration[i]);
  }
  return LeafSum<Totals>(comm, domain, leaves)();
}

}  // namespace grove
