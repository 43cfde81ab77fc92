#include "kernels/cuda/device/host_wait.cuh"

#include <utility>

#include "base/activity.hpp"
#include "base/progress.hpp"

namespace grove::cuda {
namespace {
const char* call_under_way = nullptr;
}

HostWait::HostWait() {
  ++activity().host_waits;
  if (call_under_way) progress().begin_call(call_under_way);
}
HostWait::~HostWait() {
  if (std::exchange(call_under_way, nullptr)) progress().end_call();
}

void HostWait::expect_others(const char* call) { call_under_way = call; }

}  // namespace grove::cuda
