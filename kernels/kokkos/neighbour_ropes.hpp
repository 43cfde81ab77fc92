#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kernels/math/neighbour_tree.hpp"

namespace grove {

/// The walk through neighbours on an execution space of Kokkos, a device or the host, and waits for it. The
/// arrays of the tree and those of the visitor (kernels/math/neighbour_tree.hpp) are in memory of that space.
/// targets: particles 0 to targets - 1, each by itself along the ropes of the tree. Sums get their terms in
/// the order in which walks on the host add them. Cost: a test for each node near a target, and its
/// neighbours.
template <class Space, class Visitor>
void walk_neighbours_on(const Space& space, const NeighbourTree& tree, std::uint32_t targets,
                        const Visitor& visitor) {
  Kokkos::parallel_for("Grove::neighbours::ropes", Kokkos::RangePolicy<Space>(space, 0, targets),
                       NeighbourRopes<Visitor>{tree, visitor});
  space.fence();
}

}  // namespace grove
