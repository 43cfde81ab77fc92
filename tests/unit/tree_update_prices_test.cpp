#include "tuning/tree_update_prices.hpp"

#include <gtest/gtest.h>

namespace grove {
namespace {

constexpr double worked_particles = 1000, interactions = 5e5;
constexpr TreeUpdateRates assumed{.rebuild = 75, .rebuild_once = 0, .redecompose = 100, .in_blocks = false};

/// A machine on which steps take so long.
struct Machine {
  double speed;  ///< interactions per second
  double refit;  ///< seconds
  TreeUpdateRates prices;

  StepSeconds step(TreeUpdate update, double rebuilt = worked_particles) const {
    return {refit + prices.cost(update, rebuilt) / speed, interactions / speed};
  }
};

constexpr Machine slow{1e6, 0.01, {.rebuild = 30, .rebuild_once = 0, .redecompose = 400, .in_blocks = false}};

void run(TreeUpdatePrices& prices, const Machine& machine, int cycles) {
  for (int i = 0; i < cycles; ++i)
    for (const TreeUpdate update : {TreeUpdate::refit, TreeUpdate::refit, TreeUpdate::refit,
                                    TreeUpdate::rebuild, TreeUpdate::redecompose})
      prices.add(update, worked_particles, interactions, machine.step(update));
}

// Some ten sums, products and quotients, each rounded by 1e-16; the seconds of a refit, which are taken off
// again, are at most half of the others.
void expect_prices(const TreeUpdateRates& actual, const TreeUpdateRates& expected) {
  EXPECT_NEAR(actual.rebuild, expected.rebuild, 1e-14 * expected.rebuild);
  EXPECT_NEAR(actual.rebuild_once, expected.rebuild_once, 1e-14 * expected.rebuild_once);
  EXPECT_NEAR(actual.redecompose, expected.redecompose, 1e-14 * expected.redecompose);
}

TEST(TreeUpdatePrices, are_assumed_before_they_are_measured) {
  TreeUpdatePrices prices(assumed);
  run(prices, slow, 2);
  expect_prices(prices.rates(), assumed);
}

TEST(TreeUpdatePrices, become_those_of_the_machine) {
  TreeUpdatePrices prices(assumed);
  run(prices, slow, 4);
  expect_prices(prices.rates(), slow.prices);
}

TEST(TreeUpdatePrices, are_not_upset_by_steps_that_were_held_up) {
  TreeUpdatePrices prices(assumed);
  run(prices, slow, 4);
  for (int i = 0; i < 20; ++i) {
    for (const TreeUpdate update : {TreeUpdate::refit, TreeUpdate::rebuild, TreeUpdate::redecompose}) {
      const StepSeconds usual = slow.step(update);
      prices.add(update, worked_particles, interactions, {100 * usual.trees, usual.forces});
      expect_prices(prices.rates(), slow.prices);
      prices.add(update, worked_particles, interactions, {usual.trees, 100 * usual.forces});
      expect_prices(prices.rates(), slow.prices);
    }
    run(prices, slow, 3);
  }
}

TEST(TreeUpdatePrices, follow_a_machine_that_changes) {
  TreeUpdatePrices prices(assumed);
  run(prices, slow, 40);
  Machine faster = slow;
  faster.refit = 0.001;
  faster.prices = {.rebuild = 15, .rebuild_once = 0, .redecompose = 20, .in_blocks = false};
  run(prices, faster, RunningMedian::window);
  expect_prices(prices.rates(), faster.prices);
}

TEST(TreeUpdatePrices, of_one_update_go_with_those_of_the_other_until_it_is_measured) {
  TreeUpdatePrices prices(assumed);
  Machine machine = slow;
  machine.prices = {.rebuild = 150, .rebuild_once = 0, .redecompose = 200, .in_blocks = false};
  for (const TreeUpdate update : {TreeUpdate::refit, TreeUpdate::redecompose})
    for (int i = 0; i < 3; ++i) prices.add(update, worked_particles, interactions, machine.step(update));
  expect_prices(prices.rates(), machine.prices);
}

TEST(TreeUpdatePrices, cuts_are_never_cheaper_than_the_rebuild_in_them) {
  TreeUpdatePrices prices(assumed);
  Machine machine = slow;
  machine.prices.redecompose = 20;
  run(prices, machine, 4);
  EXPECT_EQ(prices.rates().redecompose, prices.rates().rebuild);
}

TEST(TreeUpdatePrices, of_blocks_go_up_and_down_together) {
  TreeUpdatePrices prices({.rebuild = 400, .rebuild_once = 6e4, .redecompose = 600, .in_blocks = true});
  const Machine machine{
      1e6, 0.01, {.rebuild = 800, .rebuild_once = 12e4, .redecompose = 1200, .in_blocks = true}};
  for (int i = 0; i < 3; ++i)
    prices.add(TreeUpdate::refit, worked_particles, interactions, machine.step(TreeUpdate::refit));
  for (const double part : {10.0, 500.0, 200.0})
    prices.add(TreeUpdate::rebuild, part, interactions, machine.step(TreeUpdate::rebuild, part));
  expect_prices(prices.rates(), machine.prices);
}

TEST(RunningMedian, has_half_of_the_weight_up_to_it) {
  RunningMedian values;
  values.add(3);
  EXPECT_EQ(values.median(), 3);
  values.add(1);
  values.add(2);
  EXPECT_EQ(values.median(), 2);
  values.add(9, 5);
  EXPECT_EQ(values.median(), 9);
  for (std::size_t i = 0; i < RunningMedian::window; ++i) values.add(4);
  EXPECT_EQ(values.median(), 4) << "the old ones are forgotten";
}

}  // namespace
}  // namespace grove
