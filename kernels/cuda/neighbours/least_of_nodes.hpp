#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::cuda {

/// By node, in device memory: at most the least number of its particles, so that searches for smaller ones
/// can pass nodes by. 0 for nodes of several leaves or of more than 2048 particles. number (device): of so
/// many particles. Cost: a pass over particles and nodes.
DeviceArray<std::uint8_t> least_of_nodes(const NeighbourTree& tree, const std::uint8_t* number,
                                         std::size_t particles);

}  // namespace grove::cuda
