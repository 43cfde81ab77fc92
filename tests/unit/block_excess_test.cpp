#include "gravity/block_excess.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace grove {
namespace {

constexpr Count particles = 1000;
constexpr double rate = 100;

/// The first block, cut.
BlockExcess after_cut(const BlockExcess& blocks) {
  const Count one[] = {particles};
  const BlockExcess::Origin origin[] = {{0, true}};
  return {one, blocks, origin};
}

/// Mean excess per step, with what cuts cost, of a block whose interactions per particle grow so with the
/// age; over 200 steps, after some to learn from.
double mean_cost(const std::function<double(int)>& growth) {
  const Count one[] = {particles};
  BlockExcess blocks(one);
  double cost = 0;
  int counted = 0;
  for (int step = 0, age = 0; step < 260; ++step, ++age) {
    if (blocks.is_due(0, 0, rate)) {
      blocks = after_cut(blocks);
      age = 0;
      if (step >= 60) cost += rate * particles;
    }
    const double mean = 500 * growth(age);
    const BlockExcess::Work work{particles, static_cast<Count>(std::llround(particles * mean))};
    blocks.walked(std::span(&work, 1), 0);
    if (step >= 60) cost += particles * (mean - 500), ++counted;
  }
  return cost / counted;
}

/// The least mean cost of all fixed intervals.
double best_cost(const std::function<double(int)>& growth) {
  double best = 1e300, excess = 0;
  for (int interval = 1; interval <= 64; ++interval) {
    excess += particles * 500 * (growth(interval - 1) - 1);
    best = std::min(best, (rate * particles + excess) / interval);
  }
  return best;
}

TEST(BlockExcess, cuts_at_the_best_interval_whatever_the_growth) {
  // 200 steps hold a whole number of intervals to within one: 1 / 10 of the cost where intervals are as long
  // as 20 steps. Ages beyond 16 are taken for 16, where growth hardly matters.
  const std::function<double(int)> growths[] = {
      [](int t) { return 1 + 0.02 * t; }, [](int t) { return 1 + 0.002 * t * t; },
      [](int t) { return std::pow(1.15, t); }, [](int t) { return t == 0   ? 1.0
                                                                  : t == 1 ? 1.3
                                                                           : 4.0; }};
  for (const auto& growth : growths)
    EXPECT_LT(mean_cost(growth), 1.1 * best_cost(growth)) << growth(1) << " " << growth(10);
}

TEST(BlockExcess, blocks_are_due_one_by_one) {
  const Count three[] = {particles, particles, particles};
  BlockExcess blocks(three);
  const std::vector<BlockExcess::Work> fresh{{1000, 500000}, {1000, 500000}, {0, 0}},
      old{{1000, 650000}, {1000, 510000}, {0, 0}};
  blocks.walked(fresh, 0);
  blocks.walked(old, 0);
  // The first one has cost 150000, and costs 195000 next, at 1.3 times the growth: more than the mean of the
  // cut and its excess over two steps.
  EXPECT_TRUE(blocks.is_due(0, 0, rate));
  EXPECT_FALSE(blocks.is_due(1, 0, rate));
  EXPECT_FALSE(blocks.is_due(2, 0, rate)) << "nothing of it was walked";
  EXPECT_FALSE(blocks.is_due(0, 3, rate)) << "nothing of it is known to be active then";
  EXPECT_NEAR(static_cast<double>(blocks.due(0, rate).excess), 500000 * (1.3 * 1.3 - 1), 1);
  EXPECT_NEAR(static_cast<double>(blocks.due(0, rate).mean), (100000 + 150000) / 2.0, 1);
  blocks = after_cut(blocks);
  EXPECT_FALSE(blocks.is_due(0, 0, rate));
}

TEST(BlockExcess, a_rung_counts_beside_the_nearest_one_that_was_seen_fresh) {
  const Count one[] = {particles};
  BlockExcess blocks(one);
  const auto walk = [&](Count active, Count mean, int rung) {
    const BlockExcess::Work work{active, active * mean};
    blocks.walked(std::span(&work, 1), rung);
  };
  walk(1000, 500, 0);
  walk(100, 600, 4);  // 1.2 times that of a fresh block; and so the next one is expected
  EXPECT_EQ(blocks.due(4, 1e-9).excess, static_cast<Count>(100 * 500 * (1.2 * 1.2 - 1)));
  blocks = after_cut(blocks);
  walk(100, 550, 4);  // fresh by itself now, and 1.2 times as dear at the age of 1
  EXPECT_NEAR(static_cast<double>(blocks.due(4, 1e-9).excess), 100 * 550 * 0.2, 1);
}

TEST(BlockExcess, new_blocks_go_on_from_what_old_ones_have_shown) {
  const Count one[] = {particles};
  BlockExcess blocks(one);
  for (const Count mean : {500, 600, 1200}) {
    const BlockExcess::Work work{particles, particles * mean};
    blocks.walked(std::span(&work, 1), 0);
  }
  const Count two[] = {particles, particles / 2};
  const BlockExcess::Origin origins[] = {{0, true}, {0, true}};
  BlockExcess later(two, blocks, origins);
  EXPECT_FALSE(later.is_due(0, 0, rate)) << "they have just been cut";
  const BlockExcess::Work fresh[] = {{1000, 500000}, {500, 250000}};
  later.walked(fresh, 0);
  // At the age of 1 they cost 1.2 times as much: as much as the cut of 100 interactions per particle at most.
  EXPECT_FALSE(later.is_due(0, 0, rate));
  const BlockExcess::Work old[] = {{1000, 600000}, {500, 300000}};
  later.walked(old, 0);
  EXPECT_TRUE(later.is_due(0, 0, rate)) << "2.4 times as much is to come";
  EXPECT_TRUE(later.is_due(1, 0, rate));
  const BlockExcess::Origin uncut[] = {{0, false}, {1, true}};
  const BlockExcess last(two, later, uncut);
  EXPECT_TRUE(last.is_due(0, 0, rate)) << "it has not been cut";
  EXPECT_FALSE(last.is_due(1, 0, rate));
}

}  // namespace
}  // namespace grove
