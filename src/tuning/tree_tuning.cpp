#include "tree_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

namespace grove {

static_assert(std::is_trivially_copyable_v<TreeTuning::State>);

namespace {

double cost_of(const ForceReport& forces) {
  return static_cast<double>(forces.interactions.cell + forces.interactions.particle);
}

}  // namespace

TreeTuning::TreeTuning(const State& state, Rule rule)
    : price_(state.price),
      rule_(rule),
      interval_(state.interval),
      particles_(state.particles),
      walked_(state.walked),
      lost_(state.lost),
      life_(state.life),
      step_(state.step),
      fresh_(state.fresh) {}

TreeTuning::State TreeTuning::state() const {
  return {price_, interval_.state(), particles_, walked_, lost_, life_, step_, fresh_};
}

void TreeTuning::began(const ForceReport& forces, bool have_rungs) {
  learn(forces);
  const double cost = cost_of(forces);
  interval_.step(cost, {cost, 0});
  walked_ = cost;
  if (have_rungs && rule_.above) rule_.above->walked(forces);
}

TreeTuning::Choice TreeTuning::plan(const RungCounts& particles, const ComingSteps& steps) {
  std::vector<StepWork> coming;
  for (const int rung : steps.first_active) coming.push_back({fresh_cost(particles, rung), rung});
  step_ = coming.front();
  particles_ = static_cast<double>(std::accumulate(particles.begin(), particles.end(), Count{0}));
  return {are_due(coming) ? TreeUpdate::redecompose : TreeUpdate::refit, lead(coming)};
}

bool TreeTuning::are_due(std::span<const StepWork> coming) const {
  if (rule_.above) return rule_.above->is_due();
  if (rule_.interval > 0) return interval_.age() >= rule_.interval;
  return walked_ >= most_cuts_walked * price_of_cuts() || is_lost() ||
         interval_.pays(price_of_cuts(), coming);
}

/// To the middle of the time until the next cuts, if there were some now.
double TreeTuning::lead(std::span<const StepWork> coming) const {
  if (rule_.above) return 0;
  std::vector<double> costs;
  for (const StepWork& work : coming) costs.push_back(work.fresh_cost);
  if (rule_.interval > 0) return middle_of_life(costs, rule_.interval);
  double left = most_cuts_walked * price_of_cuts();
  std::int64_t most = 0;
  while (most < std::ssize(costs) && left > 0) left -= costs[static_cast<std::size_t>(most++)];
  if (left > 0) most = RebuildInterval::longest;
  const std::int64_t life = is_lost() ? interval_.age() : life_;
  return static_cast<double>(interval_.lead(price_of_cuts(), coming, std::min(most, life)));
}

void TreeTuning::begin(const Choice& choice) {
  if (choice.update != TreeUpdate::redecompose) return;
  if (is_lost()) {
    interval_.doubt();
    life_ = std::max<std::int64_t>(interval_.age(), 1);
  } else if (interval_.age() >= life_) {
    life_ = std::min(2 * life_, RebuildInterval::longest);
  }
  interval_.built(std::llround(choice.lead));
  walked_ = lost_ = 0;
  if (rule_.above) rule_.above->rebuilt();
}

void TreeTuning::walked(const ForceReport& forces, const std::optional<StepSeconds>& seconds) {
  learn(forces);
  if (rule_.above) rule_.above->walked(forces);
  const TreeUpdate update = interval_.age() == 0 ? TreeUpdate::redecompose : TreeUpdate::refit;
  const double cost = cost_of(forces);
  interval_.step(cost, {step_.fresh_cost > 0 ? step_.fresh_cost : cost, step_.rung});
  walked_ += cost;
  if (step_.fresh_cost > 0) lost_ += cost - step_.fresh_cost;
  if (seconds && cost > 0) price_.add(update, particles_, cost, *seconds);
}

/// Rungs that are seldom active may never be in trees at their best: the least that was seen stands for that,
/// and is slowly forgotten.
void TreeTuning::learn(const ForceReport& forces) {
  constexpr double forgotten = 1.0 / 1024;
  const bool is_best = interval_.distance() == 0;
  for (std::size_t rung = 0; rung < rung_count; ++rung) {
    if (forces.active_of[rung] == 0) continue;
    const double seen = static_cast<double>(forces.work[rung]) / static_cast<double>(forces.active_of[rung]);
    double& fresh = fresh_[rung];
    fresh = is_best || fresh == 0 ? seen : std::min(seen, fresh * (1 + forgotten));
  }
}

bool TreeTuning::have_aged(const ForceReport& forces) const {
  double fresh = 0;
  for (std::size_t rung = 0; rung < rung_count; ++rung)
    fresh += static_cast<double>(forces.active_of[rung]) * fresh_of(rung);
  return fresh > 0 && cost_of(forces) >= much_aged * fresh;
}

/// A rung that was not active yet counts as the nearest one that was.
double TreeTuning::fresh_of(std::size_t rung) const {
  for (std::size_t distance = 0; distance < rung_count; ++distance) {
    if (rung >= distance && fresh_[rung - distance] > 0) return fresh_[rung - distance];
    if (rung + distance < rung_count && fresh_[rung + distance] > 0) return fresh_[rung + distance];
  }
  return 0;
}

double TreeTuning::fresh_cost(const RungCounts& particles, int first_active) const {
  double sum = 0;
  for (auto rung = static_cast<std::size_t>(first_active); rung < rung_count; ++rung)
    if (particles[rung] > 0) sum += static_cast<double>(particles[rung]) * fresh_of(rung);
  return sum;
}

}  // namespace grove
