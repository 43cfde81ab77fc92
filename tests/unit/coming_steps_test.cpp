#include "kernels/math/coming_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "time/block_clock.hpp"

namespace grove {
namespace {

TEST(MiddleOfLife, is_where_costs_before_and_behind_balance) {
  const std::vector<double> even(4, 7.0), first{30, 1, 1, 1, 1}, last{0, 0, 5};
  EXPECT_EQ(middle_of_life(even, 4), 1.5);
  EXPECT_EQ(middle_of_life(even, 1), 0);
  EXPECT_DOUBLE_EQ(middle_of_life(first, 5), 10.0 / 34);
  EXPECT_EQ(middle_of_life(last, 3), 2);
}

// Steps that are not known cost the mean of those that are: here 2, so 11 even steps.
TEST(MiddleOfLife, takes_later_steps_for_mean_ones) {
  const std::vector<double> costs{2, 2, 2};
  EXPECT_DOUBLE_EQ(middle_of_life(costs, 11), 5);
}

TEST(MiddleOfLife, is_now_where_nothing_costs) {
  EXPECT_EQ(middle_of_life(std::vector<double>(3, 0.0), 3), 0);
  EXPECT_EQ(middle_of_life({}, 5), 0);
}

TEST(ComingSteps, are_those_of_the_clock) {
  BlockClock clock(Timeline(0, 10, 1));
  clock.advance(2);  // a quarter of the first step is over
  const ComingSteps coming = clock.coming(2);
  EXPECT_EQ(coming.drift, 0.25);
  const std::vector<int> first(coming.first_active.begin(), coming.first_active.begin() + 8);
  EXPECT_EQ(first, (std::vector<int>{2, 1, 2, 0, 2, 1, 2, 0}));
}

}  // namespace
}  // namespace grove
