#include "tuning/rebuild_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/growing_cost.hpp"

namespace grove {
namespace {

using Steps = std::vector<StepWork>;

struct Outcome {
  double cost = 0;
  std::vector<std::int64_t> intervals;  // those that ended
};

/// Steps under RebuildInterval. growth(number of the step, distance): relative cost. `noise`: of the fresh
/// costs that it is told (estimated()).
template <class Growth>
Outcome run(const Steps& steps, int deepest, double build, Growth growth, double noise = 0) {
  RebuildInterval interval;
  std::mt19937_64 random(11);
  Outcome outcome;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if (n == 0 || interval.pays(build, coming(steps, n))) {
      if (n > 0) outcome.intervals.push_back(interval.age());
      interval.built(interval.lead(build, coming(steps, n)));
      outcome.cost += build;
    }
    const double cost =
        steps[n].fresh_cost * growth(static_cast<int>(n), static_cast<int>(interval.distance()));
    outcome.cost += cost;
    interval.step(cost, estimated(steps[n], mean_block_step_cost(deepest), noise, random));
  }
  return outcome;
}

TEST(RebuildInterval, linear_growth_ends_at_the_interval_that_theory_gives) {
  // Steps cost 1 + b distance, a build B: with the best moment in the middle of m steps the mean is
  // (B + b m^2 / 4) / m, least at m = 2 sqrt(B / b) = 28.3, and an integer next to it is found from exact
  // data.
  const Outcome outcome = run(block_steps(400, 0), 0, 1.0, [](int, int age) { return 1 + 0.005 * age; });
  ASSERT_GT(outcome.intervals.size(), 10u);
  // The first build did not lead yet.
  for (std::size_t n = 1; n < outcome.intervals.size(); ++n)
    EXPECT_NEAR(static_cast<double>(outcome.intervals[n]), 28.3, 1.3);
}

// The costs of 2048 steps against the best of the fixed intervals 1 .. 64. The mean cost is flat about its
// least value: an interval off by a part d costs d^2/2 of the excess over fresh builds, of 5 to 70 % of the
// cost here. Growth known to a third, so the interval to a sixth, thus costs below 1 % of all.
TEST(RebuildInterval, costs_at_most_a_percent_more_than_the_best_fixed_interval) {
  const std::vector<double (*)(int, int)> laws{
      [](int, int age) { return 1 + 0.005 * age; },
      [](int, int age) { return 1 + 0.1 * age; },
      [](int, int age) { return 1 + 0.002 * age * age; },
      [](int, int age) { return std::pow(1.03, age); },
  };
  for (const int deepest : {0, 3, 6, 9})
    for (const double build_per_step : {0.3, 3.0})
      for (const double noise : {0.0, 0.03})
        for (std::size_t law = 0; law < laws.size(); ++law) {
          const Steps steps = block_steps(2048, deepest);
          const double build = build_per_step * mean_block_step_cost(deepest);
          const double best = best_fixed_interval(steps, build, laws[law]);
          EXPECT_LT(run(steps, deepest, build, laws[law], noise).cost, 1.01 * best)
              << "deepest " << deepest << ", build " << build_per_step << ", noise " << noise << ", law "
              << law;
        }
}

TEST(RebuildInterval, knows_that_short_steps_age_faster) {
  // A rung's growth halves (or falls by 0.7) from each rung to the next lower one. The dearest steps follow
  // a build, so their growth is taken from that of the next deeper rung, up to twice as fast: the interval
  // may be a part 0.4 off, which costs 0.4^2/2 = 8 % of the excess of 10 to 40 %. Were all rungs taken to
  // age alike, the worst case here would cost 7 % more than the best interval.
  for (const int deepest : {3, 6, 9})
    for (const double ratio : {0.7, 0.5})
      for (const double build_per_step : {0.3, 3.0}) {
        const Steps steps = block_steps(4096, deepest);
        std::vector<double> speed(deepest + 1);  // of the steps whose lowest rung is given
        for (int rung = deepest; rung >= 0; --rung) {
          const double own = std::pow(ratio, deepest - rung);
          speed[rung] = rung == deepest ? own : 0.5 * (own + speed[rung + 1]);
        }
        const auto growth = [&](int n, int age) { return 1 + 0.05 * speed[steps[n].rung] * age; };
        const double build = build_per_step * mean_block_step_cost(deepest);
        EXPECT_LT(run(steps, deepest, build, growth).cost, 1.03 * best_fixed_interval(steps, build, growth))
            << "deepest " << deepest << ", ratio " << ratio << ", build " << build_per_step;
      }
}

TEST(RebuildInterval, follows_a_growth_that_changes) {
  // Growth per step 16 times as fast at the end, so the best interval falls from 35 to 9. Any fixed one is
  // wrong most of the time: following must beat the best of them.
  const auto growth = [](int n, int age) { return 1 + 0.002 * std::exp2(4.0 * n / 4096) * age; };
  for (const int deepest : {0, 4}) {
    const Steps steps = block_steps(4096, deepest);
    const double build = 1.2 * mean_block_step_cost(deepest);
    EXPECT_LT(run(steps, deepest, build, growth, 0.02).cost, best_fixed_interval(steps, build, growth));
  }
}

TEST(RebuildInterval, notices_that_a_growth_became_slow) {
  // First builds pay at each step; later the best interval is 2 sqrt(0.2 / 0.001) = 28, at an excess of
  // 2 * 0.2 / 28 = 0.014 a step, while a build each step costs 0.2.
  const auto growth = [](int n, int age) { return 1 + (n < 500 ? 0.5 : 0.001) * age; };
  const Outcome outcome = run(block_steps(2000, 0), 0, 0.2, growth);
  // The first of 400 intervals and those after each 32nd build see three ages, all others one.
  EXPECT_EQ(std::count(outcome.intervals.begin(), outcome.intervals.begin() + 400, 1), 400 - 1 - 12);
  EXPECT_NEAR(static_cast<double>(outcome.intervals.back()), 28, 3);
}

TEST(RebuildInterval, does_not_build_what_does_not_age_before_the_longest_interval) {
  for (const double slope : {0.0, -1e-4}) {
    const auto growth = [slope](int, int age) { return 1 + slope * age; };
    const Outcome outcome = run(block_steps(2100, 0), 0, 0.5, growth);
    EXPECT_EQ(outcome.intervals, (std::vector<std::int64_t>(2, RebuildInterval::longest)));
  }
}

TEST(RebuildInterval, knows_three_ages_before_it_builds) {
  RebuildInterval interval;
  interval.built();
  for (int age = 0; age < 3; ++age) {
    EXPECT_FALSE(interval.pays(1e-3, {}));
    EXPECT_FALSE(interval.fit());
    interval.step(1 + age, {1, 0});
  }
  EXPECT_TRUE(interval.fit());
  EXPECT_TRUE(interval.pays(1e-3, {}));
  interval.built();
  EXPECT_FALSE(interval.pays(0, {}));  // directly after a build
  interval.step(1, {1, 0});
  EXPECT_TRUE(interval.pays(1e-3, {}));  // judged by the interval before
}

TEST(RebuildInterval, builds_before_a_dear_step) {
  // Mean cost 1, growth 0.1 a step, build 2: by the mean alone, every 2 sqrt(2 / 0.1) = 8.9 steps.
  RebuildInterval interval;
  interval.built();
  for (int age = 0; age < 4; ++age) interval.step(1 + 0.1 * age, {1, 0});
  EXPECT_FALSE(interval.pays(2, {}));
  // A coming step of cost 8 costs 3.2 more on the old build; a build now saves that.
  EXPECT_TRUE(interval.pays(2, Steps{{8, 0}, {1, 0}, {1, 0}, {1, 0}}));
  for (int age = 4; age < 12; ++age) interval.step(1 + 0.1 * age, {1, 0});
  EXPECT_TRUE(interval.pays(2, {}));
  // Nor does it pay just before steps that cost nothing, be the build ever so old.
  EXPECT_FALSE(interval.pays(2, Steps(RebuildInterval::horizon, {0.01, 0})));
}

TEST(RebuildInterval, leads_to_where_the_steps_of_a_life_are_dear) {
  RebuildInterval interval;
  EXPECT_EQ(interval.lead(2, {}), 0) << "nothing is known";
  interval.built();
  for (int age = 0; age < 4; ++age) interval.step(1 + 0.1 * age, {1, 0});
  // A life of 9 steps: the middle of 0 to 8; with a second step of 50 (50 + 2 + 3 + ... + 8) / (8 + 50)
  // = 1.5.
  EXPECT_EQ(interval.lead(2, {}), 4);
  EXPECT_EQ(interval.lead(2, Steps{{1, 0}, {50, 0}, {1, 0}, {1, 0}}), 1);
  EXPECT_EQ(interval.lead(2, {}, 3), 1) << "all is to end after three";
}

// Interactions are the same so many steps before the best moment as behind it.
TEST(RebuildInterval, counts_distances_from_where_builds_lead) {
  RebuildInterval interval;
  interval.built(2);
  for (const std::int64_t distance : {2, 1, 0, 1, 2, 3}) {
    EXPECT_EQ(interval.distance(), distance);
    interval.step(1 + 0.1 * static_cast<double>(distance), {1, 0});
  }
  ASSERT_TRUE(interval.fit());
  EXPECT_NEAR(interval.fit()->cost(0), 1, 1e-12) << "rounding of a fit of exact data";
  EXPECT_NEAR(interval.fit()->cost(3), 1.3, 1e-12);
}

/// The fit is kept between changes of the state: each of these makes another one.
TEST(RebuildInterval, has_the_fit_of_its_state_after_each_change) {
  RebuildInterval interval;
  const auto expect_fit_of_state = [&](const char* after) {
    const auto found = interval.fit(), expected = RebuildInterval(interval.state()).fit();
    ASSERT_EQ(found.has_value(), expected.has_value()) << after;
    if (found) {
      EXPECT_EQ(found->cost(2), expected->cost(2)) << after;
      EXPECT_EQ(found->chi_square, expected->chi_square) << after;
    }
  };
  for (int n = 0; n < 40; ++n) {
    if (n % 5 == 0) {
      interval.built(n % 2);
      expect_fit_of_state("a build");
    }
    if (n % 17 == 0) {
      interval.doubt();
      expect_fit_of_state("a doubt");
    }
    interval.step(1 + 0.1 * static_cast<double>(interval.distance()) + 0.01 * (n % 3), {1, 0});
    expect_fit_of_state("a step");
  }
  EXPECT_TRUE(interval.fit());
}

TEST(RebuildInterval, goes_on_from_its_state_to_the_bit) {
  const Steps steps = block_steps(600, 3);
  RebuildInterval whole;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> factor(0.97, 1.03);
  RebuildInterval restored;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const bool pays = whole.pays(0.5, coming(steps, n));
    if (n % 7 == 0) restored = RebuildInterval(RebuildInterval::State(whole.state()));
    EXPECT_EQ(restored.pays(0.5, coming(steps, n)), pays);
    const double cost = steps[n].fresh_cost * (1 + 0.01 * static_cast<double>(whole.age())) * factor(random);
    for (RebuildInterval* interval : {&whole, &restored}) {
      if (pays) interval->built();
      interval->step(cost, steps[n]);
    }
    EXPECT_EQ(restored.state(), whole.state());
  }
  EXPECT_GT(whole.state().builds, 10);
}

}  // namespace
}  // namespace grove
