#include "kernels/cuda/neighbours/raise.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

__global__ void __launch_bounds__(threads)
    raise_listed(const std::uint32_t* numbers, const std::uint32_t* values, std::size_t count,
                 std::uint32_t* all) {
  const std::size_t k = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (k < count) atomicMax(&all[numbers[k]], values[k]);
}

}  // namespace

void raise_to(const std::uint32_t* numbers, const std::uint32_t* values, std::size_t count,
              std::uint32_t* all) {
  if (count == 0) return;
  raise_listed<<<blocks_for(count), threads>>>(numbers, values, count, all);
  launched("Grove::cuda::raise_to");
}

}  // namespace grove::cuda
