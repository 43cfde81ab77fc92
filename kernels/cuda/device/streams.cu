#include "kernels/cuda/device/streams.cuh"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/host_wait.cuh"
#include "kernels/cuda/device/urgent_work.hpp"

namespace grove::cuda {
namespace {

cudaStream_t current = nullptr, background = nullptr;

cudaStream_t make_stream(unsigned flags, bool is_urgent) {
  int least = 0, greatest = 0;
  cudaStream_t made = nullptr;
  GROVE_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  GROVE_CUDA(cudaStreamCreateWithPriority(&made, flags, is_urgent ? greatest : least));
  return made;
}

}  // namespace

cudaStream_t stream() { return current; }

// Both are of the GPU of this process, and last as long as that.
cudaStream_t urgent_stream() {
  static const cudaStream_t urgent = make_stream(cudaStreamDefault, true);
  return urgent;
}
cudaStream_t background_stream() {
  if (!background) background = make_stream(cudaStreamNonBlocking, false);
  return background;
}
bool is_in_background() { return current && current == background; }

OnStream::OnStream(cudaStream_t stream) : before_(current) { current = stream; }
OnStream::~OnStream() { current = before_; }

UrgentWork::UrgentWork() : before_(current) { current = urgent_stream(); }
UrgentWork::~UrgentWork() { current = static_cast<cudaStream_t>(before_); }

void UrgentWork::wait() const {
  const HostWait wait;
  GROVE_CUDA(cudaStreamSynchronize(urgent_stream()));
}

void follow_background() {
  if (!background) return;
  const Event now;
  now.record(background);
  now.hold(stream());
}

Event::Event() { GROVE_CUDA(cudaEventCreate(&event_)); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(cudaStream_t stream) const { GROVE_CUDA(cudaEventRecord(event_, stream)); }
void Event::hold(cudaStream_t stream) const noexcept { cudaStreamWaitEvent(stream, event_, 0); }
void Event::wait() const { GROVE_CUDA(cudaEventSynchronize(event_)); }
double Event::seconds_since(const Event& earlier) const {
  float milliseconds = 0;
  GROVE_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return 1e-3 * milliseconds;
}

}  // namespace grove::cuda
