#include "kernels/cuda/trees/block_work.hpp"

#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

/// A warp per group.
__global__ void __launch_bounds__(threads)
    sum_groups(const LeafTrees trees, const std::uint32_t* leaf_of_group, std::uint32_t groups,
               const std::uint32_t* work, const std::uint32_t* block_of_leaf, BlockWork* sums) {
  const std::uint32_t g = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (g >= groups) return;
  const Group& group = trees.groups[g];
  const std::uint32_t active = group.active;
  if (active == 0) return;
  const std::uint32_t leaf = leaf_of_group[g];
  const bool is_active = static_cast<std::int32_t>(lane) < group.count && active >> lane & 1U;
  const std::uint64_t p = trees.leaves[leaf].first + static_cast<std::uint64_t>(group.first) + lane;
  const std::uint32_t own = is_active ? work[p] : 0;
  const std::uint64_t low = __reduce_add_sync(~0U, own & 0xffffU), high = __reduce_add_sync(~0U, own >> 16);
  const int count = __popc(__ballot_sync(~0U, is_active));
  if (lane != 0) return;
  BlockWork& sum = sums[block_of_leaf[leaf]];
  static_assert(sizeof(Count) == sizeof(unsigned long long));
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum.active), static_cast<unsigned long long>(count));
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum.interactions),
            static_cast<unsigned long long>(low + (high << 16)));
}

/// Blocks along y share a leaf: there may be but one, with all particles.
constexpr unsigned blocks_of_leaf = 8;

__global__ void __launch_bounds__(threads)
    sum_leaves(const std::uint32_t* work, const Count* leaf_begin, unsigned long long* sums) {
  using Reduce = cub::BlockReduce<unsigned long long, threads>;
  __shared__ typename Reduce::TempStorage shared;
  const Count begin = leaf_begin[blockIdx.x], end = leaf_begin[blockIdx.x + 1];
  unsigned long long own = 0;
  for (Count i = begin + blockIdx.y * threads + threadIdx.x; i < end; i += blocks_of_leaf * threads)
    own += work[i];
  const unsigned long long sum = Reduce(shared).Sum(own);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(&sums[blockIdx.x], sum);
}

}  // namespace

void sum_leaf_work(const std::uint32_t* work, std::span<const Count> leaf_begin, std::span<Count> sums) {
  if (sums.empty()) return;
  const DeviceArray<Count> begins(leaf_begin);
  DeviceArray<unsigned long long> device_sums(sums.size());
  device_sums.clear();
  sum_leaves<<<dim3(static_cast<unsigned>(sums.size()), blocks_of_leaf), threads>>>(work, begins.data(),
                                                                                    device_sums.data());
  launched("Grove::cuda::sum_leaf_work", 4 * static_cast<std::uint64_t>(leaf_begin.back()));
  device_download(sums.data(), device_sums.data(), sums.size_bytes());
}

DeviceArray<BlockWork> sum_block_work(const LeafTrees& trees, const std::uint32_t* leaf_of_group,
                                      std::uint32_t groups, const std::uint32_t* work,
                                      const std::uint32_t* block_of_leaf, std::size_t blocks) {
  DeviceArray<BlockWork> sums(blocks);
  sums.clear();
  if (groups == 0) return sums;
  sum_groups<<<(groups + warps - 1) / warps, threads>>>(trees, leaf_of_group, groups, work, block_of_leaf,
                                                        sums.data());
  launched("Grove::cuda::sum_block_work");
  return sums;
}

}  // namespace grove::cuda
