#pragma once

#include "kernels/host/group_walk.hpp"
#include "kernels/host/list_sums.hpp"
#include "kernels/math/local_expansion.hpp"

namespace grove {

/// Adds what the cells of a group's lists do that are expanded about its middle, and takes those that are
/// beyond softening from its near cells. frame, target: the group's.
void sum_expanded(const ExpansionFrame& frame, const TargetBounds& target, const LocalTree& tree,
                  InteractionLists& lists, GroupLanes& lanes);

}  // namespace grove
