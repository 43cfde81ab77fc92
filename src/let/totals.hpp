#pragma once

#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Sums over all particles of all ranks, in the units of the run.
struct Totals {
  double mass = 0;
  double kinetic_energy = 0;     ///< sum of m v^2 / 2
  double potential_energy = 0;   ///< sum of m phi / 2, from the last force evaluation
  double absolute_momentum = 0;  ///< sum of m |v|: what the size of `momentum` is judged against
  Vec3d momentum{};              ///< sum of m v
  Vec3d angular_momentum{};      ///< sum of m x cross v, about the origin of coordinates
  Vec3d mass_moment{};           ///< sum of m x

  double total_energy() const { return kinetic_energy + potential_energy; }
  Vec3d centre_of_mass() const { return mass > 0 ? (1 / mass) * mass_moment : Vec3d{}; }

  friend Totals operator+(Totals a, const Totals& b);
};

/// The totals, the same bits on every rank and for any number of ranks: summed per leaf in particle order,
/// then in the order of the tree. Collective. The particles lie leaf by leaf (domain.leaf_begin), inside a
/// leaf in an order that does not depend on the number of ranks; that of the last force evaluation is such a
/// one. Cost: one pass over the particles.
Totals compute_totals(const Communicator& comm, const Particles& particles, const Domain& domain);

}  // namespace grove
