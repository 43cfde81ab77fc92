#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

/// Finds friends of friends among the particles of a rank. All of them find the same.
class FriendFinder {
 public:
  virtual ~FriendFinder() = default;

  /// Unites particles closer than the length. neighbours (in): has searched for it; returns for each of its
  /// particles, own and imported, the least number of its group.
  virtual Array<std::uint32_t> find(const Neighbours& neighbours, double length) const = 0;
};

/// On the host. Cost: nodes that are smaller than the length are united, and passed over by what is united
/// with them already, so about one search for each particle.
class HostFriends : public FriendFinder {
 public:
  Array<std::uint32_t> find(const Neighbours& neighbours, double length) const override;
};

}  // namespace grove
