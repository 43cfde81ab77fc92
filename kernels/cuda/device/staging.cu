#include "kernels/cuda/device/staging.cuh"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {

Staging::Staging() {
  void* memory = nullptr;
  GROVE_CUDA(cudaMallocHost(&memory, pieces * piece + most_downloaded));
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

void Staging::download(std::span<const Download> arrays) {
  std::byte* to = memory_ + pieces * piece;
  for (const Download& array : arrays) {
    GROVE_CUDA(cudaMemcpyAsync(to, array.device, array.bytes, cudaMemcpyDeviceToHost, nullptr));
    to += array.bytes;
  }
  GROVE_CUDA(cudaStreamSynchronize(nullptr));
  const std::byte* from = memory_ + pieces * piece;
  for (const Download& array : arrays) {
    if (array.bytes > 0) std::memcpy(array.host, from, array.bytes);
    from += array.bytes;
  }
}

Staging& staging() {
  static Staging* const own = new Staging;  // outlives the statics that may use it at their end
  return *own;
}

}  // namespace grove::cuda
