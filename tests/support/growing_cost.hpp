#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tuning/rebuild_interval.hpp"

namespace grove {

/// Steps of a hierarchy of rungs 0 (the longest steps) .. deepest, with as many particles at each rung as
/// at all deeper ones together, whose cost is a common one per particle and step: so all are active at the
/// begin of a cycle of 2^deepest steps, half of them half a cycle later, a quarter at each odd quarter, and
/// so on.
inline std::vector<StepWork> block_steps(int count, int deepest) {
  const std::uint64_t cycle = std::uint64_t{1} << deepest;
  std::vector<StepWork> steps;
  for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(count); ++n) {
    const int rung = n % cycle ? deepest - std::countr_zero(n % cycle) : 0;
    steps.push_back({std::ldexp(1.0, -rung), rung});
  }
  return steps;
}

/// The coming steps that a run knows: from number n on.
inline std::span<const StepWork> coming(const std::vector<StepWork>& steps, std::size_t n) {
  return std::span(steps).subspan(n, std::min(RebuildInterval::horizon, steps.size() - n));
}

/// A step as a run learns of it: its fresh cost is off by the part `noise` where the step has mean cost, by
/// more where it is cheaper.
inline StepWork estimated(const StepWork& step, double mean, double noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double error = noise * std::fmin(4, std::sqrt(mean / step.fresh_cost)) * normal(random);
  return {step.fresh_cost * (1 + error), step.rung};
}

/// Mean over a cycle of the above.
inline double mean_block_step_cost(int deepest) { return std::ldexp(1 + 0.5 * deepest, -deepest); }

/// The least sum, over the fixed intervals 1 .. 64, of builds and of steps, whose relative cost is
/// growth(number of the step, distance from the best moment). Builds lead to the middle of each interval, or
/// not. The first one is counted.
template <class Growth>
double best_fixed_interval(const std::vector<StepWork>& steps, double build, Growth growth) {
  double best = INFINITY;
  for (int interval = 1; interval <= 64; ++interval) {
    double sum = 0;
    for (int n = 0; n < static_cast<int>(steps.size()); ++n)
      sum += (n % interval == 0 ? build : 0) +
             steps[n].fresh_cost * growth(n, std::abs(n % interval - (interval - 1) / 2));
    best = std::fmin(best, sum);
  }
  return best;
}

}  // namespace grove
