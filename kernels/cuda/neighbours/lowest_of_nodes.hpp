#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::cuda {

/// Nodes of more particles are not looked into by lowest_of_nodes().
inline constexpr std::uint32_t most_particles_looked_into = 2048;

/// By node, in device memory: at most the lowest value of those of its particles that take part, so that
/// walks which look for lower ones can pass nodes by. 0 for nodes of several leaves, or of more than
/// most_particles_looked_into. value (device): [particles], of all that the tree has. Cost: a pass over
/// particles and nodes.
DeviceArray<std::uint8_t> lowest_of_nodes(const NeighbourTree& tree, const std::uint8_t* value,
                                          std::size_t particles);

}  // namespace grove::cuda
