#pragma once

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "halos/friends.hpp"
#include "support/friend_sets.hpp"

namespace grove::test {

/// The particles of a set, over all ranks, in trees; ids are their numbers.
struct FriendsOnRanks {
  const Communicator& comm;
  Particles particles;
  Domain domain;
  Forest forest;

  FriendsOnRanks(const Communicator& on, FriendSet set, std::uint64_t count)
      : comm(on),
        particles(scattered(on, count, [&](std::uint64_t i) { return friend_place(set, i, count); })) {
    DecompositionReport report;
    domain = decompose(comm, particles, {}, {}, report);
    forest.build(particles, domain.box, domain.leaf_begin);
  }

  Array<GroupLabel> link(double length, double period, const FriendFinder& finder = HostFriends()) const {
    return link_friends(comm, domain, forest.shapes(), particles, length, Images{period}, finder);
  }
};

}  // namespace grove::test
