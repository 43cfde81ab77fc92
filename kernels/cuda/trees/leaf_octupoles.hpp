#pragma once

#include <cstdint>

#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// Puts the octupoles of all nodes into their moments (kernels/math/octupole.hpp), from particles and centres
/// of mass as an update leaves them. nodes: of all leaves together. Each is summed in an order that follows
/// from the number of its particles alone, in single precision. Cost: O(particles x depth).
void find_octupoles(const LeafTrees& trees, std::uint32_t nodes);

}  // namespace grove::cuda
