// Simulation: which update of the trees comes before a step, and the forces behind it.
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "comm/agreed.hpp"
#include "kernels/math/tree_renewal.hpp"
#include "simulation.hpp"

namespace grove {

/// True if new cuts have to bring particles back into a periodic box. The expansion of its far images is that
/// of places in it, or little outside. strayed: Backend::drift(), on this rank.
bool Simulation::has_strays(double strayed) const {
  const std::optional<Box> box = periodic_box();
  if (!box) return false;
  strayed = comm_.max(strayed);
  require_no_runaway(comm_, *backend_, *box, strayed, now());
  return strayed > box->edge / 32;
}

/// The update before the walk of the step that ends at the time of this clock. particles: by rung, of which
/// `deepest` is the deepest one.
Simulation::UpdatePlan Simulation::planned(const RungCounts& particles, const BlockClock& clock,
                                           int deepest) {
  const ComingSteps coming = clock.coming(deepest);
  return {tuning_.plan(particles, coming), coming.drift};
}

/// As it was agreed on in the step before, if there was one, but for what has to be.
Simulation::UpdatePlan Simulation::plan_update(int deepest, bool has_strays) {
  if (!next_update_) {
    next_update_ = planned(rung_costs_.particles, clock_, deepest);
    next_update_ = comm_.broadcast(*next_update_);
  }
  UpdatePlan plan = *std::exchange(next_update_, std::nullopt);
  // Nobody knows how long cuts last that come for this reason, so they do not lead.
  if (has_strays) plan.choice = {TreeUpdate::redecompose, 0};
  tuning_.begin(plan.choice);
  return plan;
}

void Simulation::carry_out(const UpdatePlan& plan) {
  leaves_moved_ = 0;
  if (plan.choice.update == TreeUpdate::redecompose)
    decompose(plan.choice.lead * plan.drift);
  else
    leaves_moved_ = leaf_moves_.move(*backend_, domain_, longest_steps(), timers_);
}

/// How many particles the step under way is of.
Count Simulation::active() const {
  const RungCounts& particles = rung_costs_.particles;
  return std::accumulate(particles.begin() + clock_.first_active(), particles.end(), Count{0});
}

/// The rung from which on particles may have their trees cut anew, if any may: the first active one. Where
/// too many are active it is that of the deepest particles, behind new cuts that lead, and where the last
/// walk says that trees have aged much. The published rule of rebuilds has refits alone between new cuts; new
/// trees that do not lead are as good.
std::optional<int> Simulation::renewable_from(const TreeTuning::Choice& choice) const {
  const RungCounts& particles = rung_costs_.particles;
  const Count all = std::accumulate(particles.begin(), particles.end(), Count{0});
  const GravityParameters& gravity = parameters_.gravity;
  const bool is_new = choice.update == TreeUpdate::redecompose, are_fresh = is_new && choice.lead == 0;
  if (!gravity.self_gravity || gravity.is_direct(all) || !follows_from_counts(gravity.tree) ||
      tuning_.rule().above || are_fresh)
    return {};
  int rung = clock_.first_active();
  Count deep = active();
  // A few particles say little of the others' trees.
  const bool is_known = TreeRenewal::are_enough(all, forces_.active, domain_.cells[0].leaves);
  const bool are_behind = is_new || (is_known && tuning_.have_aged(forces_));
  while (are_behind && !TreeRenewal::are_few(all, deep)) deep -= particles[static_cast<std::size_t>(rung++)];
  const bool are_right =
      TreeRenewal::are_few(all, deep) && TreeRenewal::are_enough(all, deep, domain_.cells[0].leaves);
  return are_right ? std::optional(rung) : std::nullopt;
}

/// Seconds of the step on the slowest rank, if tree updates are judged by measured time.
std::optional<StepSeconds> Simulation::measured() const {
  if (parameters_.tuning.cost == TuningCost::counted) return std::nullopt;
  std::array<double, 2> seconds{};
  for (const char* phase : {"decompose", "migrate", "sort", "build", "moments"})
    seconds[0] += timers_.seconds(phase);
  for (const char* phase : {"let", "walk"}) seconds[1] += timers_.seconds(phase);
  comm_.max(std::span<double>(seconds));
  return StepSeconds{seconds[0], seconds[1]};
}

void Simulation::decompose(double lead) {
  DecompositionReport report;
  const bool is_first = domain_.cells.empty();
  DecompositionParameters parameters = parameters_.decomposition;
  epoch_.cut(steps_done_, clock_.state());
  parameters.epoch = static_cast<std::uint32_t>(epoch_.number);
  parameters.speeds = leaf_moves_.speeds();
  parameters.particle_cost = leaf_moves_.particle_cost();
  parameters.lead = lead;
  parameters.rungs = rung_costs_.particles;
  if (const auto box = periodic_box()) backend_->wrap(*box);
  before_cuts_.emplace(
      BeforeCuts{ExchangeGuard(comm_, *backend_), is_first ? std::nullopt : std::optional(domain_.box)});
  try {
    domain_ = backend_->decompose(parameters, domain_, report);
  } catch (const Agreed<InputError>&) {
    if (!is_first) require_finite_positions(comm_, *backend_, now());  // no fault of the input
    throw;
  }
  leaf_moves_.decomposed(longest_steps());
  timers_.add("advance", report.timers.cost("advance"));
  const PhaseTimers::Cost migrate = report.timers.cost("migrate"), sort = report.sort(),
                          wait = report.timers.cost("wait");
  timers_.add("migrate", migrate);
  timers_.add("sort", sort);
  timers_.add("wait", wait);
  timers_.add("decompose", report.timers.cost("total") - migrate - sort - wait);
}

void Simulation::evaluate_forces(EvaluationPlan plan) {
  Gas* const gas = backend_->gas();
  const auto ends = std::move(plan.closes);
  plan.closes = [&](JointReduction& joint, bool is_complete) {
    if (before_cuts_) before_cuts_->particles.look_again();
    if (ends && !gas) ends(joint, is_complete);  // here a GPU is waited for in any case
    if (before_cuts_) before_cuts_->particles.join(joint);
  };
  backend_->gravity().set_softening(parameters_.softening(clock_.scale_factor()));
  forces_ = backend_->gravity().evaluate(domain_, plan, timers_);
  if (const auto before = std::exchange(before_cuts_, std::nullopt)) {
    before->particles.require_same("a decomposition");
    if (before->box) require_no_runaway(comm_, *backend_, *before->box, domain_.box.edge, now());
  }
  require_finite(comm_, *backend_, forces_.not_finite, now());
  if (!gas) return;
  // Before the first step all are synchronised.
  evaluate_gas(*gas, plan.first_active, ends ? clock_.inside(true).since_middle : RungTable{});
  if (!ends) return;
  JointReduction joint;
  ends(joint, true);
  joint.apply(comm_);
}

/// Adds what gas does to itself to the forces of gravity, of which it needs the trees.
void Simulation::evaluate_gas(Gas& gas, int first_active, const RungTable& since_middle) {
  const auto timer = timers_.time("gas");
  GasMoment moment{since_middle, {}};
  if (const Expansion* const expansion = timeline_.expansion()) {
    const double a = clock_.scale_factor();
    moment.space = GasSpace::expanding(parameters_.gas, a, expansion->hubble(a));
  }
  const Count not_finite = comm_.sum(gas.evaluate(domain_, first_active, moment));
  require_finite_gas(comm_, *backend_, not_finite, parameters_.gas,
                     std::pow(clock_.scale_factor(), -parameters_.gas.expansion_power()), now());
}

}  // namespace grove
