#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "forest/tree_builder.hpp"
#include "neighbours/friend_finder.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The group that a particle belongs to: the least id of its members, and the rank of that one.
struct GroupLabel {
  ParticleId id;
  std::int32_t rank;

  friend bool operator<(const GroupLabel& a, const GroupLabel& b) { return a.id < b.id; }
  friend bool operator==(const GroupLabel&, const GroupLabel&) = default;
};

/// Friends of friends: particles closer than `length` belong to one group, and so do friends of its members
/// (Davis et al. 1985, ApJ 292, 371). Returns the group of each own particle, the same on any number of
/// ranks.
///
/// particles (in): in tree order, those of the domain; length (in): positive, less than half of the edge of a
/// periodic box; finder: links what is on a rank, particles of others that are near included. Collective.
/// Cost: that of Neighbours::search() and of the finder; then a message between neighbouring ranks for each
/// rank that a group reaches over, one after the other.
Array<GroupLabel> link_friends(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                               const Particles& particles, double length, const Images& images,
                               const FriendFinder& finder = HostFriends());

}  // namespace grove
