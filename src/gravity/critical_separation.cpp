#include "gravity/critical_separation.hpp"

#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace grove {

double walk_cost(const Communicator& comm, std::span<const WalkCounts> counts) {
  // A warp alone makes an instruction in five clocks, an H200 with all its warps 433 in one.
  constexpr double at_a_time = 2000;
  double cost = 0;
  for (const WalkCounts& pass : counts) {
    Count instructions = pass.instructions;
    comm.sum(std::span<Count>(&instructions, 1));
    cost += static_cast<double>(instructions) / at_a_time + static_cast<double>(comm.max(pass.longest));
  }
  return cost;
}

double find_critical_separation(const Communicator& comm, double largest,
                                const std::function<double(double)>& cost) {
  constexpr int most_steps = 10;
  constexpr double give_up = 1.2;  // costs that rise by so much rise on: smaller parts save less and less
  struct Trial {
    double place, separation, cost;  // place: log2(separation / largest)
  };
  Trial best{0, largest, cost(largest)};
  const auto try_at = [&](double place) {
    // Processors of another kind might round the power differently, and then split other groups.
    const double separation = comm.broadcast(std::exp2(place) * largest);
    const Trial trial{place, separation, cost(separation)};
    if (trial.cost < best.cost) best = trial;
    return trial.cost;
  };
  for (int step = 1; step <= most_steps; ++step)
    if (try_at(-2.0 * step) > give_up * best.cost) break;
  if (best.place == 0) return largest;
  constexpr int bits = 6;  // of the place between its bounds, 4 apart: 4 %
  std::uintmax_t most_trials = most_separation_trials - 2 - most_steps;  // behind the first one
  boost::math::tools::brent_find_minima(try_at, best.place - 2, best.place + 2, bits, most_trials);
  return best.separation;
}

}  // namespace grove
