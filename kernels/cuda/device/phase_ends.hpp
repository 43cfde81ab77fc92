#pragma once

#include <memory>
#include <string>

#include "base/timers.hpp"

namespace grove::cuda {

/// Phases that the host leaves before its GPU is done with them, so that it need not wait. What the GPU takes
/// after that is found out once the host has waited, and moved to them from the phases in which the host was.
/// A phase whose end the host has waited for in the next one already keeps what it has.
class PhaseEnds {
 public:
  PhaseEnds();
  ~PhaseEnds();

  /// The host leaves this phase now.
  void leave(std::string phase);
  /// The host enters a phase, perhaps some time after it left the last one: what the GPU did meanwhile
  /// belongs to none.
  void enter_another();
  /// After a wait in this phase. Adds to timers; nothing if the host has not waited since it left one.
  void settle(PhaseTimers& timers, const std::string& waiting);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
