#include "bench/count_neighbours.hpp"

#include "kernels/cuda/neighbours/neighbour_walk.cuh"

namespace grove::bench {
namespace {

struct CountNeighbours {
  struct Sum {
    std::uint32_t number = 0;
  };
  std::uint32_t* numbers;
  GROVE_HOST_DEVICE void particle(Sum& sum, const NeighbourPair&) const { ++sum.number; }
  GROVE_HOST_DEVICE void finish(std::uint32_t target, const Sum& sum) const { numbers[target] = sum.number; }
};

}  // namespace

void count_neighbours(const NeighbourTree& tree, const cuda::NeighbourGroups& groups,
                      std::uint32_t* numbers) {
  cuda::walk_neighbour_groups(tree, groups, CountNeighbours{numbers}, "count_neighbours");
}

}  // namespace grove::bench
