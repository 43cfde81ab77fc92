#pragma once

#include <cstdint>

#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove::bench {

/// numbers (out, device): of the neighbours of each own particle.
void count_neighbours(const NeighbourTree& tree, const cuda::NeighbourGroups& groups, std::uint32_t* numbers);

}  // namespace grove::bench
