#include "kernels/cuda/device/staging.cuh"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {

Staging::Staging() {
  void* memory = nullptr;
  constexpr std::size_t before = pieces * piece + most_downloaded;
  GROVE_CUDA(cudaMallocHost(&memory, before + most_arrivals * ArrivingBytes::most));
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < most_arrivals; ++i)
    arrivals_.push_back(memory_ + before + i * ArrivingBytes::most);
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
  wait();
  const std::byte* from = memory_ + pieces * piece;
  for (const Download& array : arrays) {
    if (array.bytes > 0) std::memcpy(array.host, from, array.bytes);
    from += array.bytes;
  }
}

void Staging::wait() {
  waited_.record(nullptr);
  GROVE_CUDA(cudaStreamSynchronize(nullptr));
  wait_ended_ = Clock::now();
}

void* Staging::take_arrival() {
  if (arrivals_.empty()) throw std::logic_error("GPU: too many values on their way to the host");
  void* const memory = arrivals_.back();
  arrivals_.pop_back();
  return memory;
}

Staging& staging() {
  static Staging* const own = new Staging;  // outlives the statics that may use it at their end
  return *own;
}

}  // namespace grove::cuda
