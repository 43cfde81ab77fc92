#include "kernels/cuda/trees/leaf_work.hpp"

#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

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

}  // namespace grove::cuda
