#include "tuning/rebuild_interval.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
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
// Every so many builds three distances are seen again, although the best interval be one step or two: the fit
// would else know nothing of a growth that has become slower. Costs nothing where the best interval is
// longer.
constexpr std::int64_t builds_between_looks = 32;
constexpr std::int64_t fewest_distances = 3;
// The growth of a rung counts fully from this part of the growth of all. The dearest steps,
// those of the lowest rungs, tend to follow a build and are seldom seen old: then the next deeper rung
// stands in.
constexpr double borrowed = 1.0 / 16;
// No rung ages slower than by this part of the fit: where costs scatter, some seem to get better with age.
constexpr double least_factor = 1.0 / 16;

std::size_t distance_class(std::int64_t distance) {
  const auto steps = static_cast<std::size_t>(std::min(distance, RebuildInterval::longest - 1));
  if (steps < 16) return steps;
  const auto bits = static_cast<std::size_t>(std::bit_width(steps));  // 5: 16 .. 31
  return 16 + 8 * (bits - 5) + (steps >> (bits - 4)) - 8;
}

std::size_t rung_class(int rung) {
  return std::min(static_cast<std::size_t>(std::max(rung, 0)), RebuildInterval::rungs - 1);
}

// The best moment of the next build under a known growth: the dynamic programme of a process that each build
// renews. Values are costs beyond those of steps that find everything at its best, less `rate` per step, the
// least mean of that excess under steps of mean cost: so plans of different length compare. Before steps of
// mean cost, a build and all that follows it then has the value build + continued(-lead) = 0. Moments are
// counted from the best one of a build, so that a build which leads begins at a negative one.
class Plan {
 public:
  Plan(const GrowthFit& fit, double build_cost, double mean_cost, std::int64_t needed)
      : build_(build_cost), mean_(mean_cost) {
    const double fresh = fit.cost(0);
    const auto grow_to = [&](std::int64_t size) {
      while (std::ssize(excess_) < size)
        excess_.push_back(std::max(0.0, fit.cost(static_cast<double>(excess_.size())) - fresh));
    };
    // The mean excess falls as long as the next step's is lower; as all laws are convex, it never falls
    // again. One more step is one more before the best moment, or behind it.
    double sum = build_cost;
    life_ = 0;
    while (life_ < RebuildInterval::longest) {
      const std::int64_t farthest = (life_ + 1) / 2;
      grow_to(farthest + 1);
      const double next = mean_cost * excess_[farthest];
      if (life_ > 0 && next * static_cast<double>(life_) >= sum) break;
      sum += next;
      ++life_;
    }
    rate_ = sum / static_cast<double>(life_);
    const std::int64_t end = life_ - (life_ - 1) / 2;  // the moment of the build behind that life
    grow_to(end + life_ + needed);
    continued_.resize(end);
    double value = 0;
    for (std::int64_t moment = end; moment-- > 0;) {
      value = std::min(0.0, mean_cost * excess_[moment] - rate_ + value);
      continued_[moment] = value;
    }
  }

  // How far a build before the first of the coming steps should lead.
  std::int64_t lead(std::span<const double> coming, std::int64_t most) const {
    return std::llround(middle_of_life(coming, std::min(life_, most), mean_));
  }

  // True if, at a moment, a build before the first of the coming steps costs no more than the best later one.
  bool build_now(std::int64_t moment, std::span<const double> coming) const {
    std::vector<double> rebuilt(coming.size() + 1);  // value of a build before each of the coming steps
    rebuilt[coming.size()] = 0;
    for (std::size_t first = coming.size(); first-- > 0;)
      rebuilt[first] = build_ + until_next_build(first, -lead(coming.subspan(first), life_), coming, rebuilt);
    return rebuilt[0] <= until_next_build(0, moment, coming, rebuilt);
  }

 private:
  // Least value of going on without a build before coming[first], which is walked at the given moment.
  double until_next_build(std::size_t first, std::int64_t moment, std::span<const double> coming,
                          std::span<const double> rebuilt) const {
    double sum = 0, least = std::numeric_limits<double>::infinity();
    for (std::size_t i = first; i < coming.size(); ++i) {
      if (i > first) least = std::min(least, sum + rebuilt[i]);
      sum += coming[i] * excess_[std::abs(moment++)] - rate_;
    }
    return std::min(least, sum + value_at(moment));
  }
  // The value of going on by steps of mean cost; late enough 0: build.
  double value_at(std::int64_t moment) const {
    if (moment >= std::ssize(continued_)) return 0;
    if (moment >= 0) return continued_[moment];
    double value = continued_[0];
    for (std::int64_t before = moment; before < 0; ++before) value += mean_ * excess_[-before] - rate_;
    return std::min(0.0, value);
  }

  double build_, mean_, rate_;
  std::int64_t life_;
  std::vector<double> excess_;     // relative cost at each distance beyond that of distance 0
  std::vector<double> continued_;  // value_at() from the best moment on
};

}  // namespace

/// All that was seen so far keeps this part of its weight.
void RebuildInterval::fade(double weight) {
  fit_.reset();
  for (DistanceClass& c : state_.classes) {
    c.fresh_cost *= weight;
    c.fresh_cost_times_distance *= weight;
    c.cost *= weight;
  }
  for (RungGrowth& g : state_.growths) {
    g.seen *= weight;
    g.expected *= weight;
  }
}

void RebuildInterval::built(std::int64_t lead) {
  fade(memory);
  state_.age = 0;
  state_.lead = lead;
  ++state_.builds;
}

void RebuildInterval::doubt() { fade(0.25); }

void RebuildInterval::step(double cost, const StepWork& work) {
  const std::size_t rung = rung_class(work.rung);
  const auto away = static_cast<double>(distance());
  if (const std::optional<GrowthFit> growth = fit()) {
    state_.growths[rung].seen += cost - work.fresh_cost * growth->cost(0);
    state_.growths[rung].expected += work.fresh_cost * (growth->cost(away) - growth->cost(0));
  }
  fit_.reset();
  DistanceClass& c = state_.classes[distance_class(distance())];
  c.fresh_cost += work.fresh_cost;
  c.fresh_cost_times_distance += work.fresh_cost * away;
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
      factor = std::max(least_factor, (g.seen + lent * factor) / (g.expected + lent));
    result[rung] = factor;
  }
  return result;
}

std::optional<GrowthFit> RebuildInterval::fit() const {
  if (fit_) return *fit_;
  std::array<GrowthPoint, distances> points;
  std::size_t count = 0;
  for (const DistanceClass& c : state_.classes)
    if (c.fresh_cost > 0)
      points[count++] = {c.fresh_cost_times_distance / c.fresh_cost, c.cost / c.fresh_cost, c.fresh_cost};
  fit_ = best_growth_fit({points.data(), count});
  return *fit_;
}

bool RebuildInterval::pays(double build_cost, std::span<const StepWork> coming) const {
  const std::int64_t shortest = state_.builds % builds_between_looks == 0 ? fewest_distances : 1;
  if (state_.age < shortest) return false;
  if (state_.age >= longest) return true;
  const std::optional<GrowthFit> growth = fit();
  if (!growth) return false;
  const std::vector<double> costs = costs_of(coming);
  return Plan(*growth, build_cost, mean_cost(), distance() + std::ssize(costs) + 1)
      .build_now(state_.age - state_.lead, costs);
}

std::int64_t RebuildInterval::lead(double build_cost, std::span<const StepWork> coming,
                                   std::int64_t most) const {
  const std::optional<GrowthFit> growth = fit();
  if (!growth) return 0;
  const Plan plan(*growth, build_cost, mean_cost(), 0);
  const std::int64_t chosen = plan.lead(costs_of(coming), most);
  // A look has to see three distances, where a lead of two sees them anyway.
  const bool looks = (state_.builds + 1) % builds_between_looks == 0;
  return looks && chosen + 1 < fewest_distances ? 0 : chosen;
}

/// The weights of the coming steps, as far as they are looked at.
std::vector<double> RebuildInterval::costs_of(std::span<const StepWork> coming) const {
  const std::array<double, rungs> factor = factors();
  std::vector<double> costs;
  for (const StepWork& work : coming.first(std::min(coming.size(), horizon)))
    costs.push_back(work.fresh_cost * factor[rung_class(work.rung)]);
  return costs;
}

double RebuildInterval::mean_cost() const {
  const bool first_cycle = state_.mean_cost == 0 && state_.cycle_steps > 0;
  return first_cycle ? mean_of_cycle() : state_.mean_cost;
}

}  // namespace grove
