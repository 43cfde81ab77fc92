#include "kernels/cuda/device/available_memory.hpp"

#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {

std::uint64_t available_device_memory() {
  std::size_t free = 0, all = 0;
  GROVE_CUDA(cudaMemGetInfo(&free, &all));
  int device = 0;
  cudaMemPool_t pool = nullptr;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t kept = 0;
  GROVE_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept));
  return free + kept;
}

}  // namespace grove::cuda
