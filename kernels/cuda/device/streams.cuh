#pragma once

#include <cuda_runtime.h>

namespace grove::cuda {

/// The stream of kernels, copies, allocations and exchanges: CUDA's default stream, but while an OnStream
/// lives.
cudaStream_t stream();

class OnStream {
 public:
  explicit OnStream(cudaStream_t stream);
  ~OnStream();
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  cudaStream_t before_;
};

/// Its work is in order with the default stream, as if it came there, but its blocks go before those of
/// all other streams that wait for a processor.
cudaStream_t urgent_stream();
/// Its work runs beside all other work: only events put it into an order with that.
cudaStream_t background_stream();
/// True if that is the present one.
bool is_in_background();

/// A moment in the work of a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// When all is done that the stream has got until now.
  void record(cudaStream_t stream) const;
  /// All that the stream gets from now on waits for it. Errors show in the next call.
  void hold(cudaStream_t stream) const noexcept;
  /// Waits until it has passed, if it was recorded.
  void wait() const;
  /// Both have passed.
  double seconds_since(const Event& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace grove::cuda
