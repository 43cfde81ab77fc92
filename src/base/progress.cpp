#include "base/progress.hpp"

namespace grove {

Progress::State Progress::state() const {
  const std::lock_guard lock(mutex_);
  return {steps_, phase_, call_, expected_};
}

std::string Progress::enter(std::string phase) {
  const std::lock_guard lock(mutex_);
  ++steps_;
  phase_.swap(phase);
  return phase;
}

Progress& progress() {
  static Progress of_process;
  return of_process;
}

}  // namespace grove
