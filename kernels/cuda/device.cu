#include "kernels/cuda/device.hpp"

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernels/cuda/check.cuh"

namespace grove::cuda {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("GPU: ") + cudaGetErrorString(status) + " (" + call + ")");
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

namespace {

/// Freed memory stays with the process: the next step needs as much, and the driver takes its time.
void keep_freed_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t everything = ~std::uint64_t{0};
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  GROVE_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

}  // namespace

void* device_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  static std::once_flag once;
  std::call_once(once, keep_freed_memory);
  if (const cudaError_t status = cudaMallocAsync(&memory, bytes, nullptr); status != cudaSuccess) {
    std::size_t free = 0, all = 0;
    cudaMemGetInfo(&free, &all);
    throw std::runtime_error("GPU: " + std::to_string(bytes >> 20) + " MiB were asked for, but of " +
                             std::to_string(all >> 20) + " MiB only " + std::to_string(free >> 20) +
                             " MiB are free (" + cudaGetErrorString(status) + "): use more GPUs");
  }
  return memory;
}

void device_free(void* memory) noexcept {
  if (memory) cudaFreeAsync(memory, nullptr);
}

void device_upload(void* device, const void* host, std::size_t bytes) {
  GROVE_CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void device_download(void* host, const void* device, std::size_t bytes) {
  GROVE_CUDA(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void device_synchronise() { GROVE_CUDA(cudaDeviceSynchronize()); }

}  // namespace grove::cuda
