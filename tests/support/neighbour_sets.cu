#include "support/neighbour_sets.hpp"

#include "kernels/cuda/neighbours/neighbour_walk.cuh"

namespace grove::test {

void collect_sets(const NeighbourTree& tree, const cuda::NeighbourGroups& groups,
                  const CollectSets& visitor) {
  cuda::walk_neighbour_groups(tree, groups, visitor, "collect_sets");
}

}  // namespace grove::test
