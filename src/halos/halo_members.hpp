#pragma once

#include <cstddef>

#include "comm/communicator.hpp"
#include "halos/group_members.hpp"
#include "halos/halo.hpp"

namespace grove {

/// Measures all that follows from the members of a group alone. R200 and M200 are 0. Sums go in the order
/// of the members. A potential is softened by a tenth of the linking length. alone: a communicator of this
/// rank. Cost: that of deepest_member(), and a sort by radius.
Halo measure_members(const Communicator& alone, const GroupMembers& members, std::size_t group,
                     const HaloOptions& options);

}  // namespace grove
