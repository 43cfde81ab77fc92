#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/domain.hpp"
#include "particles/particles.hpp"

/// Checks and figures of a finished decomposition. All collective, with the same result on every rank.
namespace grove {

/// Counts everything again, from the particles alone, and compares: every particle in the leaf that the cuts
/// lead it to, on the rank that owns it; counts, weights, tight bounds and numbering of all cells; the cut of
/// every cell exactly where the rule says. Returns what is wrong first; empty: nothing.
/// Cost: O(N/P depth), memory O(cells).
std::string check_domain(const Communicator& comm, const Particles& particles,
                         const DecompositionParameters& parameters, const Domain& domain);

/// A hash of the cells and cuts in tree order and of the leaf of every particle id. Does not depend on the
/// number of ranks, nor on the order of particles.
std::uint64_t tree_hash(const Communicator& comm, const Particles& particles, const Domain& domain);

/// The weight of the busiest rank over the mean.
double imbalance(const Domain& domain);

/// Longest over shortest side of the tight bounds of leaves.
struct AspectRatios {
  double median, p99;
};
AspectRatios aspect_ratios(const Domain& domain);

}  // namespace grove
