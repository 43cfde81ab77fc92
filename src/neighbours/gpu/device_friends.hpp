#pragma once

#include "neighbours/friend_finder.hpp"

namespace grove {

/// Friends by cells of a grid on the GPU of this rank (kernels/cuda/neighbours/friend_linking.hpp): positions
/// go there, and numbers come back. The host finds them instead where the GPU has no room beside what is
/// there, and where positions are too far apart for a grid.
class DeviceFriends : public FriendFinder {
 public:
  /// users: ranks that share the GPU, which was taken (take_devices()).
  explicit DeviceFriends(int users) : users_(users) {}

  /// Cost: 28 bytes a particle cross to the GPU and back.
  Array<std::uint32_t> find(const Neighbours& neighbours, double length) const override;

 private:
  bool has_room(std::size_t particles) const;

  int users_;
};

}  // namespace grove
