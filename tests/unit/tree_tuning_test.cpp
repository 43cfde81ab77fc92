#include "tuning/tree_tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "time/block_clock.hpp"

namespace grove {
namespace {

constexpr Count particles = 1000;
constexpr double fresh = 100, growth_of_step = 0.05;  // interactions per particle; per step from the best

ForceReport forces_at(double distance) {
  ForceReport forces;
  forces.particles = forces.active_of[0] = particles;
  forces.work[0] = forces.interactions.cell =
      static_cast<Count>(particles * fresh * (1 + growth_of_step * std::abs(distance)));
  return forces;
}

/// The choice for a step, begun; the first step makes new trees.
TreeTuning::Choice begun(TreeTuning& tuning, BlockClock& clock, int step) {
  clock.advance(0);
  TreeTuning::Choice choice = tuning.plan({particles}, clock.coming(0));
  if (step == 0) choice = {};
  tuning.begin(choice);
  return choice;
}

/// The cost that tuning makes least, per particle and step, of steps 200 to 999: updates, and the
/// interactions beyond those of fresh trees. price: of an update, per particle, while 100 is assumed.
double mean_cost(double price, bool measured) {
  constexpr double speed = 1e6, refit = 0.01;
  TreeTuning tuning(100, {});
  BlockClock clock(Timeline(0, 1000, 1));
  double cost = 0;
  double distance = 0;
  for (int step = 0; step < 1000; ++step) {
    const TreeTuning::Choice choice = begun(tuning, clock, step);
    const bool is_new = choice.update == TreeUpdate::redecompose;
    distance = is_new ? -std::round(choice.lead) : distance + 1;
    const ForceReport forces = forces_at(distance);
    const double updates = is_new ? price : 0;
    std::optional<StepSeconds> seconds;
    if (measured)
      seconds = {refit + updates * particles / speed, static_cast<double>(forces.interactions.cell) / speed};
    tuning.walked(forces, seconds);
    if (step >= 200) cost += updates + fresh * growth_of_step * std::abs(distance);
  }
  return cost / 800;
}

double best_cost(double price) {
  double best = 1e300;
  double distances = 0;  // sum over the steps of an interval, from its middle
  for (int interval = 1; interval < 100; ++interval) {
    distances += interval / 2;
    best = std::min(best, (price + fresh * growth_of_step * distances) / interval);
  }
  return best;
}

// 200 steps are some 6 of the longest best intervals, 2 sqrt(1200 / 5) = 31: enough for three updates, as the
// fit of the growth has no scatter. The tenth allows for the looks at longer intervals now and then.
TEST(TreeTuning, measured_prices_find_the_interval_that_is_best_on_this_machine) {
  for (const double price : {10.0, 100.0, 1200.0})
    EXPECT_LT(mean_cost(price, true), 1.1 * best_cost(price)) << "price " << price;
}

// At intervals for 100 where the best are for 1200, a = 3.46 times as long, the root of 12: (a + 1 / a) / 2 =
// 1.88 times as much. Intervals of 8 or 10 steps for 8.9 make 2.1 or 1.7 of it.
TEST(TreeTuning, assumed_prices_stay_when_nothing_is_measured) {
  EXPECT_NEAR(mean_cost(1200, false) / best_cost(1200), 1.88, 0.25);
}

// Aged trees that seem to cost what fresh ones do would be kept for 1024 steps. 32 steps of 100 cost as much
// as the 32 cuts for 100 after which all is cut at the latest. The middle of these is 15.5, rounded.
TEST(TreeTuning, renews_trees_by_the_work_done_in_them_though_nothing_is_seen_to_grow) {
  static_assert(TreeTuning::most_cuts_walked == 32);
  TreeTuning tuning(100, {});
  BlockClock clock(Timeline(0, 100, 1));
  for (int step = 0; step < 100; ++step) {
    clock.advance(0);
    TreeTuning::Choice choice = tuning.plan({particles}, clock.coming(0));
    if (step == 0) choice = {};
    EXPECT_EQ(choice.update == TreeUpdate::redecompose, step % 32 == 0) << "step " << step;
    EXPECT_EQ(choice.lead, step < 3 ? 0 : 16) << "once three distances are known; step " << step;
    tuning.begin(choice);
    tuning.walked(forces_at(0), std::nullopt);
  }
}

// In a bounce trees of all other places than now's are five times as dear: they lose 4 cuts for 100 in one
// step, and 1.5 are allowed. The growth of the intervals before it asks for lives of 2 sqrt(100 / 5) = 9
// steps, so for leads of 4, which come back when the bounce is over: lives double up to 16 within 2 + 4 + 8 +
// 16 steps, while what was seen in the bounce fades; until that is gone leads may be one step longer.
TEST(TreeTuning, trees_lose_no_more_than_they_cost_where_all_changes_at_once) {
  TreeTuning tuning(100, {});
  BlockClock clock(Timeline(0, 400, 1));
  double distance = 0, lead_before = 0;
  int age = 0;
  for (int step = 0; step < 400; ++step) {
    const bool bounces = step >= 200 && step < 300;
    const TreeTuning::Choice choice = begun(tuning, clock, step);
    const bool is_new = choice.update == TreeUpdate::redecompose;
    distance = is_new ? -std::round(choice.lead) : distance + 1;
    age = is_new ? 0 : age + 1;
    if (is_new && step < 200) lead_before = choice.lead;
    if (bounces && step >= 202) {
      EXPECT_LE(age, 1) << "step " << step;
      if (is_new) {
        EXPECT_LE(choice.lead, 1) << "step " << step;
      }
    }
    if (is_new && step >= 340) {
      EXPECT_NEAR(choice.lead, lead_before, 1) << "step " << step;
    }
    tuning.walked(forces_at(bounces && distance != 0 ? 4 / growth_of_step : distance), std::nullopt);
  }
  EXPECT_EQ(lead_before, 4);
}

/// Against fresh trees of the particles that walked, whichever these are.
TEST(TreeTuning, trees_have_aged_where_a_walk_costs_half_as_much_again) {
  const auto forces_of = [](Count of_long, Count of_short) {
    ForceReport forces;
    forces.particles = 30;
    forces.active_of = {20, 0, 0, 10};
    forces.work = {20 * of_long, 0, 0, 10 * of_short};
    forces.interactions.cell = forces.work[0] + forces.work[3];
    return forces;
  };
  TreeTuning tuning(100, {});
  EXPECT_FALSE(tuning.have_aged(ForceReport{})) << "nobody has walked";
  tuning.began(forces_of(100, 200), true);
  EXPECT_FALSE(tuning.have_aged(forces_of(100, 200)));
  const ForceReport of_all = forces_of(150, 300);
  EXPECT_TRUE(tuning.have_aged(of_all));
  ForceReport of_short = of_all;
  of_short.active_of[0] = of_short.work[0] = 0;
  of_short.interactions.cell = of_short.work[3];
  EXPECT_TRUE(tuning.have_aged(of_short));
  --of_short.interactions.cell;
  EXPECT_FALSE(tuning.have_aged(of_short));
}

// Steps weigh as much as they have active particles.
TEST(TreeTuning, leads_to_the_middle_of_a_fixed_interval) {
  TreeTuning tuning(100, {.interval = 4, .above = {}});
  BlockClock clock(Timeline(0, 10, 1));
  RungCounts rungs{};
  rungs[0] = 900, rungs[1] = 100;
  ForceReport forces;
  forces.active_of[0] = 900, forces.active_of[1] = 100;
  forces.work[0] = 900 * 500, forces.work[1] = 100 * 500;
  forces.interactions.cell = 500000;
  tuning.began(forces, true);
  // The next steps have 100, 1000, 100 and 1000 active particles.
  clock.advance(1);
  TreeTuning::Choice choice = tuning.plan(rungs, clock.coming(1));
  EXPECT_DOUBLE_EQ(choice.lead, (1000.0 + 2 * 100 + 3 * 1000) / 2200);
  clock.advance(1);
  choice = tuning.plan(rungs, clock.coming(1));
  EXPECT_DOUBLE_EQ(choice.lead, (100.0 + 2 * 1000 + 3 * 100) / 2200);
}

// Growth by 3 % a step is above 1.2 at age 7, so each interval has ages 0 to 7. The trees of the first forces
// are the first interval's.
TEST(TreeTuning, renews_all_when_the_rule_of_rebuilds_says_so_and_never_else) {
  TreeTuning tuning(100, {.interval = 0, .above = RebuildAbove(0.2)});
  BlockClock clock(Timeline(0, 100, 1));
  tuning.began(forces_at(0), true);
  for (int step = 1, age = 0; step < 40; ++step) {
    clock.advance(0);
    const TreeTuning::Choice choice = tuning.plan({particles}, clock.coming(0));
    EXPECT_EQ(choice.update, step % 8 == 0 ? TreeUpdate::redecompose : TreeUpdate::refit) << step;
    EXPECT_EQ(choice.lead, 0) << "the published rule has none";
    tuning.begin(choice);
    age = choice.update == TreeUpdate::refit ? age + 1 : 0;
    tuning.walked(forces_at(0.6 * age), std::nullopt);
  }
}

}  // namespace
}  // namespace grove
