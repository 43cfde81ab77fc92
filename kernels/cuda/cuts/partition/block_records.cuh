#pragma once

#include <cstdint>
#include <cub/block/block_reduce.cuh>

#include "kernels/cuda/cuts/partition/key_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {

/// Neighbouring records that a block works on, `threads` threads of it. Blocks may share what they add to.
struct BlockRecords {
  std::uint64_t begin, end;
};

/// Widens bounds by those of some records. By a block.
__device__ inline void add_bounds(const Columns& columns, const BlockRecords& records, CellBounds& bounds) {
  __shared__ Coordinate of_block[2][3];
  if (threadIdx.x < 3) of_block[0][threadIdx.x] = ~0u, of_block[1][threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    Coordinate low = ~0u, high = 0;
    for_each_key(columns.at[axis], records.begin, records.end, {threadIdx.x, threads},
                 [&](Coordinate c, std::uint64_t) {
                   low = min(low, c);
                   high = max(high, c);
                 });
    low = __reduce_min_sync(~0u, low);
    high = __reduce_max_sync(~0u, high);
    if (threadIdx.x % 32 == 0) atomicMin(&of_block[0][axis], low), atomicMax(&of_block[1][axis], high);
  }
  __syncthreads();
  if (threadIdx.x >= 3) return;
  const auto axis = static_cast<int>(threadIdx.x);
  atomicMin(&bounds.low[axis], of_block[0][axis]);
  atomicMax(&bounds.high[axis], of_block[1][axis]);
}

/// Adds the weights of some records. index: of all records. By a block.
__device__ inline void add_weight(const std::uint32_t* index, const std::uint32_t* weights,
                                  const BlockRecords& records, unsigned long long* weight) {
  using Reduce = cub::BlockReduce<unsigned long long, threads>;
  __shared__ typename Reduce::TempStorage storage;
  unsigned long long sum = 0;
  for (std::uint64_t i = records.begin + threadIdx.x; i < records.end; i += threads) sum += weights[index[i]];
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(weight, sum);
}

}  // namespace grove::cuda
