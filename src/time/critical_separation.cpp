#include "time/critical_separation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <type_traits>

#include "base/errors.hpp"

namespace grove {
namespace {

using State = CriticalSeparation::State;
static_assert(std::is_trivially_copyable_v<State>);

// Where Brent's method has evaluated its function, as far as the costs are known, and where it wants to next.
struct Search {
  std::array<double, CriticalSeparation::most_trials + 1> asked;
  bool ended;
};

Search replay(const State& state) {
  struct Unknown {};
  Search search{};
  std::int64_t evaluations = 0;
  const auto cost = [&](double place) {
    search.asked[evaluations] = place;
    if (evaluations == state.trials) throw Unknown{};
    return state.costs[evaluations++];
  };
  try {
    boost::math::tools::brent_find_minima(cost, 1.0, 2.0, CriticalSeparation::bits);
    search.ended = true;
  } catch (const Unknown&) {
    search.ended = false;
  }
  return search;
}

double separation_at(const State& state, double place) {
  return state.lower * std::exp((place - 1) * std::log(state.upper / state.lower));
}

}  // namespace

CriticalSeparation::CriticalSeparation(double lower, double upper) : state_{} {
  if (!(0 < lower && lower < upper && std::isfinite(upper)))
    throw InputError(
        fmt::format("the bracket of the critical separation, {:g} to {:g}, must be positive and ascending",
                    lower, upper));
  state_.lower = lower;
  state_.upper = upper;
  try_next();
}

void CriticalSeparation::try_next() {
  const Search search = replay(state_);
  const std::int64_t trials = state_.trials;
  if (!search.ended && trials < most_trials) {
    state_.separation = separation_at(state_, search.asked[trials]);
    return;
  }
  const auto least = std::min_element(state_.costs.begin(), state_.costs.begin() + trials);
  state_.separation = separation_at(state_, search.asked[least - state_.costs.begin()]);
  state_.found = 1;
  state_.first_mean = 0;
}

void CriticalSeparation::interval_ended(double cost) {
  if (!found()) {
    state_.costs[state_.trials++] = cost;
    try_next();
    return;
  }
  state_.sum += cost;
  if (++state_.summed < averaged) return;
  const double mean = state_.sum / averaged;
  state_.sum = 0;
  state_.summed = 0;
  if (state_.first_mean == 0) state_.first_mean = mean;
  if (std::abs(mean - state_.first_mean) <= drift * state_.first_mean) return;
  state_.trials = 0;
  state_.found = 0;
  try_next();
}

}  // namespace grove
