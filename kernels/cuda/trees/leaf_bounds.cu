#include "kernels/cuda/trees/leaf_bounds.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp_bounds.cuh"

namespace grove::cuda {
namespace {

__device__ void widen(LeafBounds& all, const LeafBounds& more) {
  grove::widen(all.active, more.active.low, more.active.high, more.active.inverse_tolerance,
               more.active.softening);
  grove::widen(all.all, more.all.low, more.all.high, 0, 0);
}
__device__ LeafBounds union_of_leaf_bounds(const LeafBounds& own) {
  return {warp_union(own.active), warp_union(own.all)};
}

/// The bounds of equal parts of each leaf. Blocks along y share a leaf, a part each.
__global__ void __launch_bounds__(threads) bound_parts(const LeafTrees trees, LeafBounds* parts) {
  __shared__ LeafBounds of_warp[warps];
  const LeafPlaces& leaf = trees.leaves[blockIdx.x];
  const Group* groups = trees.groups + leaf.group;
  const auto count = static_cast<std::uint32_t>(leaf.groups);
  LeafBounds bounds{no_bounds(), no_bounds()};
  for (std::uint32_t g = blockIdx.y * threads + threadIdx.x; g < count; g += gridDim.y * threads) {
    const TargetBounds& b = groups[g].bounds;
    widen(bounds, {groups[g].active != 0 ? b : no_bounds(), b});
  }
  bounds = union_of_leaf_bounds(bounds);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = bounds;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  bounds = union_of_leaf_bounds(of_warp[threadIdx.x % warps]);
  if (threadIdx.x == 0) parts[blockIdx.x * gridDim.y + blockIdx.y] = bounds;
}

/// A warp per leaf.
__global__ void join_parts(const LeafTrees trees, const LeafBounds* parts, std::uint32_t number) {
  const std::uint32_t l = (blockIdx.x * threads + threadIdx.x) / 32;
  if (l >= trees.count) return;
  LeafBounds bounds{no_bounds(), no_bounds()};
  for (std::uint32_t p = threadIdx.x % 32; p < number; p += 32) widen(bounds, parts[l * number + p]);
  bounds = union_of_leaf_bounds(bounds);
  if (threadIdx.x % 32 != 0) return;
  trees.bounds[l] = bounds.active;
  trees.boxes[l] = {bounds.all.low, bounds.all.high};
}

}  // namespace

void bound_leaves(const LeafTrees& trees, std::uint32_t groups, DeviceArray<LeafBounds>& parts) {
  if (trees.count == 0) return;
  const unsigned blocks = std::min(enough_blocks, blocks_for(groups));
  const unsigned per_leaf = std::max(1U, blocks / trees.count);
  parts.reserve(std::size_t{trees.count} * per_leaf);
  bound_parts<<<dim3(trees.count, per_leaf), threads>>>(trees, parts.data());
  join_parts<<<(trees.count + warps - 1) / warps, threads>>>(trees, parts.data(), per_leaf);
  launched("Grove::cuda::bound_leaves", 0, 2);
}

}  // namespace grove::cuda
