#pragma once

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/math/potentials.hpp"
#include "kernels/math/totals.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The totals of all particles of all ranks, the same bits on every rank and for any number of ranks: summed
/// per leaf in particle order, then in the order of the tree. Collective. The particles lie leaf by leaf
/// (domain.leaf_begin), inside a leaf in an order that does not depend on the number of ranks; that of the
/// last force evaluation is such a one. field: external potentials. Cost: one pass over the particles.
Totals compute_totals(const Communicator& comm, const Particles& particles, const Domain& domain,
                      const ExternalField& field = {});

}  // namespace grove
