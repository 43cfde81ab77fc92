#include "kernels/cuda/cuts/runs/run_order.cuh"

#include "kernels/cuda/cuts/runs/run_window.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {
namespace {

constexpr int sampling_block = 256;
constexpr std::uint32_t sampling_warps = 1024;
/// The share of the longest extent of all, in the mean of the axes.
constexpr double longest = 0.2;

/// How long runs are.
struct RunLengths {
  double sum;                  ///< of all that were looked at, on all axes
  Coordinate low[3], high[3];  ///< their bounds
};

/// A warp per run, of as many as there are warps.
__global__ void __launch_bounds__(sampling_block)
    measure_runs(const Columns records, std::uint64_t runs, RunLengths* lengths) {
  const std::uint64_t w = blockIdx.x * (sampling_block / 32) + threadIdx.x / 32;
  const std::uint64_t begin = w * runs / sampling_warps * run_size;
  double length = 0;
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    const RunBounds own = RunBounds::of(records.at[axis] + begin, run_size);
    length += own.high - own.low;
    if (threadIdx.x % 32 != 0) continue;
    atomicMin(&lengths->low[axis], own.low);
    atomicMax(&lengths->high[axis], own.high);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(&lengths->sum, length);
}

/// By one thread.
__global__ void judge_runs(const RunLengths* lengths, std::uint32_t* in_vain) {
  Coordinate extent = 0;
  for (int axis = 0; axis < 3; ++axis) extent = max(extent, lengths->high[axis] - lengths->low[axis]);
  if (extent == 0 || lengths->sum > longest * 3 * sampling_warps * extent) *in_vain = 1;
}

}  // namespace

void check_order(const Columns& records, std::uint64_t count, std::uint32_t* in_vain) {
  const RunLengths nothing{0, {~0u, ~0u, ~0u}, {0, 0, 0}};
  const DeviceArray<RunLengths> lengths{std::span<const RunLengths>(&nothing, 1)};
  measure_runs<<<sampling_warps * 32 / sampling_block, sampling_block>>>(records, count / run_size,
                                                                         lengths.data());
  judge_runs<<<1, 1>>>(lengths.data(), in_vain);
  launched("Grove::cuda::measure_runs", 0, 2);
}

}  // namespace grove::cuda
