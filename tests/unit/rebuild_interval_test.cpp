#include "time/rebuild_interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/growing_cost.hpp"

namespace grove {
namespace {

using Costs = std::vector<double>;

/// The coming costs that a run knows, up to the end of `fresh`.
std::span<const double> from(const Costs& fresh, std::size_t n) {
  return std::span(fresh).subspan(n, std::min(RebuildInterval::horizon, fresh.size() - n));
}

struct Outcome {
  double cost = 0;
  std::vector<std::int64_t> intervals;  // those that ended
};

/// Steps of the given fresh costs under RebuildInterval. growth(number of the step, age): relative cost. The
/// fresh costs that it is told are off by `noise` for a step of mean cost, more for cheaper steps.
template <class Growth>
Outcome run(const Costs& fresh, int levels, double build, Growth growth, double noise = 0) {
  RebuildInterval interval;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const double mean = mean_block_step_cost(levels);
  Outcome outcome;
  for (std::size_t n = 0; n < fresh.size(); ++n) {
    if (n == 0 || interval.pays(build, from(fresh, n))) {
      if (n > 0) outcome.intervals.push_back(interval.age());
      interval.built();
      outcome.cost += build;
    }
    const double cost = fresh[n] * growth(static_cast<int>(n), static_cast<int>(interval.age()));
    outcome.cost += cost;
    const double error = noise * std::fmin(4, std::sqrt(mean / fresh[n])) * normal(random);
    interval.step(cost, fresh[n] * (1 + error), (n + 1) % (std::size_t{1} << levels) == 0);
  }
  return outcome;
}

TEST(RebuildInterval, linear_growth_ends_at_the_interval_that_theory_gives) {
  // Steps cost 1 + b age, a build B: the mean (B + b m (m - 1) / 2) / m is least at m = sqrt(2 B / b) = 20,
  // and an integer next to it is found from exact data.
  const Outcome outcome = run(Costs(400, 1.0), 0, 1.0, [](int, int age) { return 1 + 0.005 * age; });
  ASSERT_GT(outcome.intervals.size(), 10u);
  for (const std::int64_t interval : outcome.intervals) EXPECT_NEAR(static_cast<double>(interval), 20, 1);
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
  for (const int levels : {0, 3, 6, 9})
    for (const double build_per_step : {0.3, 3.0})
      for (const double noise : {0.0, 0.03})
        for (std::size_t law = 0; law < laws.size(); ++law) {
          const Costs fresh = block_step_costs(2048, levels);
          const double build = build_per_step * mean_block_step_cost(levels);
          const double best = best_fixed_interval(fresh, build, laws[law]);
          EXPECT_LT(run(fresh, levels, build, laws[law], noise).cost, 1.01 * best)
              << "levels " << levels << ", build " << build_per_step << ", noise " << noise << ", law "
              << law;
        }
}

TEST(RebuildInterval, follows_a_growth_that_changes) {
  // Growth per step 16 times as fast at the end, so the best interval falls from 35 to 9. Any fixed one is
  // wrong most of the time: following must beat the best of them.
  const int steps = 4096;
  const auto growth = [](int n, int age) { return 1 + 0.002 * std::exp2(4.0 * n / 4096) * age; };
  for (const int levels : {0, 4}) {
    const Costs fresh = block_step_costs(steps, levels);
    const double build = 1.2 * mean_block_step_cost(levels);
    EXPECT_LT(run(fresh, levels, build, growth, 0.02).cost, best_fixed_interval(fresh, build, growth));
  }
}

TEST(RebuildInterval, notices_that_a_growth_became_slow) {
  // First builds pay at each step; later the best interval is sqrt(2 * 0.2 / 0.001) = 20, at an excess of
  // 2 * 0.2 / 20 = 0.02 a step, while a build each step costs 0.2.
  const int steps = 2000, change = 500;
  const auto growth = [](int n, int age) { return 1 + (n < change ? 0.5 : 0.001) * age; };
  const Costs fresh(steps, 1.0);
  const Outcome outcome = run(fresh, 0, 0.2, growth);
  // The first of 400 intervals and those after each 32nd build see three ages, all others one.
  EXPECT_EQ(std::count(outcome.intervals.begin(), outcome.intervals.begin() + 400, 1), 400 - 1 - 12);
  EXPECT_NEAR(static_cast<double>(outcome.intervals.back()), 20, 3);
}

TEST(RebuildInterval, does_not_build_what_does_not_age_before_the_longest_interval) {
  for (const double slope : {0.0, -1e-4}) {
    const auto growth = [slope](int, int age) { return 1 + slope * age; };
    const Outcome outcome = run(Costs(2100, 1.0), 0, 0.5, growth);
    EXPECT_EQ(outcome.intervals, (std::vector<std::int64_t>(2, RebuildInterval::longest)));
  }
}

TEST(RebuildInterval, knows_three_ages_before_it_builds) {
  RebuildInterval interval;
  interval.built();
  for (int age = 0; age < 3; ++age) {
    EXPECT_FALSE(interval.pays(1e-3, {}));
    EXPECT_FALSE(interval.fit());
    interval.step(1 + age, 1, true);
  }
  EXPECT_TRUE(interval.fit());
  EXPECT_TRUE(interval.pays(1e-3, {}));
  interval.built();
  EXPECT_FALSE(interval.pays(0, {}));  // directly after a build
  interval.step(1, 1, true);
  EXPECT_TRUE(interval.pays(1e-3, {}));  // judged by the interval before
}

TEST(RebuildInterval, builds_before_a_dear_step) {
  // Mean cost 1, growth 0.1 a step, build 2: by the mean alone, every sqrt(2 * 2 / 0.1) = 6.3 steps.
  RebuildInterval interval;
  interval.built();
  for (int age = 0; age < 4; ++age) interval.step(1 + 0.1 * age, 1, true);
  EXPECT_FALSE(interval.pays(2, {}));
  // A coming step of cost 8 costs 3.2 more on the old build; a build now saves that. If it comes after
  // another step, so does the build.
  EXPECT_TRUE(interval.pays(2, Costs{8, 1, 1, 1}));
  EXPECT_FALSE(interval.pays(2, Costs{1, 8, 1, 1}));
  for (int age = 4; age < 12; ++age) interval.step(1 + 0.1 * age, 1, true);
  EXPECT_TRUE(interval.pays(2, {}));
  // Nor does it pay just before steps that cost nothing, be the build ever so old.
  EXPECT_FALSE(interval.pays(2, Costs{0.01, 0.01, 0.01, 8}));
}

TEST(RebuildInterval, goes_on_from_its_state_to_the_bit) {
  const Costs fresh = block_step_costs(600, 3);
  RebuildInterval whole;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> factor(0.97, 1.03);
  RebuildInterval restored;
  for (std::size_t n = 0; n < fresh.size(); ++n) {
    const bool pays = whole.pays(0.5, from(fresh, n));
    if (n % 7 == 0) restored = RebuildInterval(RebuildInterval::State(whole.state()));
    EXPECT_EQ(restored.pays(0.5, from(fresh, n)), pays);
    const double cost = fresh[n] * (1 + 0.01 * static_cast<double>(whole.age())) * factor(random);
    for (RebuildInterval* interval : {&whole, &restored}) {
      if (pays) interval->built();
      interval->step(cost, fresh[n], (n + 1) % 8 == 0);
    }
    EXPECT_EQ(restored.state(), whole.state());
  }
  EXPECT_GT(whole.state().builds, 10);
}

}  // namespace
}  // namespace grove
