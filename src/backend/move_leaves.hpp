#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/timers.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_transfer.hpp"

namespace grove {

/// Backend::move_leaves(), whatever memory particles and trees are in. carry(particles, before) takes those
/// of this rank along; before: the runs of leaves until now, Domain::first_leaf.
void move_leaves(
    const Communicator& comm, Domain& domain, std::vector<std::int32_t> first_leaf, PhaseTimers& timers,
    const std::function<void(const LeafTransfer& particles, const std::vector<std::int32_t>& before)>& carry);

}  // namespace grove
