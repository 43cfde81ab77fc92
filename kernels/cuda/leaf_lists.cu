#include "kernels/cuda/leaf_lists.hpp"

#include "kernels/cuda/check.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 128;

/// One block per leaf.
__global__ void __launch_bounds__(threads) number(const LeafPlaces* leaves, std::uint32_t* leaf_of_group) {
  const LeafPlaces leaf = leaves[blockIdx.x];
  const int groups = (leaf.count + group_size - 1) / group_size;
  for (int g = static_cast<int>(threadIdx.x); g < groups; g += threads)
    leaf_of_group[leaf.group + static_cast<std::uint64_t>(g)] = blockIdx.x;
}

__global__ void __launch_bounds__(threads) collect(const LeafTrees trees, LeafNotice* notices) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= trees.count) return;
  const TargetBounds bounds = trees.bounds[i];
  const std::uint64_t root = trees.leaves[i].node;
  notices[i] = {{trees.core[root], trees.moments[root], bounds.low, bounds.high, trees.origin[i]}, bounds};
}

}  // namespace

void number_groups(const LeafPlaces* leaves, std::uint32_t count, std::uint32_t* leaf_of_group) {
  if (count == 0) return;
  number<<<count, threads>>>(leaves, leaf_of_group);
  launched("Grove::cuda::number_groups");
}

void collect_notices(const LeafTrees& trees, LeafNotice* notices) {
  if (trees.count == 0) return;
  collect<<<(trees.count + threads - 1) / threads, threads>>>(trees, notices);
  launched("Grove::cuda::collect_notices");
}

}  // namespace grove::cuda
