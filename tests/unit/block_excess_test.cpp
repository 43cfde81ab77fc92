#include "time/block_excess.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace grove {
namespace {

constexpr double rate = 100;

/// Steps between cuts of a block of 1000 particles, whose interactions per particle grow by `slope` a step.
int interval(double slope) {
  BlockExcess blocks({1000});
  for (int cut = 0, age = 0, steps = 0;; ++age, ++steps) {
    const auto mean = 500 + slope * age;
    const BlockExcess::Work work{1000, static_cast<Count>(1000 * mean)};
    blocks.walked(std::span(&work, 1), 0);
    if (!blocks.is_due(0, rate)) continue;
    if (++cut == 3) return age + 1;
    blocks.cut(0);
    age = -1;
  }
}

TEST(BlockExcess, linear_growth_is_cut_at_the_best_interval) {
  // Costs of m steps: B + sum_{t < m} b t = B + b m (m - 1) / 2; per step least at m = sqrt(2 B / b), where a
  // step more or less changes it by less than 1 / m^2.
  for (const double slope : {0.5, 2.0, 8.0}) {
    const double best = std::sqrt(2 * rate / slope);
    EXPECT_NEAR(interval(slope), best, 1.5) << slope;
  }
}

TEST(BlockExcess, blocks_are_due_one_by_one) {
  BlockExcess blocks({1000, 1000, 1000});
  const std::vector<BlockExcess::Work> fresh{{1000, 500000}, {1000, 500000}, {0, 0}},
      old{{1000, 650000}, {1000, 510000}, {0, 0}};
  blocks.walked(fresh, 0);
  blocks.walked(old, 0);
  EXPECT_TRUE(blocks.is_due(0, rate));
  EXPECT_FALSE(blocks.is_due(1, rate));
  EXPECT_FALSE(blocks.is_due(2, rate)) << "nothing of it was walked";
  EXPECT_EQ(blocks.due(rate).excess, 150000);
  EXPECT_EQ(blocks.due(rate).cost, 100000);
  blocks.cut(0);
  EXPECT_FALSE(blocks.is_due(0, rate));
}

TEST(BlockExcess, levels_have_their_own_measure) {
  // The deep part of a block has 800 interactions a particle, all of it 500: neither is an excess of the
  // other; where the deep part is seen for the first time, the growth of before is taken off.
  BlockExcess blocks({1000});
  const auto walk = [&](Count active, Count mean, int level) {
    const BlockExcess::Work work{active, active * mean};
    blocks.walked(std::span(&work, 1), level);
  };
  walk(1000, 500, 0);
  walk(1000, 550, 0);  // 10 % more: 50000
  walk(100, 880, 4);   // and so 10 % of it are an excess: 8000
  EXPECT_EQ(blocks.due(1e-9).excess, 58000);
  blocks.cut(0);
  walk(100, 800, 4);
  walk(1000, 500, 0);
  EXPECT_EQ(blocks.due(1e-9).excess, 0);
}

}  // namespace
}  // namespace grove
