#pragma once

namespace grove::cuda {

/// While it lives, kernels that support it (those of locally essential trees), copies and exchanges through
/// NCCL get processors before what goes on in the background (OwnWalk). They are in order with all other
/// work, as without it.
class UrgentWork {
 public:
  UrgentWork();
  ~UrgentWork();
  UrgentWork(const UrgentWork&) = delete;
  UrgentWork& operator=(const UrgentWork&) = delete;

  /// Waits for what has been asked for while it lives, and before; not for what goes on in the background.
  void wait() const;

 private:
  void* before_;
};

/// Holds later work of the current stream until all work in the background so far is done. The host does not
/// wait.
void follow_background();

}  // namespace grove::cuda
