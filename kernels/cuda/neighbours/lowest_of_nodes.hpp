#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::cuda {

/// lowest_of_nodes() looks into nodes of up to so many particles.
inline constexpr std::uint32_t most_particles_looked_into = 2048;

/// A lower bound of the values in each node, in device memory: no particle of the node that takes part has a
/// lower value. So a walk that looks for lower values skips the node. The bound is 0 for nodes of several
/// leaves and for those of more than most_particles_looked_into. value (device): [particles], own and
/// imported. Cost: a pass over particles and nodes.
DeviceArray<std::uint8_t> lowest_of_nodes(const NeighbourTree& tree, const std::uint8_t* value,
                                          std::size_t particles);

}  // namespace grove::cuda
