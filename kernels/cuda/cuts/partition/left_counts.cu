#include <cub/device/device_scan.cuh>

#include "kernels/cuda/cuts/partition/left_counts.cuh"
#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {

void LeftCounts::reserve(std::uint32_t tiles) {
  in_.reserve(tiles);
  before_.reserve(tiles);
}

void LeftCounts::scan(std::uint32_t tiles) {
  if (tiles == 0) return;
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in_.data(), before_.data(), tiles));
  scratch_.reserve(bytes);
  GROVE_CUDA(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, in_.data(), before_.data(), tiles));
  launched("Grove::cuda::scan_left_counts", 0, kernels_of_pass);
}

}  // namespace grove::cuda
