#include "kernels/cuda/block_work.hpp"

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 256, warps = threads / 32;

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

}  // namespace

void sum_block_work(const LeafTrees& trees, const std::uint32_t* leaf_of_group, std::uint32_t groups,
                    const std::uint32_t* work, std::span<const std::uint32_t> block_of_leaf,
                    std::span<BlockWork> sums) {
  if (groups == 0) return;
  const DeviceArray<std::uint32_t> blocks{block_of_leaf};
  DeviceArray<BlockWork> device_sums(sums.size());
  device_sums.clear();
  sum_groups<<<(groups + warps - 1) / warps, threads>>>(trees, leaf_of_group, groups, work, blocks.data(),
                                                        device_sums.data());
  launched("Grove::cuda::sum_block_work");
  device_sums.download(sums);
}

}  // namespace grove::cuda
