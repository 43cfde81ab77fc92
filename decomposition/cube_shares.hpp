#pragma once

#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/shares.hpp"

namespace grove {

/// Shares the root cube out, whatever lies in it: geometric cells that reach over a rank boundary and are not
/// light are divided, some thousand at a time, until none is left. The same on all ranks. Collective.
///
/// weigh: the weight of this rank's particles in each part; begin: of the parts, in Morton's order, the first
/// one at 0. shares_of: for this weight in all. Cost: two to five rounds, of a call of `weigh` and a sum of
/// at most 4096 counts, or 8 for each rank.
KeyRanges share_out_cube(
    const Communicator& comm,
    const std::function<std::vector<Count>(std::span<const IntegerPosition> begin)>& weigh,
    const std::function<Shares(Count weight)>& shares_of);

}  // namespace grove
