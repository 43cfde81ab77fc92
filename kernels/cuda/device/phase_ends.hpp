#pragma once

#include <memory>

#include "base/timers.hpp"

namespace grove::cuda {

/// Phases that the host leaves before its GPU is done with them, so that it need not wait. What the GPU takes
/// after that is found out at the next wait, and moved to them from the phases in which the host was.
class PhaseEnds {
 public:
  PhaseEnds();
  ~PhaseEnds();

  /// The host leaves the present phase (PhaseTimers::Scope).
  void leave();
  /// In the phase in which the host has waited last, after that. Adds to timers; nothing, and all is still to
  /// be found out, if it has not waited since it left one.
  void settle(PhaseTimers& timers);
  /// The host has waited in between, and left no time to be found out.
  void forget();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
