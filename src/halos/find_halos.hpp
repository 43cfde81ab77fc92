#pragma once

#include <vector>

#include "comm/communicator.hpp"
#include "halos/group_members.hpp"
#include "halos/halo.hpp"
#include "neighbours/friend_finder.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The halos whose first member is on this rank, by the least id of their members, and these.
struct FoundHalos {
  std::vector<Halo> halos;
  GroupMembers members;
};

/// Finds groups by friends of friends, and measures them. The same on any number of ranks, but for which rank
/// has which halos.
///
/// particles (in/out): brought to the ranks that own their places, in tree order; in a periodic box into it.
/// options.length: positive, less than half the edge of a periodic box. finder: see link_friends().
/// Collective; InputError as decompose() has it. Cost: a decomposition, a tree, a search of neighbours, and
/// what each group takes (measure_members(), find_r200()).
FoundHalos find_halos(const Communicator& comm, Particles& particles, const HaloOptions& options,
                      const FriendFinder& finder = HostFriends());

}  // namespace grove
