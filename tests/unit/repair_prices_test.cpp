#include "tuning/repair_prices.hpp"

#include <gtest/gtest.h>

namespace grove {
namespace {

constexpr double worked_particles = 1000, interactions = 5e5;
constexpr RepairRates assumed{.rebuild = 75, .rebuild_once = 0, .cuts = 100, .in_blocks = false};

/// A machine on which steps take so long.
struct Machine {
  double speed;  ///< interactions per second
  double refit;  ///< seconds
  RepairRates prices;

  StepSeconds step(Repair repair, double repaired = worked_particles) const {
    return {refit + prices.cost(repair, repaired) / speed, interactions / speed};
  }
};

constexpr Machine slow{1e6, 0.01, {.rebuild = 30, .rebuild_once = 0, .cuts = 400, .in_blocks = false}};

void run(RepairPrices& prices, const Machine& machine, int cycles) {
  for (int i = 0; i < cycles; ++i)
    for (const Repair repair : {Repair::refit, Repair::refit, Repair::refit, Repair::rebuild, Repair::cuts})
      prices.add(repair, worked_particles, interactions, machine.step(repair));
}

// Some ten sums, products and quotients, each rounded by 1e-16; the seconds of a refit, which are taken off
// again, are at most half of the others.
void expect_prices(const RepairRates& actual, const RepairRates& expected) {
  EXPECT_NEAR(actual.rebuild, expected.rebuild, 1e-14 * expected.rebuild);
  EXPECT_NEAR(actual.rebuild_once, expected.rebuild_once, 1e-14 * expected.rebuild_once);
  EXPECT_NEAR(actual.cuts, expected.cuts, 1e-14 * expected.cuts);
}

TEST(RepairPrices, are_assumed_before_they_are_measured) {
  RepairPrices prices(assumed);
  run(prices, slow, 2);
  expect_prices(prices.rates(), assumed);
}

TEST(RepairPrices, become_those_of_the_machine) {
  RepairPrices prices(assumed);
  run(prices, slow, 4);
  expect_prices(prices.rates(), slow.prices);
}

TEST(RepairPrices, are_not_upset_by_steps_that_were_held_up) {
  RepairPrices prices(assumed);
  run(prices, slow, 4);
  for (int i = 0; i < 20; ++i) {
    for (const Repair repair : {Repair::refit, Repair::rebuild, Repair::cuts}) {
      const StepSeconds usual = slow.step(repair);
      prices.add(repair, worked_particles, interactions, {100 * usual.trees, usual.forces});
      expect_prices(prices.rates(), slow.prices);
      prices.add(repair, worked_particles, interactions, {usual.trees, 100 * usual.forces});
      expect_prices(prices.rates(), slow.prices);
    }
    run(prices, slow, 3);
  }
}

TEST(RepairPrices, follow_a_machine_that_changes) {
  RepairPrices prices(assumed);
  run(prices, slow, 40);
  Machine faster = slow;
  faster.refit = 0.001;
  faster.prices = {.rebuild = 15, .rebuild_once = 0, .cuts = 20, .in_blocks = false};
  run(prices, faster, RunningMedian::window);
  expect_prices(prices.rates(), faster.prices);
}

TEST(RepairPrices, of_one_repair_go_with_those_of_the_other_until_it_is_measured) {
  RepairPrices prices(assumed);
  Machine machine = slow;
  machine.prices = {.rebuild = 150, .rebuild_once = 0, .cuts = 200, .in_blocks = false};
  for (const Repair repair : {Repair::refit, Repair::cuts})
    for (int i = 0; i < 3; ++i) prices.add(repair, worked_particles, interactions, machine.step(repair));
  expect_prices(prices.rates(), machine.prices);
}

TEST(RepairPrices, cuts_are_never_cheaper_than_the_rebuild_in_them) {
  RepairPrices prices(assumed);
  Machine machine = slow;
  machine.prices.cuts = 20;
  run(prices, machine, 4);
  EXPECT_EQ(prices.rates().cuts, prices.rates().rebuild);
}

TEST(RepairPrices, of_blocks_go_up_and_down_together) {
  RepairPrices prices({.rebuild = 400, .rebuild_once = 6e4, .cuts = 600, .in_blocks = true});
  const Machine machine{1e6, 0.01, {.rebuild = 800, .rebuild_once = 12e4, .cuts = 1200, .in_blocks = true}};
  for (int i = 0; i < 3; ++i)
    prices.add(Repair::refit, worked_particles, interactions, machine.step(Repair::refit));
  for (const double part : {10.0, 500.0, 200.0})
    prices.add(Repair::rebuild, part, interactions, machine.step(Repair::rebuild, part));
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
