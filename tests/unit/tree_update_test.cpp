#include "tuning/tree_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/growing_cost.hpp"

namespace grove {
namespace {

using Steps = std::vector<StepWork>;

/// Growth per step of what a rebuild renews, and of what only a redecomposition renews.
struct Ageing {
  double trees, cuts;
  double cost(std::int64_t trees_age, std::int64_t cuts_age) const {
    return (1 + trees * static_cast<double>(trees_age)) * (1 + cuts * static_cast<double>(cuts_age));
  }
};

struct UpdateOutcome {
  double cost = 0;
  int rebuilds = 0, cuts = 0;  // rebuilds alone
};

UpdateOutcome run(const Steps& steps, int deepest, const TreeUpdateCosts& costs, const Ageing& ageing,
                  double noise) {
  TreeUpdateChoice choice;
  std::mt19937_64 random(3);
  UpdateOutcome outcome;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const TreeUpdate update = n == 0 ? TreeUpdate::redecompose : choice.choose(costs, coming(steps, n));
    choice.updated(update);
    if (update == TreeUpdate::rebuild) outcome.cost += costs.rebuild, ++outcome.rebuilds;
    if (update == TreeUpdate::redecompose) outcome.cost += costs.redecompose, ++outcome.cuts;
    const TreeUpdateChoice::State state = choice.state();
    const double cost = steps[n].fresh_cost * ageing.cost(state.trees.age, state.cuts.age);
    outcome.cost += cost;
    choice.step(cost, estimated(steps[n], mean_block_step_cost(deepest), noise, random));
  }
  return outcome;
}

/// The least cost of rebuilds at a fixed interval 1 .. 64 and new cuts with each k-th of them.
double best_fixed(const Steps& steps, const TreeUpdateCosts& costs, const Ageing& ageing) {
  double best = INFINITY;
  for (int interval = 1; interval <= 64; ++interval)
    for (const int k : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 2048}) {
      double sum = 0;
      for (int n = 0; n < static_cast<int>(steps.size()); ++n) {
        const int trees_age = n % interval, cuts_age = n % (k * interval);
        sum += cuts_age == 0 ? costs.redecompose : trees_age == 0 ? costs.rebuild : 0;
        sum += steps[n].fresh_cost * ageing.cost(trees_age, cuts_age);
      }
      best = std::fmin(best, sum);
    }
  return best;
}

// As for one interval, the excess over fresh builds, here 10 to 70 % of the cost, is flat about its least
// value: an interval off by a part d costs d^2/2 of it. The two are chosen one by one, so each may be off by
// what the other one's ageing adds to the cost it is chosen for, up to a fifth here: 1 % of all for each.
TEST(TreeUpdateChoice, costs_at_most_two_percent_more_than_the_best_fixed_intervals) {
  for (const int deepest : {0, 9})
    for (const Ageing& ageing : {Ageing{0.02, 0.0002}, Ageing{0.02, 0.002}, Ageing{0.1, 0.01}})
      for (const double dearer : {2.0, 10.0})
        for (const double noise : {0.0, 0.03}) {
          const Steps steps = block_steps(2048, deepest);
          const double mean = mean_block_step_cost(deepest);
          const TreeUpdateCosts costs{mean, dearer * mean};
          EXPECT_LT(run(steps, deepest, costs, ageing, noise).cost, 1.02 * best_fixed(steps, costs, ageing))
              << "deepest " << deepest << ", ageing " << ageing.trees << " " << ageing.cuts << ", cuts "
              << dearer << ", noise " << noise;
        }
}

TEST(TreeUpdateChoice, renews_what_has_aged) {
  const Steps steps = block_steps(1000, 0);
  // Trees alone: a rebuild every sqrt(2 / 0.02) = 10 steps, and no new cuts but the first.
  const UpdateOutcome trees = run(steps, 0, {1, 5}, {0.02, 0}, 0);
  EXPECT_NEAR(trees.rebuilds, 100, 5);
  EXPECT_EQ(trees.cuts, 1);
  // Cuts alone: every sqrt(2 * 5 / 0.02) = 22 steps, 45 times. Ageing of the cuts within an interval of the
  // trees counts as the trees', so there are rebuilds too; but their cost does not reach that of the cuts.
  const UpdateOutcome cuts = run(steps, 0, {1, 5}, {0, 0.02}, 0);
  EXPECT_NEAR(cuts.cuts, 45, 15);
  EXPECT_LT(cuts.rebuilds, 5 * cuts.cuts);
  // Neither.
  const UpdateOutcome none = run(steps, 0, {1, 5}, {0, 0}, 0);
  EXPECT_EQ(none.rebuilds, 0);
  EXPECT_EQ(none.cuts, 1);
}

TEST(TreeUpdateChoice, counts_ages_from_what_was_done) {
  TreeUpdateChoice choice;
  choice.updated(TreeUpdate::redecompose);
  choice.step(1, {1, 0});
  EXPECT_EQ(choice.choose({1, 5}, {}), TreeUpdate::refit);
  choice.updated(TreeUpdate::refit);
  EXPECT_EQ(choice.state().trees.age, 1);
  choice.updated(TreeUpdate::rebuild);
  EXPECT_EQ(choice.state().trees.age, 0);
  EXPECT_EQ(choice.state().cuts.age, 1);
  choice.updated(TreeUpdate::redecompose);
  EXPECT_EQ(choice.state().cuts.age, 0);
}

TEST(TreeUpdateChoice, goes_on_from_its_state_to_the_bit) {
  const Steps steps = block_steps(400, 3);
  const TreeUpdateCosts costs{0.3, 0.9};
  const Ageing ageing{0.02, 0.005};
  TreeUpdateChoice whole, restored;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if (n % 11 == 0) restored = TreeUpdateChoice(TreeUpdateChoice::State(whole.state()));
    const TreeUpdate chosen = whole.choose(costs, coming(steps, n));
    EXPECT_EQ(restored.choose(costs, coming(steps, n)), chosen);
    const TreeUpdate update = n == 0 ? TreeUpdate::redecompose : chosen;
    for (TreeUpdateChoice* choice : {&whole, &restored}) {
      choice->updated(update);
      const TreeUpdateChoice::State state = choice->state();
      choice->step(steps[n].fresh_cost * ageing.cost(state.trees.age, state.cuts.age), steps[n]);
    }
    EXPECT_EQ(restored.state(), whole.state());
  }
  EXPECT_GT(whole.state().trees.builds, whole.state().cuts.builds);
  EXPECT_GT(whole.state().cuts.builds, 3);
}

}  // namespace
}  // namespace grove
