#include "kernels/cuda/device/staging.cuh"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {

Staging::Staging() {
  void* memory = nullptr;
  GROVE_CUDA(cudaMallocHost(&memory, (pieces + 1) * piece));
  memory_ = static_cast<std::byte*>(memory);
}

void Staging::upload(void* device, const void* host, std::size_t bytes, cudaStream_t to) {
  for (std::size_t done = 0; done < bytes; done += piece) {
    const std::size_t some = std::min(piece, bytes - done), slot = next_++ % pieces;
    std::byte* const from = memory_ + slot * piece;
    is_free_[slot].wait();
    std::memcpy(from, static_cast<const std::byte*>(host) + done, some);
    GROVE_CUDA(
        cudaMemcpyAsync(static_cast<std::byte*>(device) + done, from, some, cudaMemcpyHostToDevice, to));
    is_free_[slot].record(to);
  }
}

void Staging::download(void* host, const void* device, std::size_t bytes) {
  std::byte* const to = memory_ + pieces * piece;
  GROVE_CUDA(cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, nullptr));
  GROVE_CUDA(cudaStreamSynchronize(nullptr));
  std::memcpy(host, to, bytes);
}

Staging& staging() {
  static Staging* const own = new Staging;  // outlives the statics that may use it at their end
  return *own;
}

}  // namespace grove::cuda
