#include "tuning/tree_tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace grove {
namespace {

constexpr Count particles = 1000;
constexpr double fresh = 500, growth_of_step = 0.01;  // interactions per particle; of these per step of age

/// The cost that tuning makes least, per particle and step, of steps 200 to 999: updates, and excess_weight
/// times the interactions beyond those of fresh trees. price: of an update of any kind, per particle, while
/// 75 and 100 are assumed.
double mean_cost(double price, bool measured) {
  constexpr double speed = 1e6, refit = 0.01;
  TreeTuning tuning({.rebuild = 75, .rebuild_once = 0, .redecompose = 100, .in_blocks = false}, {});
  BlockClock clock(Timeline(0, 1000, 1));
  double cost = 0;
  for (int step = 0, age = 0; step < 1000; ++step) {
    clock.advance(0);
    const TreeUpdate update = step == 0 ? TreeUpdate::redecompose : tuning.plan({particles}, clock, 0, {});
    tuning.begin(update, {});
    age = update == TreeUpdate::refit ? age + 1 : 0;
    ForceReport forces;
    forces.active_of[0] = particles;
    forces.work[0] = forces.interactions.cell =
        static_cast<Count>(particles * fresh * (1 + growth_of_step * age));
    const double updates = update == TreeUpdate::refit ? 0 : price;
    std::optional<StepSeconds> seconds;
    if (measured)
      seconds = {refit + updates * particles / speed, static_cast<double>(forces.interactions.cell) / speed};
    tuning.walked(forces, seconds);
    if (step >= 200) cost += updates + TreeTuning::excess_weight * fresh * growth_of_step * age;
  }
  return cost / 800;
}

double best_cost(double price) {
  double best = 1e300;
  for (int interval = 1; interval < 100; ++interval)
    best = std::min(
        best, price / interval + TreeTuning::excess_weight * fresh * growth_of_step * (interval - 1) / 2);
  return best;
}

// 200 steps are some 13 of the longest best intervals, 15: enough for three updates of each kind that pays,
// as the fit of the growth has no scatter. The tenth allows for the looks at longer intervals now and
// then.
TEST(TreeTuning, measured_prices_find_the_interval_that_is_best_on_this_machine) {
  for (const double price : {10.0, 100.0, 1200.0})
    EXPECT_LT(mean_cost(price, true), 1.1 * best_cost(price)) << "price " << price;
}

// At intervals for 75 where the best are for 1200, a = 4 times as long, the root of 16: (a + 1 / a) / 2 times
// as much. Intervals of 4 or 5 steps for 3.9 make 2.15 or 1.78 of it.
TEST(TreeTuning, assumed_prices_stay_when_nothing_is_measured) {
  EXPECT_NEAR(mean_cost(1200, false) / best_cost(1200), 2.1, 0.4);
}

// Aged trees that seem to cost what fresh ones do would be kept for 1024 steps, or for good in blocks. Seven
// steps of 500 are the first that cost as much as the 32 cuts for 100 after which all is cut at the latest.
TEST(TreeTuning, renews_trees_by_the_work_done_in_them_though_nothing_is_seen_to_grow) {
  static_assert(TreeTuning::most_cuts_walked == 32);
  for (const bool in_blocks : {false, true}) {
    SCOPED_TRACE(in_blocks ? "in blocks" : "together");
    TreeTuning tuning({.rebuild = 75, .rebuild_once = 0, .redecompose = 100, .in_blocks = in_blocks}, {});
    BlockClock clock(Timeline(0, 100, 1));
    for (int step = 0; step < 100; ++step) {
      clock.advance(0);
      const TreeUpdate update = step == 0 ? TreeUpdate::redecompose : tuning.plan({particles}, clock, 0, {});
      EXPECT_EQ(update == TreeUpdate::redecompose, step % 7 == 0) << "step " << step;
      tuning.begin(update, {});
      ForceReport forces;
      forces.active_of[0] = particles;
      forces.work[0] = forces.interactions.cell = static_cast<Count>(particles * fresh);
      tuning.walked(forces, std::nullopt);
    }
  }
}

// Growth by 3 % a step is above 1.2 at age 7, so each interval has ages 0 to 7. The trees of the first forces
// are the first interval's.
TEST(TreeTuning, renews_all_when_the_rule_of_rebuilds_says_so_and_never_else) {
  TreeTuning tuning({.rebuild = 75, .rebuild_once = 0, .redecompose = 100, .in_blocks = true},
                    {.interval = 0, .above = RebuildAbove(0.2)});
  BlockClock clock(Timeline(0, 100, 1));
  const auto forces_at = [](int age) {
    ForceReport forces;
    forces.particles = forces.active_of[0] = particles;
    forces.work[0] = forces.interactions.cell = static_cast<Count>(particles * fresh * (1 + 0.03 * age));
    return forces;
  };
  tuning.began(forces_at(0), true);
  for (int step = 1, age = 0; step < 40; ++step) {
    clock.advance(0);
    const TreeUpdate update = tuning.plan({particles}, clock, 0, {});
    EXPECT_EQ(update, step % 8 == 0 ? TreeUpdate::redecompose : TreeUpdate::refit) << step;
    tuning.begin(update, {});
    age = update == TreeUpdate::refit ? age + 1 : 0;
    tuning.walked(forces_at(age), std::nullopt);
  }
}

}  // namespace
}  // namespace grove
