#include "kernels/cuda/trees/group_runs.hpp"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <span>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/leaf_update.cuh"
#include "kernels/math/group_runs.hpp"

namespace grove::cuda {
namespace {

constexpr unsigned marking_blocks = 4096;  // for any GPU

/// Blocks along y share a leaf.
__global__ void __launch_bounds__(threads) mark(const LeafTrees trees, std::uint32_t* buckets) {
  const LeafPlaces leaf = trees.leaves[blockIdx.x];
  for (std::int32_t n = static_cast<std::int32_t>(blockIdx.y * threads + threadIdx.x); n < leaf.nodes;
       n += static_cast<std::int32_t>(gridDim.y * threads)) {
    const NodeLinks link = trees.links[leaf.node + static_cast<std::uint64_t>(n)];
    if (link.child != NodeLinks::bucket) continue;
    const GroupRun* const runs = trees.runs + leaf.group;
    const std::int32_t g = group_at(runs, leaf.groups, link.first);
    atomicOr(&buckets[leaf.group + static_cast<std::uint64_t>(g)], 1U << (link.first - runs[g].first));
  }
}

/// A thread per group.
struct Splitting {
  LeafTrees trees;
  const std::uint32_t *leaf_of_group, *buckets;
  std::uint32_t groups;
  float critical;

  template <class Use>
  __device__ void for_runs_of(std::uint32_t g, const Use& use) const {
    const Group group = trees.groups[g];
    if (group.active == 0) return;
    const LeafPlaces& leaf = trees.leaves[leaf_of_group[g]];
    for_runs(group, trees.sources + leaf.first + group.first, buckets[g], critical, use);
  }
};

/// counts: [groups + 1], the last one 0.
__global__ void __launch_bounds__(threads) count_runs(const Splitting splitting, std::uint32_t* counts) {
  const std::uint32_t g = blockIdx.x * threads + threadIdx.x;
  if (g > splitting.groups) return;
  std::uint32_t count = 0;
  if (g < splitting.groups) splitting.for_runs_of(g, [&](const Group&) { ++count; });
  counts[g] = count;
}

__global__ void __launch_bounds__(threads)
    put_runs(const Splitting splitting, const std::uint32_t* first, Group* runs, std::uint32_t* leaf_of_run) {
  const std::uint32_t g = blockIdx.x * threads + threadIdx.x;
  if (g >= splitting.groups) return;
  std::uint32_t next = first[g];
  splitting.for_runs_of(g, [&](const Group& run) {
    runs[next] = run;
    leaf_of_run[next++] = splitting.leaf_of_group[g];
  });
}

}  // namespace

void mark_buckets(const LeafTrees& trees, std::uint32_t groups, std::uint32_t* buckets) {
  if (groups == 0) return;
  GROVE_CUDA(cudaMemsetAsync(buckets, 0, groups * sizeof(std::uint32_t), stream()));
  mark<<<dim3(trees.count, std::max(1U, marking_blocks / trees.count)), threads, 0, stream()>>>(trees,
                                                                                                buckets);
  launched("Grove::cuda::mark_buckets");
}

GroupRuns split_groups(const LeafTrees& trees, const std::uint32_t* leaf_of_group, std::uint32_t groups,
                       const std::uint32_t* buckets, float critical) {
  GroupRuns result;
  if (groups == 0) return result;
  const Splitting splitting{trees, leaf_of_group, buckets, groups, critical};
  const unsigned blocks = groups / threads + 1;
  const DeviceArray<std::uint32_t> counts(groups + 1), first(groups + 1);
  count_runs<<<blocks, threads, 0, stream()>>>(splitting, counts.data());
  std::size_t bytes = 0;
  const auto items = static_cast<std::int64_t>(groups) + 1;
  GROVE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts.data(), first.data(), items, stream()));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(
      cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, counts.data(), first.data(), items, stream()));
  device_download(&result.count, first.data() + groups, sizeof(result.count));
  result.runs = DeviceArray<Group>(result.count);
  result.leaf_of_run = DeviceArray<std::uint32_t>(result.count);
  put_runs<<<blocks, threads, 0, stream()>>>(splitting, first.data(), result.runs.data(),
                                             result.leaf_of_run.data());
  launched("Grove::cuda::split_groups", 0, 2 + kernels_of_pass);
  return result;
}

}  // namespace grove::cuda
