#include "time/audit_schedule.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace grove {
namespace {

/// Longest step, counted from 1, and the part of it that has passed when its forces are checked.
std::vector<std::pair<std::int64_t, double>> checked(Count every, int rung, std::int64_t longest_steps) {
  const AuditSchedule schedule(every);
  BlockClock clock(Timeline(0, static_cast<double>(longest_steps), 1));
  std::vector<std::pair<std::int64_t, double>> result;
  while (!clock.is_done()) {
    const BlockClock::State before = clock.state();
    clock.advance(rung);
    if (schedule.is_due(before, clock.state()))
      result.emplace_back(before.step + 1, clock.time() - static_cast<double>(before.step));
  }
  return result;
}

TEST(AuditSchedule, checks_the_end_of_longest_steps_and_steps_inside_of_them_in_turn) {
  const std::vector<std::pair<std::int64_t, double>> expected = {{5, 1},  {10, 0.5},  {15, 1}, {20, 0.25},
                                                                 {25, 1}, {30, 0.75}, {35, 1}, {40, 0.125}};
  EXPECT_EQ(checked(5, 3, 44), expected);
  EXPECT_TRUE(checked(0, 3, 44).empty());
}

TEST(AuditSchedule, checks_each_due_longest_step_once_however_long_steps_are) {
  for (const int rung : {0, 1, 2, 6}) {
    const auto found = checked(2, rung, 64);
    ASSERT_EQ(found.size(), 32u) << "rung " << rung;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].first, 2 * (static_cast<int>(i) + 1));
  }
}

TEST(AuditSchedule, comes_to_every_step_of_a_longest_one) {
  std::set<double> parts;
  for (const auto& [step, part] : checked(1, 3, 16)) parts.insert(part);
  EXPECT_EQ(parts.size(),
            8u);  // 8 checks at the end, 1 of 8; the other 8 inside, 7 of 8 and one of these twice
}

}  // namespace
}  // namespace grove
