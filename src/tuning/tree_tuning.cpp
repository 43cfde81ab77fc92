#include "tree_tuning.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

namespace grove {

static_assert(std::is_trivially_copyable_v<TreeTuning::State>);

TreeTuning::TreeTuning(const State& state, Rule rule)
    : prices_(state.prices),
      rule_(rule),
      choice_(state.choice),
      cuts_(state.cuts),
      last_(state.last),
      particles_(state.particles),
      rebuilt_(state.rebuilt),
      since_rebuild_(state.since_rebuild),
      age_(state.age),
      walked_(state.walked),
      step_(state.step),
      fresh_(state.fresh) {}

TreeTuning::State TreeTuning::state() const {
  return {prices_, choice_.state(), cuts_, last_, particles_, rebuilt_, since_rebuild_,
          age_,    walked_,         step_, fresh_};
}

void TreeTuning::began(const ForceReport& forces, bool have_rungs) {
  learn(forces);
  if (have_rungs && rule_.above) rule_.above->walked(forces);
}

TreeUpdate TreeTuning::plan(const RungCounts& particles, const BlockClock& clock, int deepest,
                            const BlockExcess::Due& due) {
  BlockClock later = clock;
  std::vector<StepWork> coming;
  while (coming.size() < RebuildInterval::horizon) {
    coming.push_back({fresh_cost(particles, later.first_active()), later.first_active()});
    later.advance(deepest);
  }
  step_ = coming.front();
  particles_ = static_cast<double>(std::accumulate(particles.begin(), particles.end(), Count{0}));
  const bool has_rule = rule_.interval > 0 || rule_.above;
  if (!has_rule) return choose(coming, due);
  const bool renews = rule_.above ? rule_.above->is_due() : age_ + 1 >= rule_.interval;
  return renews ? TreeUpdate::redecompose : TreeUpdate::refit;
}

void TreeTuning::begin(TreeUpdate update, const BlockExcess::Due& due) {
  last_ = update;
  if (!rates().in_blocks) choice_.updated(update);
  if (update == TreeUpdate::redecompose) {
    cuts_.cut();
    walked_ = 0;
    if (rule_.above) rule_.above->rebuilt();
  }
  const bool is_part = update == TreeUpdate::rebuild && rates().in_blocks;
  rebuilt_ = is_part ? static_cast<double>(due.particles) : particles_;
  since_rebuild_ = update == TreeUpdate::refit ? since_rebuild_ + 1 : 0;
  age_ = update == TreeUpdate::redecompose ? 0 : age_ + 1;
}

TreeUpdateRates TreeTuning::chosen_by() const {
  TreeUpdateRates result = rates();
  for (double* rate : {&result.rebuild, &result.rebuild_once, &result.redecompose}) *rate /= excess_weight;
  return result;
}

TreeUpdate TreeTuning::choose(std::span<const StepWork> coming, const BlockExcess::Due& due) const {
  if (walked_ >= most_cuts_walked * rates().cost(TreeUpdate::redecompose, particles_))
    return TreeUpdate::redecompose;
  const TreeUpdateRates by = chosen_by();
  const TreeUpdateCosts costs{by.cost(TreeUpdate::rebuild, particles_),
                              by.cost(TreeUpdate::redecompose, particles_)};
  if (!by.in_blocks) return choice_.choose(costs, coming);
  if (cuts_.pays(costs.redecompose, coming.front().fresh_cost)) return TreeUpdate::redecompose;
  // As for each block (BlockExcess): before the first step whose excess is above the mean cost per step.
  const double mean =
      static_cast<double>(due.mean) + by.rebuild_once / static_cast<double>(since_rebuild_ + 1);
  return static_cast<double>(due.excess) > mean ? TreeUpdate::rebuild : TreeUpdate::refit;
}

void TreeTuning::walked(const ForceReport& forces, const std::optional<StepSeconds>& seconds) {
  learn(forces);
  if (rule_.above) rule_.above->walked(forces);
  const double cost = static_cast<double>(forces.interactions.cell + forces.interactions.particle);
  if (cost == 0) return;
  walked_ += cost;
  const StepWork work{step_.fresh_cost > 0 ? step_.fresh_cost : cost, step_.rung};
  if (rates().in_blocks)
    cuts_.step(cost, work.fresh_cost, last_ == TreeUpdate::rebuild ? chosen_by().cost(last_, rebuilt_) : 0);
  else
    choice_.step(cost, work);
  if (seconds) prices_.add(last_, rebuilt_, cost, *seconds);
}

/// Rungs that are seldom active may never be in fresh trees: the least that was seen stands for that, and is
/// slowly forgotten.
void TreeTuning::learn(const ForceReport& forces) {
  constexpr double forgotten = 1.0 / 1024;
  for (std::size_t rung = 0; rung < rung_count; ++rung) {
    if (forces.active_of[rung] == 0) continue;
    const double seen = static_cast<double>(forces.work[rung]) / static_cast<double>(forces.active_of[rung]);
    double& fresh = fresh_[rung];
    fresh = last_ == TreeUpdate::redecompose || fresh == 0 ? seen : std::min(seen, fresh * (1 + forgotten));
  }
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
