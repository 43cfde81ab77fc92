#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

/// Finds friends of friends among the particles of a rank. Friends are closer than the linking length, as
/// neighbours are. All finders unite own particles with their friends, own and imported. Imported ones may be
/// left to their owners where they are friends of each other. So groups within a rank differ by finder, those
/// over all ranks do not (link_friends()).
class FriendFinder {
 public:
  virtual ~FriendFinder() = default;

  /// neighbours (in): has searched for this linking length, in length units of the run; returns
  /// [neighbours.size()], for each of its particles, own and imported, the least number of its group here.
  /// Not collective.
  virtual Array<std::uint32_t> find(const Neighbours& neighbours, double length) const = 0;
};

/// On the host. Cost: nodes that are smaller than the length are united, and passed over by what is united
/// with them already, so about one search for each particle.
class HostFriends : public FriendFinder {
 public:
  Array<std::uint32_t> find(const Neighbours& neighbours, double length) const override;
};

}  // namespace grove
