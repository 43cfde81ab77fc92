#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "forest/forest.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// Forces are computed in single precision. Positions that it cannot hold are refused here, so that no
/// force is silently wrong.
namespace grove {

/// A particle's distance from the mean place of all.
struct FarParticle {
  double distance;
  ParticleId id;
};

/// Refuses masses and lengths whose forces or potentials would be out of the range of a float, and softening
/// lengths too small beside the box. farthest: collective, asked for only where a message names it; box_edge:
/// of the root cube; units: those of the walk; count: particles of all ranks; has_mass: whether any has. The
/// same on every rank, and so is the InputError.
void check_range(const std::function<FarParticle()>& farthest, const GravityParameters& gravity,
                 const WalkUnits& units, double box_edge, Count count, bool has_mass);

/// The farthest one of all ranks. Collective.
FarParticle farthest_particle(const Communicator& comm, const Particles& particles);

/// Finds two particles whose separation is lost when their places are rounded relative to the origin of their
/// leaf, though their softening does not cover it: what is wrong, and what would be right; empty if there are
/// none. Looks at particles within a group's length of each other in tree order. leaf_begin (in): of the own
/// leaves; forest: after update(). Cost: O(N/P), and group_size times that for particles that their softening
/// does not cover.
std::string lost_separation(const Particles& particles, std::span<const Count> leaf_begin,
                            const Forest& forest, const GravityParameters& gravity);

/// A message: what is wrong with two such particles, and what would be right. from_origin: the first one's
/// place relative to the origin of its leaf.
std::string describe_lost_separation(ParticleId first, ParticleId second, const Vec3d& separation,
                                     const Vec3d& from_origin);

}  // namespace grove
