#include "tuning/cut_timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace grove {
namespace {

constexpr double cut_cost = 100;

/// Mean cost per step beyond the fresh one, with cuts and rebuilds, when cut as CutTiming says. Every fourth
/// step costs `dear` times as much as others.
double mean_cost(const std::function<double(int)>& growth, double dear, double rebuilds) {
  CutTiming timing;
  double sum = 0;
  constexpr int steps = 4000;
  for (int step = 0, age = 0; step < steps; ++step, ++age) {
    const double fresh = step % 4 == 0 ? 10 * dear : 10;
    if (timing.pays(cut_cost, fresh)) {
      timing.cut();
      sum += cut_cost;
      age = 0;
    }
    const double cost = fresh * growth(age), rebuild = age > 0 ? rebuilds : 0;
    timing.step(cost, fresh, rebuild);
    sum += cost - fresh + rebuild;
  }
  return sum / steps;
}

/// The least of all fixed intervals, the dear steps at their best.
double best_cost(const std::function<double(int)>& growth, double dear, double rebuilds) {
  double best = 1e300;
  for (int interval = 1; interval <= 128; ++interval)
    for (int phase = 0; phase < 4; ++phase) {
      double sum = 0;
      constexpr int steps = 3840;  // any interval that matters divides it nearly
      for (int step = 0; step < steps; ++step) {
        const int age = (step + phase) % interval;
        sum += (step % 4 == 0 ? 10 * dear : 10) * (growth(age) - 1) + (age > 0 ? rebuilds : cut_cost);
      }
      best = std::min(best, sum / steps);
    }
  return best;
}

TEST(CutTiming, costs_little_more_than_the_best_fixed_interval) {
  // The expectation lags behind the growth by about a step, of intervals of three steps and more: the cost at
  // its flat minimum changes by the square of that, a tenth.
  const std::function<double(int)> growths[] = {
      [](int t) { return 1 + 0.02 * t; }, [](int t) { return 1 + 0.2 * t; },
      [](int t) { return 1 + 0.004 * t * t; }, [](int t) { return std::pow(1.05, t); }};
  for (const auto& growth : growths)
    for (const double dear : {1.0, 8.0})
      for (const double rebuilds : {0.0, 3.0})
        EXPECT_LT(mean_cost(growth, dear, rebuilds), 1.15 * best_cost(growth, dear, rebuilds))
            << growth(1) << " " << growth(10) << ", " << dear << ", " << rebuilds;
}

TEST(CutTiming, cuts_each_time_where_one_step_costs_more_than_that) {
  EXPECT_NEAR(mean_cost([](int t) { return t == 0 ? 1.0 : 20.0; }, 1, 0), cut_cost, 0.2 * cut_cost);
}

TEST(CutTiming, never_cuts_what_does_not_age) {
  EXPECT_EQ(mean_cost([](int) { return 1.0; }, 8, 0), 0);
}

}  // namespace
}  // namespace grove
