#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/direct/direct_sum.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The most interactions that Particles::work holds.
inline constexpr Count most_work = ~std::uint32_t{0};

/// Fills in what the particles of each own leaf do to each target, for G = 1: a row of targets per leaf.
using LeafForces = std::function<void(std::span<const DirectTarget> targets, std::span<DirectForce> forces)>;

/// Direct summation over the leaves of all ranks, times G: terms per leaf are added exactly (exact_sums), so
/// that the bits do not depend on the number of ranks. own_leaves: of this rank; all_leaves: of all. targets
/// (in): the same on every rank; result: of the same length. Collective. Cost: two reductions per 64 targets.
std::vector<DirectForce> add_over_leaves(const Communicator& comm, double gravitational_constant,
                                         std::size_t own_leaves, Count all_leaves,
                                         std::span<const DirectTarget> targets,
                                         const LeafForces& forces_of_leaves);

/// Direct summation in double precision over all particles of all ranks, times G. The same bits for any
/// number of ranks: summed per leaf in particle order, and the leaves' sums are added exactly (exact_sums).
/// Collective. targets (in): the same on every rank; result: of the same length. Cost: targets * N / P pairs,
/// and two reductions per 64 targets.
std::vector<DirectForce> direct_forces(const Communicator& comm, const Particles& particles,
                                       const Domain& domain, const GravityParameters& parameters,
                                       std::span<const DirectTarget> targets);

/// Sets accelerations, potentials and work of the particles of all ranks that are active, on rungs from
/// first_active on, by direct summation. Collective. The same bits for any number of ranks, as above. Cost:
/// N_active * N / P pairs, and memory for N_active targets.
void evaluate_directly(const Communicator& comm, Particles& particles, const Domain& domain,
                       const GravityParameters& parameters, int first_active);

}  // namespace grove
