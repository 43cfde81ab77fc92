#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/direct/direct_sum.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Direct summation in double precision over all particles of all ranks, times G. The same bits for any
/// number of ranks: summed per leaf in particle order, and the leaves' sums are added exactly (exact_sums).
/// Collective. targets (in): the same on every rank; result: of the same length. Cost: targets * N / P pairs,
/// and two reductions per 64 targets.
std::vector<DirectForce> direct_forces(const Communicator& comm, const Particles& particles,
                                       const Domain& domain, const GravityParameters& parameters,
                                       std::span<const DirectTarget> targets);

}  // namespace grove
