#include "tuning/rebuild_interval.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

namespace grove {
namespace {

static_assert(std::is_trivially_copyable_v<RebuildInterval::State>);

// The weight of what was seen before a build, after it. One interval of a few steps determines a growth of a
// percent a step badly where the steps scatter by percents; some sixteen do, and are short against the time
// in which a system changes.
constexpr double memory = 0.9375;
// Every so many builds three ages are seen again, although the best interval be one step or two: the fit
// would else know nothing of a growth that has become slower. Costs nothing where the best interval is
// longer.
constexpr std::int64_t builds_between_looks = 32;
constexpr std::int64_t fewest_ages = 3;
// The growth of a rung counts fully from this part of the growth of all. The dearest steps,
// those of the lowest rungs, tend to follow a build and are seldom seen old: then the next deeper rung
// stands in.
constexpr double borrowed = 1.0 / 16;

std::size_t age_class(std::int64_t age) {
  age = std::min(age, RebuildInterval::longest - 1);
  if (age < 16) return static_cast<std::size_t>(age);
  const auto bits = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(age)));  // 5: 16 .. 31
  return 16 + 8 * (bits - 5) + (static_cast<std::size_t>(age) >> (bits - 4)) - 8;
}

std::size_t rung_class(int rung) {
  return std::min(static_cast<std::size_t>(std::max(rung, 0)), RebuildInterval::rungs - 1);
}

// The best moment of the next build under a known growth: the dynamic programme of a process that each build
// renews. Values are costs beyond those of steps with fresh builds, less `rate` per step, the least mean of
// that excess under steps of mean cost: so plans of different length compare. Before steps of mean cost, a
// build and all that follows it then has the value build + continued(0) = 0.
class Plan {
 public:
  Plan(const GrowthFit& fit, double build_cost, double mean_cost, std::int64_t needed) : build_(build_cost) {
    const double fresh = fit.cost(0);
    for (std::int64_t age = 0; age < needed; ++age)
      excess_.push_back(fit.cost(static_cast<double>(age)) - fresh);
    // The mean excess falls as long as the next step's is lower; as all laws are convex, it never falls
    // again.
    double sum = build_cost, steps = 0;
    std::int64_t best = 0;
    while (best < RebuildInterval::longest) {
      if (best == std::ssize(excess_)) excess_.push_back(fit.cost(static_cast<double>(best)) - fresh);
      const double next = mean_cost * excess_[best];
      if (steps > 0 && next * steps >= sum) break;
      sum += next;
      ++steps;
      ++best;
    }
    rate_ = sum / steps;
    continued_.resize(best);
    double value = 0;
    for (std::int64_t age = best; age-- > 0;) {
      value = std::min(0.0, mean_cost * excess_[age] - rate_ + value);
      continued_[age] = value;
    }
  }

  // True if, at an age, a build before the first of the coming steps costs no more than the best later one.
  bool build_now(std::int64_t age, std::span<const double> coming) const {
    std::vector<double> rebuilt(coming.size() + 1);  // value of a build before each of the coming steps
    rebuilt[coming.size()] = 0;
    for (std::size_t first = coming.size(); first-- > 0;)
      rebuilt[first] = build_ + until_next_build(first, 0, coming, rebuilt);
    return rebuilt[0] <= until_next_build(0, age, coming, rebuilt);
  }

 private:
  // Least value of going on without a build before coming[first], which is walked at the given age.
  double until_next_build(std::size_t first, std::int64_t age, std::span<const double> coming,
                          std::span<const double> rebuilt) const {
    double sum = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = first; i < coming.size(); ++i) {
      if (i > first) least = std::min(least, sum + rebuilt[i]);
      sum += coming[i] * excess_[age++] - rate_;
    }
    return std::min(least, sum + (age < std::ssize(continued_) ? continued_[age] : 0.0));
  }

  double build_, rate_;
  std::vector<double> excess_;  // relative cost at each age beyond that of age 0
  std::vector<double>
      continued_;  // value of going on at each age by steps of mean cost; at later ages 0: build
};

}  // namespace

void RebuildInterval::built() {
  for (AgeClass& c : state_.classes) {
    c.fresh_cost *= memory;
    c.fresh_cost_times_age *= memory;
    c.cost *= memory;
  }
  for (RungGrowth& g : state_.growths) {
    g.seen *= memory;
    g.expected *= memory;
  }
  state_.age = 0;
  ++state_.builds;
}

void RebuildInterval::step(double cost, const StepWork& work) {
  const std::size_t rung = rung_class(work.rung);
  const auto age = static_cast<double>(state_.age);
  if (const std::optional<GrowthFit> growth = fit()) {
    state_.growths[rung].seen += cost - work.fresh_cost * growth->cost(0);
    state_.growths[rung].expected += work.fresh_cost * (growth->cost(age) - growth->cost(0));
  }
  AgeClass& c = state_.classes[age_class(state_.age)];
  c.fresh_cost += work.fresh_cost;
  c.fresh_cost_times_age += work.fresh_cost * age;
  c.cost += cost;
  ++state_.age;

  state_.cycle_cost += work.fresh_cost * factors()[rung];
  ++state_.cycle_steps;
  if (rung > 0 && state_.cycle_steps < longest) return;
  state_.mean_cost = mean_of_cycle();
  state_.cycle_cost = 0;
  state_.cycle_steps = 0;
}

double RebuildInterval::mean_of_cycle() const {
  return state_.cycle_cost / static_cast<double>(state_.cycle_steps);
}

std::array<double, RebuildInterval::rungs> RebuildInterval::factors() const {
  double expected = 0;
  for (const RungGrowth& g : state_.growths) expected += g.expected;
  const double lent = borrowed * expected;
  std::array<double, rungs> result;
  double factor = 1;
  for (std::size_t rung = rungs; rung-- > 0;) {
    const RungGrowth& g = state_.growths[rung];
    if (expected > 0 && g.expected + lent > 0)
      factor = std::max(0.0, (g.seen + lent * factor) / (g.expected + lent));
    result[rung] = factor;
  }
  return result;
}

std::optional<GrowthFit> RebuildInterval::fit() const {
  std::array<GrowthPoint, ages> points;
  std::size_t count = 0;
  for (const AgeClass& c : state_.classes)
    if (c.fresh_cost > 0)
      points[count++] = {c.fresh_cost_times_age / c.fresh_cost, c.cost / c.fresh_cost, c.fresh_cost};
  return best_growth_fit({points.data(), count});
}

bool RebuildInterval::pays(double build_cost, std::span<const StepWork> coming) const {
  const std::int64_t shortest = state_.builds % builds_between_looks == 0 ? fewest_ages : 1;
  if (state_.age < shortest) return false;
  if (state_.age >= longest) return true;
  const std::optional<GrowthFit> growth = fit();
  if (!growth) return false;
  const std::array<double, rungs> factor = factors();
  std::vector<double> costs;
  for (const StepWork& work : coming.first(std::min(coming.size(), horizon)))
    costs.push_back(work.fresh_cost * factor[rung_class(work.rung)]);
  const bool first_cycle = state_.mean_cost == 0 && state_.cycle_steps > 0;
  const double mean = first_cycle ? mean_of_cycle() : state_.mean_cost;
  return Plan(*growth, build_cost, mean, state_.age + std::ssize(costs)).build_now(state_.age, costs);
}

}  // namespace grove
