#pragma once

#include <functional>

#include "base/timers.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_transfer.hpp"

namespace grove {

/// Backend::move_leaves(), whatever memory particles and trees are in. carry(particles, before) takes those
/// of this rank along; before: the owners of leaves until now.
void move_leaves(const Communicator& comm, Domain& domain, LeafOwners owners, PhaseTimers& timers,
                 const std::function<void(const LeafTransfer& particles, const LeafOwners& before)>& carry);

}  // namespace grove
