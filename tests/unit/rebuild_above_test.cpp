#include "tuning/rebuild_above.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace grove {
namespace {

constexpr std::array<Count, 4> of_rung{1000, 100, 10, 3};             // by rung
constexpr std::array<double, 4> fresh_of_rung{400, 800, 1600, 3200};  // interactions of each in fresh trees
constexpr std::array<int, 8> cycle{3, 2, 3, 1, 3, 2, 3, 0};           // first active rungs

/// A step of these particles. growth: factors on the interactions, by rung.
ForceReport step(int first_active, const std::array<double, 4>& growth) {
  ForceReport forces;
  for (std::size_t rung = 0; rung < of_rung.size(); ++rung) {
    forces.particles += of_rung[rung];
    if (static_cast<int>(rung) < first_active) continue;
    forces.active_of[rung] = of_rung[rung];
    forces.work[rung] = std::llround(static_cast<double>(of_rung[rung]) * fresh_of_rung[rung] * growth[rung]);
  }
  return forces;
}

// Shared steps: each has a verdict, so the first one above 1.2 is known at once.
TEST(RebuildAbove, is_due_after_the_first_step_that_costs_more_than_it_allows) {
  RebuildAbove rule(0.2);
  for (int interval = 0; interval < 3; ++interval, rule.rebuilt())
    for (int age = 0; age <= 7; ++age) {
      const double growth = (1 + interval) * (1 + 0.03 * age);  // relative to the last rebuild
      rule.walked(step(0, {growth, growth, growth, growth}));
      EXPECT_EQ(rule.is_due(), age == 7) << age;
    }
}

// Interactions per active particle go from 3200 to 433 and back, but nothing grows.
TEST(RebuildAbove, is_not_fooled_by_the_rungs_that_are_active) {
  RebuildAbove rule(0.2);
  for (std::size_t i = 0; i < 50 * cycle.size(); ++i) {
    rule.walked(step(cycle[i % cycle.size()], {1, 1, 1, 1}));
    ASSERT_FALSE(rule.is_due()) << i;
  }
}

// Three particles for twice as many interactions are 8 times 9600 of 5.7e5 in a cycle, less than a fifth.
TEST(RebuildAbove, weighs_rungs_by_their_work) {
  const auto is_due_after_a_cycle = [](const std::array<double, 4>& growth) {
    RebuildAbove rule(0.2);
    for (const int first_active : cycle) rule.walked(step(first_active, {1, 1, 1, 1}));
    for (const int first_active : cycle) rule.walked(step(first_active, growth));
    return rule.is_due();
  };
  EXPECT_FALSE(is_due_after_a_cycle({1, 1, 1, 2}));
  EXPECT_TRUE(is_due_after_a_cycle({1.25, 1.25, 1.25, 1.25}));
  EXPECT_FALSE(is_due_after_a_cycle({1.15, 1.15, 1.15, 1.15}));
}

// Rung 0 is first walked when trees have aged: without the growth of the others its reference would hide
// that, 1.1 * 1.15 = 1.265 of what fresh trees cost.
TEST(RebuildAbove, takes_the_growth_off_the_first_counts_of_a_rung) {
  RebuildAbove rule(0.2);
  for (int i = 0; i < 400; ++i) rule.walked(step(1, {1, 1, 1, 1}));
  for (int i = 0; i < 3; ++i) rule.walked(step(0, {1.1, 1.1, 1.1, 1.1}));
  EXPECT_FALSE(rule.is_due());
  rule.walked(step(0, {1.265, 1.265, 1.265, 1.265}));
  EXPECT_TRUE(rule.is_due());
}

TEST(RebuildAbove, goes_on_from_its_state) {
  RebuildAbove rule(0.2);
  std::vector<bool> expected, actual;
  RebuildAbove other = rule;
  for (std::size_t i = 0; i < 20 * cycle.size(); ++i) {
    const double growth = 1 + 0.002 * static_cast<double>(i);
    const ForceReport forces = step(cycle[i % cycle.size()], {growth, growth, growth, growth});
    other = RebuildAbove(0.2, other.state());
    for (RebuildAbove* of : {&rule, &other}) {
      of->walked(forces);
      (of == &rule ? expected : actual).push_back(of->is_due());
      if (of->is_due()) of->rebuilt();
    }
  }
  EXPECT_EQ(actual, expected);
  EXPECT_NE(std::count(expected.begin(), expected.end(), true), 0);
}

}  // namespace
}  // namespace grove
