#pragma once

#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {

/// Pinned memory of the host for small copies. A copy from other memory of the host waits until the GPU has
/// done all that it was asked for before; one from here does not.
class Staging {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t piece = std::size_t{64} << 10, most_uploaded = std::size_t{1} << 20,
                               most_downloaded = std::size_t{8} << 20;
  Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// At most most_uploaded bytes, which may change as soon as this returns. They are there for all that the
  /// stream gets next. It waits only for copies of long ago that are not done yet.
  void upload(void* device, const void* host, std::size_t bytes, cudaStream_t to);
  /// At most most_downloaded bytes in all. Waits for them, and for all before them in the default stream.
  void download(std::span<const Download> arrays);
  /// Waits for all that was asked for but in the background.
  void wait();
  /// When the last wait was over, by the GPU and by the host.
  const Event& waited() const { return waited_; }
  Clock::time_point wait_ended() const { return wait_ended_; }

  /// A piece of ArrivingBytes::most bytes for what comes down without a wait, until it is given back.
  void* take_arrival();
  void give_back_arrival(void* memory) { arrivals_.push_back(static_cast<std::byte*>(memory)); }

 private:
  static constexpr std::size_t pieces = 64, most_arrivals = 16;
  std::byte* memory_ = nullptr;        ///< pieces of uploads, then what comes down, then arrivals
  std::array<Event, pieces> is_free_;  ///< when the last copy from each is done
  std::size_t next_ = 0;
  Event waited_;
  Clock::time_point wait_ended_;
  std::vector<std::byte*> arrivals_;  ///< free ones
};

/// That of this process, as long as it lives.
Staging& staging();

}  // namespace grove::cuda
