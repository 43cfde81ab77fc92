#include "tuning/redecomposition_price.hpp"

#include <gtest/gtest.h>

namespace grove {
namespace {

constexpr double particles = 1000, interactions = 5e5;
constexpr double assumed = 100;

/// A machine on which steps take so long.
struct Machine {
  double speed;  ///< interactions per second
  double refit;  ///< seconds
  double price;  ///< interactions per particle

  StepSeconds step(TreeUpdate update) const {
    const double updates = update == TreeUpdate::refit ? 0 : price * particles;
    return {refit + updates / speed, interactions / speed};
  }
};

constexpr Machine slow{1e6, 0.01, 400};

void run(RedecompositionPrice& price, const Machine& machine, int cycles) {
  for (int i = 0; i < cycles; ++i)
    for (const TreeUpdate update :
         {TreeUpdate::refit, TreeUpdate::refit, TreeUpdate::refit, TreeUpdate::redecompose})
      price.add(update, particles, interactions, machine.step(update));
}

// Some ten sums, products and quotients, each rounded by 1e-16; the seconds of a refit, which are taken off
// again, are at most half of the others.
void expect_price(const RedecompositionPrice& price, double expected) {
  EXPECT_NEAR(price.rate(), expected, 1e-14 * expected);
}

TEST(RedecompositionPrice, is_assumed_before_it_is_measured) {
  RedecompositionPrice price(assumed);
  run(price, slow, 2);
  expect_price(price, assumed);
}

TEST(RedecompositionPrice, becomes_that_of_the_machine) {
  RedecompositionPrice price(assumed);
  run(price, slow, 4);
  expect_price(price, slow.price);
}

TEST(RedecompositionPrice, is_not_upset_by_steps_that_were_held_up) {
  RedecompositionPrice price(assumed);
  run(price, slow, 4);
  for (int i = 0; i < 20; ++i) {
    for (const TreeUpdate update : {TreeUpdate::refit, TreeUpdate::redecompose}) {
      const StepSeconds usual = slow.step(update);
      price.add(update, particles, interactions, {100 * usual.trees, usual.forces});
      expect_price(price, slow.price);
      price.add(update, particles, interactions, {usual.trees, 100 * usual.forces});
      expect_price(price, slow.price);
    }
    run(price, slow, 3);
  }
}

TEST(RedecompositionPrice, follows_a_machine_that_changes) {
  RedecompositionPrice price(assumed);
  run(price, slow, 40);
  const Machine faster{slow.speed, 0.001, 20};
  run(price, faster, RunningMedian::window);
  expect_price(price, faster.price);
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
