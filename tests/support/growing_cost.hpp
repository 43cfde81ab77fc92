#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace grove {

/// Fresh costs of the steps of a hierarchy of `levels` block time steps below the longest one, of equal cost
/// per particle-step at each: all particles are active at the begin of a cycle of 2^levels steps, half of
/// them half a cycle later, a quarter at each odd quarter, and so on.
inline std::vector<double> block_step_costs(int steps, int levels) {
  const std::uint64_t cycle = std::uint64_t{1} << levels;
  std::vector<double> costs;
  for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(steps); ++n) {
    const int synchronised = n % cycle ? std::countr_zero(n % cycle) : levels;
    costs.push_back(std::ldexp(1.0, synchronised - levels));
  }
  return costs;
}

/// Mean over a cycle of the above.
inline double mean_block_step_cost(int levels) { return (1 + 0.5 * levels) / std::ldexp(1.0, levels); }

/// The least sum, over the fixed intervals 1 .. longest, of builds and of steps with the given fresh costs,
/// whose relative cost is growth(number of the step, age). The first build is counted.
template <class Growth>
double best_fixed_interval(const std::vector<double>& fresh, double build, Growth growth, int longest = 64) {
  double best = INFINITY;
  for (int interval = 1; interval <= longest; ++interval) {
    double sum = 0;
    for (int n = 0; n < static_cast<int>(fresh.size()); ++n)
      sum += (n % interval == 0 ? build : 0) + fresh[n] * growth(n, n % interval);
    best = std::fmin(best, sum);
  }
  return best;
}

}  // namespace grove
