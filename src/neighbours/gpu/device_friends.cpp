#include "neighbours/gpu/device_friends.hpp"

#include <span>

#include "kernels/cuda/device/available_memory.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/neighbours/friend_linking.hpp"

namespace grove {
namespace {

/// With positions and results.
constexpr double bytes_per_particle =
    cuda::FriendLinking::bytes_per_particle + sizeof(Vec3d) + sizeof(std::uint32_t);

}  // namespace

Array<std::uint32_t> DeviceFriends::find(const Neighbours& neighbours, double length) const {
  const std::size_t count = neighbours.size();
  const NeighbourTree tree = neighbours.tree();
  if (has_room(count)) {
    const cuda::SpareMemory spare;
    const cuda::MemoryPurpose purpose("friends of friends", count, bytes_per_particle);
    const cuda::DeviceArray<Vec3d> position(std::span(tree.position, count));
    const cuda::DeviceArray<std::uint32_t> least(count);
    if (cuda::link_friends(position.data(), count, length, tree.nearest, least.data())) {
      Array<std::uint32_t> found(count);
      least.download(found);
      return found;
    }
  }
  return HostFriends().find(neighbours, length);
}

/// A share of what nobody has taken, with some of it left.
bool DeviceFriends::has_room(std::size_t particles) const {
  const auto room =
      static_cast<double>(cuda::available_device_memory() - cuda::device_memory_use().now) / users_;
  return 1.1 * bytes_per_particle * static_cast<double>(particles) < room;
}

}  // namespace grove
