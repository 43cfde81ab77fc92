#include "kernels/cuda/leaf_bounds.hpp"

#include <algorithm>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/warp_bounds.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned enough_blocks = 2048;  // for any GPU

/// The bounds of equal parts of each leaf. Blocks along y share a leaf, a part each.
__global__ void __launch_bounds__(threads) bound_parts(const LeafTrees trees, TargetBounds* parts) {
  __shared__ TargetBounds of_warp[warps];
  const LeafPlaces& leaf = trees.leaves[blockIdx.x];
  const Group* groups = trees.groups + leaf.group;
  const auto count = static_cast<std::uint32_t>((leaf.count + group_size - 1) / group_size);
  TargetBounds bounds = no_bounds();
  for (std::uint32_t g = blockIdx.y * threads + threadIdx.x; g < count; g += gridDim.y * threads) {
    const TargetBounds& b = groups[g].bounds;
    widen(bounds, b.low, b.high, b.strictness, b.softening);
  }
  bounds = warp_union(bounds);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = bounds;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  bounds = warp_union(of_warp[threadIdx.x % warps]);
  if (threadIdx.x == 0) parts[blockIdx.x * gridDim.y + blockIdx.y] = bounds;
}

/// A warp per leaf.
__global__ void join_parts(const LeafTrees trees, const TargetBounds* parts, std::uint32_t number) {
  const std::uint32_t l = (blockIdx.x * threads + threadIdx.x) / 32;
  if (l >= trees.count) return;
  TargetBounds bounds = no_bounds();
  for (std::uint32_t p = threadIdx.x % 32; p < number; p += 32) {
    const TargetBounds& b = parts[l * number + p];
    widen(bounds, b.low, b.high, b.strictness, b.softening);
  }
  bounds = warp_union(bounds);
  if (threadIdx.x % 32 == 0) trees.bounds[l] = bounds;
}

}  // namespace

void bound_leaves(const LeafTrees& trees, std::uint32_t groups, DeviceArray<TargetBounds>& parts) {
  if (trees.count == 0) return;
  const unsigned blocks = std::min(enough_blocks, (groups + threads - 1) / threads);
  const unsigned per_leaf = std::max(1U, blocks / trees.count);
  parts.reserve(std::size_t{trees.count} * per_leaf);
  bound_parts<<<dim3(trees.count, per_leaf), threads>>>(trees, parts.data());
  join_parts<<<(trees.count + warps - 1) / warps, threads>>>(trees, parts.data(), per_leaf);
  launched("Grove::cuda::bound_leaves");
}

}  // namespace grove::cuda
