#pragma once

#include "time/block_clock.hpp"

namespace grove {

/// Which steps' forces are checked against direct summation: in every so many longest steps one. In turn that
/// is their last step, when all particles are synchronised, and one inside of them, where trees are
/// those of before and few are active: each time another one, evenly spread (van der Corput). The same on all
/// ranks and after a resume, as it follows from the clock alone.
class AuditSchedule {
 public:
  /// every: longest steps from one check to the next; 0: never.
  explicit AuditSchedule(Count every) : every_(every) {}

  /// True if the step from one of these times to the other is checked. They are a step apart, at most a
  /// longest one.
  bool is_due(const BlockClock::State& before, const BlockClock::State& after) const;

 private:
  Count every_;
};

}  // namespace grove
