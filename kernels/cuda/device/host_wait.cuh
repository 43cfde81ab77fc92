#pragma once

namespace grove::cuda {

/// While it lives the host waits for all that its GPU was asked for, which activity() counts. Where that
/// waits for other ranks in turn, progress() tells of it.
class HostWait {
 public:
  HostWait();
  ~HostWait();
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

  /// From now until the end of the next wait the GPU waits for other ranks, in this call.
  static void expect_others(const char* call);
};

}  // namespace grove::cuda
