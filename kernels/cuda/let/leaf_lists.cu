#include "kernels/cuda/let/leaf_lists.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/math/group_cuts.hpp"

namespace grove::cuda {
namespace {

constexpr int list_threads = 128;

/// Blocks along y share a leaf.
__global__ void __launch_bounds__(list_threads)
    number(const LeafPlaces* leaves, std::uint32_t* leaf_of_group) {
  const LeafPlaces leaf = leaves[blockIdx.x];
  const auto groups = static_cast<std::uint32_t>(full_groups(leaf.count));
  for (std::uint32_t g = blockIdx.y * list_threads + threadIdx.x; g < groups; g += gridDim.y * list_threads)
    leaf_of_group[leaf.group + g] = blockIdx.x;
}

__global__ void __launch_bounds__(list_threads) collect(const LeafTrees trees, LeafNotice* notices) {
  const std::uint32_t i = blockIdx.x * list_threads + threadIdx.x;
  if (i >= trees.count) return;
  const TightBox box = trees.boxes[i];
  const std::uint64_t root = trees.leaves[i].node;
  notices[i] = {{trees.core[root], trees.moments[root], box.low, box.high, trees.origin[i]}, trees.bounds[i]};
}

__global__ void __launch_bounds__(list_threads)
    place(const LeafNotice* notices, std::size_t leaves, NodeCore* core, NodeMoments* moments,
          NodeLinks* links) {
  const std::size_t i = blockIdx.x * std::size_t{list_threads} + threadIdx.x;
  if (i >= leaves) return;
  core[i] = notices[i].root.core;
  moments[i] = notices[i].root.moments;
  links[i] = {NodeLinks::pruned, -1, 0, 0};
}

}  // namespace

void number_groups(const LeafPlaces* leaves, std::uint32_t count, std::uint32_t* leaf_of_group) {
  if (count == 0) return;
  constexpr std::uint32_t enough_blocks = 1024;  // for any GPU
  number<<<dim3(count, std::max(1u, enough_blocks / count)), list_threads, 0, stream()>>>(leaves,
                                                                                          leaf_of_group);
  launched("Grove::cuda::number_groups");
}

void collect_notices(const LeafTrees& trees, LeafNotice* notices) {
  if (trees.count == 0) return;
  collect<<<blocks_for(trees.count, list_threads), list_threads, 0, stream()>>>(trees, notices);
  launched("Grove::cuda::collect_notices");
}

void place_roots(const LeafNotice* notices, std::size_t leaves, NodeCore* core, NodeMoments* moments,
                 NodeLinks* links) {
  if (leaves == 0) return;
  place<<<blocks_for(leaves, list_threads), list_threads, 0, stream()>>>(notices, leaves, core, moments,
                                                                         links);
  launched("Grove::cuda::place_roots");
}

}  // namespace grove::cuda
