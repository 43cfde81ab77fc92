#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/node.hpp"

/// Who is to be walked under block time steps.
namespace grove::cuda {

/// Numbers of groups, or of particles, in ascending order. Device memory.
struct ActiveList {
  DeviceArray<std::uint32_t> numbers;  ///< the first `count`
  std::uint32_t count = 0;
};

/// Groups that have active particles. groups (device): `count`, as an update leaves them. targets_per_warp:
/// group_size; or twice that: of each pair of groups of a leaf, the first, if either has any. Cost: one pass
/// over the groups.
ActiveList active_groups(const Group* groups, std::uint32_t count, int targets_per_warp);

/// Particles on rungs of at least first_active. rung (device): `count`. Cost: one pass.
ActiveList active_particles(const std::uint8_t* rung, std::size_t count, int first_active);

}  // namespace grove::cuda
