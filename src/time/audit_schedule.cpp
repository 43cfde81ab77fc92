#include "time/audit_schedule.hpp"

#include <cstdint>

namespace grove {
namespace {

/// Ticks into a longest step, neither its begin nor its end: a half, a quarter, three quarters, an eighth,
/// ... of it for 1, 2, 3, 4, ...
std::int64_t inside(std::int64_t number) {
  std::int64_t ticks = 0;
  for (std::int64_t part = BlockClock::ticks_per_step / 2; number > 0 && part > 0; number /= 2, part /= 2)
    if (number % 2 == 1) ticks += part;
  return ticks;
}

}  // namespace

bool AuditSchedule::is_due(const BlockClock::State& before, const BlockClock::State& after) const {
  const std::int64_t longest_step = before.step + 1;
  if (every_ == 0 || longest_step % every_ != 0) return false;
  const std::int64_t number = longest_step / every_;
  const std::int64_t at = number % 2 == 1 ? BlockClock::ticks_per_step : inside(number / 2);
  const std::int64_t end = after.step > before.step ? BlockClock::ticks_per_step : after.tick;
  return before.tick < at && at <= end;
}

}  // namespace grove
