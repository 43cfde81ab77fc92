#include "gravity/gravity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/errors.hpp"
#include "gravity/critical_separation.hpp"
#include "gravity/periodic_delta.hpp"

namespace grove {
ForceReport Gravity::evaluate(const Domain& domain, const EvaluationPlan& plan, PhaseTimers& timers) {
  const bool agrees = plan.grows || plan.first_active == 0;
  if (agrees && !plan.follows_cuts) {
    const auto timer = timers.time("wait");  // so that no other phase counts waiting for slower ranks
    comm_.barrier();
  }
  if (plan.grows) storage_.grow(domain, timers);
  if (agrees) {
    const auto timer = timers.time("moments");
    setup_ = agree_on_setup(domain);
  }
  now_ = expands_far(plan) ? with_far_cells(setup_) : with_near_work(setup_, plan.first_active);
  ForceReport report;
  report.particles = setup_.particles;
  report.median_acceleration = setup_.median_acceleration;
  report.stands_in = setup_.stands_in;

  const auto find_far = [&](const GravitySetup& setup) {
    if (parameters_.images.are_open()) return;
    const auto timer = timers.time("moments");
    storage_.find_far(setup, domain);
  };
  std::exception_ptr fault;  // of this rank alone
  const bool is_direct = parameters_.is_direct(setup_.particles) ||
                         (setup_.stands_in && parameters_.first == FirstForces::direct);
  bool is_complete = true;
  if (!parameters_.self_gravity) {
    storage_.set_no_forces(plan.first_active);
  } else if (is_direct) {
    find_far(setup_);
    const auto timer = timers.time("walk");
    storage_.sum_directly(setup_, domain, plan.first_active, timers);
  } else {
    storage_.refit(now_, domain, {plan.first_active, plan.renewed_from, agrees}, timers);
    find_far(now_);
    // Trials of groups go through what was sent, again and again.
    const Selections selections = tunes_groups(plan) ? Selections::exact : Selections::kept;
    is_complete = walk(domain, plan, selections, fault, report, timers);
    try {
      if (const std::string lost = storage_.fault_of_separations(now_); !lost.empty())
        fault = std::make_exception_ptr(InputError(lost));
    } catch (const std::exception&) {  // the others have to hear of it
      if (!fault) fault = std::current_exception();
    }
  }
  JointReduction joint = take_forces(domain, plan, is_direct, is_complete && !fault, report, timers);
  int is_at_fault = fault ? 1 : 0;
  if (!add_over_ranks(joint, is_complete, is_at_fault, report, timers)) {
    if (is_complete) {
      exchange_again(domain, timers);
    } else {
      walk(domain, plan, Selections::again, fault, report, timers);
      joint = take_forces(domain, plan, is_direct, !fault, report, timers);
      is_at_fault = fault ? 1 : 0;
    }
    add_over_ranks(joint, true, is_at_fault, report, timers);
  }
  if (is_at_fault > 0)
    comm_.together([&] {
      if (fault) std::rethrow_exception(fault);
    });
  learn_near_work(plan, report);
  return report;
}

/// Adds what the forces are to remember to the particles and to the report. is_complete: the forces are
/// there; if not, nothing happens to the particles. Returns what is to be agreed on with the report.
JointReduction Gravity::take_forces(const Domain& domain, const EvaluationPlan& plan, bool is_direct,
                                    bool is_complete, ForceReport& report, PhaseTimers& timers) {
  if (is_complete && parameters_.self_gravity && !parameters_.images.are_open()) {
    const auto timer = timers.time("walk");
    storage_.add_far(domain, plan.first_active);
  }
  if (is_complete) {
    const auto timer = timers.time("advance");
    storage_.remember(plan.first_active);
  }
  JointReduction joint;
  if (plan.closes) plan.closes(joint, is_complete);
  if (is_complete) {
    const auto timer = timers.time("advance");
    const auto remembered = storage_.remembered();
    report.active_of = remembered.particles;
    report.work = remembered.interactions;
    report.not_finite = remembered.not_finite;
  }
  if (is_direct)
    report.interactions.particle = std::accumulate(report.work.begin(), report.work.end(), Count{0});
  return joint;
}

/// False, and nothing changes, if forces are not complete on some rank.
bool Gravity::add_over_ranks(JointReduction joint, bool is_complete, int& is_at_fault, ForceReport& report,
                             PhaseTimers& timers) const {
  joint.max(is_at_fault);
  const auto timer = timers.time("wait");
  return report.add_over_ranks(comm_, joint, is_complete);
}

GravitySetup Gravity::agree_on_setup(const Domain& domain) const {
  const bool with_median = parameters_.self_gravity && parameters_.needs_old_acceleration();
  const GravityStorage::Sums sums = storage_.reduce(with_median, setup_.median_acceleration);
  GravitySetup setup;
  setup.particles = sums.particles;
  setup.median_acceleration = sums.median_acceleration;
  setup.stands_in = with_median && sums.median_acceleration == 0;
  const double softening = *std::max_element(parameters_.softening.begin(), parameters_.softening.end());
  // The images of a place are up to two edges from another on each axis.
  const double extent = parameters_.images.are_open() ? domain.box.edge : 4 * parameters_.images.edge;
  const WalkUnits units = WalkUnits::of(extent, softening, sums.largest_mass, setup.particles);
  check_range([&] { return storage_.farthest(); }, parameters_, units, domain.box.edge, setup.particles,
              sums.largest_mass > 0);
  setup.walk = {setup.stands_in ? parameters_.first_evaluation() : parameters_, units};
  setup.walk.gravity.order = parameters_.order_of_near_walks();
  setup.far_delta = setup.walk.gravity.delta;
  setup.least_far = setup.particles / 4;
  if (!parameters_.images.are_open() && parameters_.criterion == Criterion::acceleration &&
      !setup.stands_in) {
    const double most = most_delta(parameters_, setup.particles),
                 most_near = std::min(most_delta(setup.walk.gravity, setup.particles), parameters_.delta);
    const double h = unevenness(parameters_, sums), near = periodic_delta(h, most_near),
                 far = far_delta(periodic_delta(h, most), most, setup.particles);
    // The master's: powers differ between libraries.
    const auto agreed = comm_.broadcast(std::array<double, 3>{near, far, least_far_part(h)});
    setup.walk.gravity.delta = agreed[0];
    setup.far_delta = agreed[1];
    setup.least_far = static_cast<Count>(agreed[2] * static_cast<double>(setup.particles));
  }
  return setup;
}

/// True if cells far off act through expansions.
bool Gravity::expands_far(const EvaluationPlan& plan) const {
  return parameters_.expands_far() && (plan.first_active == 0 || plan.active >= setup_.least_far);
}

GravitySetup Gravity::with_far_cells(GravitySetup setup) const {
  GravityParameters& gravity = setup.walk.gravity;
  const double softening = *std::max_element(gravity.softening.begin(), gravity.softening.end());
  gravity.images.least_ball = least_ball_of(spline_radius_over_softening * softening);
  gravity.delta = setup.far_delta;
  gravity.order = parameters_.order;
  return setup;
}

/// For walks through all 27 boxes in steps between others: their targets may have had far fewer interactions
/// when they last walked.
GravitySetup Gravity::with_near_work(GravitySetup setup, int first_active) const {
  if (!parameters_.expands_far()) return setup;
  int rung = first_active;
  while (rung > 0 && near_work_[static_cast<std::size_t>(rung)] == 0) --rung;
  const Count work = near_work_[static_cast<std::size_t>(rung)];
  setup.target_work = work > 0 ? work : GravitySetup::unknown_work;
  return setup;
}

/// After such a walk.
void Gravity::learn_near_work(const EvaluationPlan& plan, const ForceReport& report) {
  if (!parameters_.expands_far() || expands_far(plan) || report.active == 0) return;
  const Count work = std::accumulate(report.work.begin(), report.work.end(), Count{0});
  near_work_[static_cast<std::size_t>(plan.first_active)] = std::max<Count>(1, work / report.active);
}

/// Lets all trees act on the active particles. The own ones act while those of others are under way. False
/// if kept selections lack something. fault (out): what else is wrong on this rank.
bool Gravity::walk(const Domain& domain, const EvaluationPlan& plan, Selections selections,
                   std::exception_ptr& fault, ForceReport& report, PhaseTimers& timers) {
  const auto walked = [&] { return timers.seconds("own walk") + timers.seconds("other walk"); };
  const double walked_before = walked();
  if (parameters_.splits_groups()) {
    report.critical_separation = critical_separation_;
    now_.walk.critical_separation = in_walk_units(critical_separation_, now_.walk.units);
  }
  {
    const auto timer = timers.time("let");
    storage_.begin_walk(now_, domain, plan.first_active, selections);
  }
  storage_.publish(now_, domain, selections, timers);
  {
    const auto timer = timers.time("let");
    storage_.select(now_, domain);
  }
  {
    const auto timer = timers.time("walk");
    report.interactions = storage_.walk_own(now_, timers);
  }
  {
    const auto timer = timers.time("let");
    const auto [counts, bytes] = storage_.import(now_, domain);
    report.let = counts;
    report.let_bytes = bytes;
  }
  bool is_complete = true;
  try {
    const auto timer = timers.time("walk");
    report.interactions += storage_.walk_others(now_, domain, timers);
  } catch (const OpensPruned&) {
    is_complete = selections != Selections::kept;
    if (is_complete && !fault) fault = std::current_exception();
  } catch (const std::exception&) {
    if (!fault) fault = std::current_exception();
  }
  report.own.seconds = walked() - walked_before;
  if (tunes_groups(plan)) {
    const auto timer = timers.time("tune");
    tune_groups(domain);
  }
  storage_.end_walk();
  return is_complete;
}

/// For other ranks alone, whose walks lack something: sends them what they open.
void Gravity::exchange_again(const Domain& domain, PhaseTimers& timers) {
  storage_.publish(now_, domain, Selections::again, timers);
  const auto timer = timers.time("let");
  storage_.select(now_, domain);
  storage_.import(now_, domain);
  storage_.end_walk();
}

/// True if the plan's search for the critical separation is to be made.
bool Gravity::tunes_groups(const EvaluationPlan& plan) const {
  return plan.tunes_groups && parameters_.splits_groups() && parameters_.critical_separation == 0 &&
         !now_.stands_in;
}

/// Finds it for all particles, while the trees of the last walk are there.
void Gravity::tune_groups(const Domain& domain) {
  GravitySetup trial = now_;
  critical_separation_ = find_critical_separation(comm_, domain.box.edge, [&](double separation) {
    trial.walk.critical_separation = in_walk_units(separation, trial.walk.units);
    return walk_cost(comm_, storage_.try_walk(trial, domain));
  });
}

void Gravity::restore(State state, const Domain& domain) {
  setup_ = state.agreed.setup;
  critical_separation_ = state.agreed.critical_separation;
  near_work_ = state.agreed.near_work;
  storage_.restore(std::move(state.stored), domain);
}

}  // namespace grove
