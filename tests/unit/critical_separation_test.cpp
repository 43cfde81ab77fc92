#include "time/critical_separation.hpp"

#include <gtest/gtest.h>

#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "base/errors.hpp"

namespace grove {
namespace {

using Cost = std::function<double(double)>;

constexpr double lower = 0.01, upper = 0.64;

// Costs as of walks: splitting shortens lists and adds tests; both are powers of the separation, more or
// less.
const std::vector<Cost> costs{
    [](double x) { return 1 + 0.1 * std::pow(std::log(x / 0.07), 2); },
    [](double x) { return std::pow(x, 0.3) + 0.02 / x; },
    [](double x) { return 1 + std::abs(std::log(x / 0.2)); },
    [](double x) { return 2 - x; },  // best unsplit
    [](double x) { return 1 + x; },
    [](double) { return 3.0; },
};

/// All separations tried, until the search has ended.
std::vector<double> search(CriticalSeparation& tuned, const Cost& cost) {
  std::vector<double> tried;
  while (!tuned.found()) {
    tried.push_back(tuned.separation());
    tuned.interval_ended(cost(tuned.separation()));
  }
  return tried;
}

TEST(CriticalSeparation, evaluates_as_a_call_of_the_library_would) {
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::vector<double> direct;
    const auto f = [&](double place) {
      direct.push_back(lower * std::exp((place - 1) * std::log(upper / lower)));
      return costs[i](direct.back());
    };
    boost::uintmax_t steps = CriticalSeparation::most_trials - 1;  // beyond the first evaluation
    boost::math::tools::brent_find_minima(f, 1.0, 2.0, CriticalSeparation::bits, steps);
    CriticalSeparation tuned(lower, upper);
    const std::vector<double> tried = search(tuned, costs[i]);
    ASSERT_EQ(tried.size(), direct.size()) << i;
    // The library is compiled twice here; where it is inlined, rounding may differ, which the parabolas of
    // differences of costs of 1e-4 and more enlarge to 1e-12.
    for (std::size_t k = 0; k < tried.size(); ++k) EXPECT_NEAR(tried[k], direct[k], 1e-10 * direct[k]) << i;
  }
}

TEST(CriticalSeparation, ends_next_to_the_minimum_and_stays) {
  // A separation counts as found within two steps of (2 + 1/4) 2^(1-bits) of the bracket's logarithm.
  const double precision = 2 * 2.25 * std::ldexp(1.0, 1 - CriticalSeparation::bits) * std::log(upper / lower);
  const double minima[] = {0.07, std::pow(0.02 / 0.3, 1 / 1.3), 0.2, upper, lower};
  for (std::size_t i = 0; i < std::size(minima); ++i) {
    CriticalSeparation tuned(lower, upper);
    search(tuned, costs[i]);
    EXPECT_NEAR(std::log(tuned.separation()), std::log(minima[i]), precision) << i;
    const double found = tuned.separation();
    for (int k = 0; k < 100; ++k) {
      tuned.interval_ended(costs[i](found) * (k % 2 ? 0.9 : 1.1));  // scatters, but its mean stays
      EXPECT_EQ(tuned.separation(), found);
    }
  }
}

TEST(CriticalSeparation, scatter_of_the_costs_costs_little) {
  // The first three trials do not depend on the scatter; one of them costs 1.3 % more than the minimum. The
  // trial taken is measured the cheapest, so it truly costs at most the difference of two errors more than
  // the best one: 6 %, at three sigma each. On average it must be far less: half of the 5 % that tuning may
  // lose.
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 0.01);
  double sum = 0;
  const int searches = 100;
  for (int i = 0; i < searches; ++i) {
    CriticalSeparation tuned(lower, upper);
    search(tuned, [&](double x) { return costs[0](x) * (1 + noise(random)); });
    EXPECT_LT(costs[0](tuned.separation()), 1.013 * 1.06);
    sum += costs[0](tuned.separation());
  }
  EXPECT_LT(sum / searches, 1.025);
}

TEST(CriticalSeparation, searches_anew_when_the_cost_has_drifted) {
  CriticalSeparation tuned(lower, upper);
  search(tuned, costs[0]);
  const double found = tuned.separation();
  const auto after = [&](double factor) {  // a whole average
    for (int k = 0; k < CriticalSeparation::averaged; ++k) tuned.interval_ended(factor * costs[0](found));
  };
  after(1);
  after(1.04);
  after(0.96);
  EXPECT_TRUE(tuned.found());
  after(1.06);
  EXPECT_FALSE(tuned.found());
  search(tuned, costs[2]);
  EXPECT_NEAR(std::log(tuned.separation() / 0.2), 0, 0.3);
}

TEST(CriticalSeparation, goes_on_from_its_state_to_the_bit) {
  CriticalSeparation whole(lower, upper), restored(1, 2);
  for (int k = 0; k < 60; ++k) {
    if (k % 5 == 0) restored = CriticalSeparation(CriticalSeparation::State(whole.state()));
    const double cost = costs[k < 30 ? 0 : 1](whole.separation());
    whole.interval_ended(cost);
    restored.interval_ended(cost);
    EXPECT_EQ(restored.state(), whole.state());
  }
}

TEST(CriticalSeparation, refuses_a_bracket_without_inside) {
  EXPECT_THROW(CriticalSeparation(0, 1), InputError);
  EXPECT_THROW(CriticalSeparation(1, 1), InputError);
  EXPECT_THROW(CriticalSeparation(2, 1), InputError);
}

}  // namespace
}  // namespace grove
