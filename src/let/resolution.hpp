#pragma once

#include <span>
#include <string>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "forest/forest.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// Forces are computed in single precision. What that cannot hold is refused here, so that no force is
/// silently wrong.
namespace grove {

/// Refuses masses and lengths whose forces or potentials would be out of the range of a float, and softening
/// lengths too small beside the box. box_edge: of the root cube; units: those of the walk; count: particles
/// of all ranks; has_mass: whether any has. All but the particles the same on every rank. Collective;
/// InputError on all ranks.
void check_range(const Communicator& comm, const Particles& particles, const GravityParameters& gravity,
                 const WalkUnits& units, double box_edge, Count count, bool has_mass);

/// Finds two particles whose separation is lost when their places are rounded relative to the origin of their
/// leaf, though their softening does not cover it: what is wrong, and what would be right; empty if there are
/// none. Looks at particles within a group's length of each other in tree order. leaf_begin (in): of the own
/// leaves; forest: after update(). Cost: O(N/P), and group_size times that for particles that their softening
/// does not cover.
std::string lost_separation(const Particles& particles, std::span<const Count> leaf_begin,
                            const Forest& forest, const GravityParameters& gravity);

}  // namespace grove
