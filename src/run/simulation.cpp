#include "simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "backend/host_backend.hpp"
#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/progress.hpp"
#include "comm/agreed.hpp"
#include "run/start/run_needs.hpp"
#include "run/start/run_timeline.hpp"
#include "time/audit_schedule.hpp"

namespace grove {
namespace {

/// Steps from one search for the critical separation of groups to the next; one costs as much as so many.
constexpr std::int64_t tuning_interval = 1024, tuning_evaluations = 15;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Simulation::Simulation(const Communicator& comm, const Parameters& parameters, Particles particles,
                       double begin)
    : Simulation(
          comm, parameters,
          std::make_unique<HostBackend>(comm, std::move(particles), parameters.gravity, parameters.gas),
          begin) {}

Simulation::Simulation(const Communicator& comm, const Parameters& parameters,
                       std::unique_ptr<Backend> backend, double begin)
    : Simulation(Unstarted{}, comm, parameters, std::move(backend),
                 agreed(comm, [&] { return timeline_of(parameters, begin); })) {
  start();
}

Simulation::Simulation(const Communicator& comm, const Parameters& parameters,
                       std::unique_ptr<Backend> backend, const Checkpoint& from)
    : Simulation(Unstarted{}, comm, parameters, std::move(backend), agreed(comm, [&] {
                   return timeline_of(parameters, from.run.begin, from.run.longest_step);
                 })) {
  restore(from);
}

Simulation::Simulation(Unstarted, const Communicator& comm, const Parameters& parameters,
                       std::unique_ptr<Backend> backend, const Timeline& timeline)
    : comm_(comm),
      parameters_(parameters),
      timeline_(timeline),
      clock_(timeline_),
      backend_(std::move(backend)),
      tuning_(backend_->traits().redecomposition, rule_of(parameters)),
      renewals_(backend_->traits().few_renewed),
      is_audited_(parameters.audit.every > 0),
      leaf_moves_(comm, backend_->traits().move_rates),
      outputs_({comm_, parameters_, timeline_, clock_, *backend_, domain_, forces_}),
      reports_({comm_, parameters_, timeline_, clock_, *backend_, domain_, forces_}, outputs_),
      checkpoints_(comm, parameters.output.folder, parameters.checkpoint) {
  std::vector<ExternalPotential> external =
      external_potentials(parameters.potentials, parameters.gravity.gravitational_constant);
  // In a periodic box the homogeneous density is subtracted by the sum over its images.
  if (parameters.universe && !parameters.box.periodic)
    external.push_back(background_of(*parameters.universe, parameters.cosmology.centre.value_or(Vec3d{})));
  backend_->gravity().set_external(std::move(external));
}

/// The first forces, and what follows from them.
void Simulation::start() {
  step_start_ = Clock::now();
  decompose(0);
  evaluate_forces({.tunes_groups = true});
  // A criterion that needs |a_old| has it only after others have stood in.
  if (forces_.stands_in) evaluate_forces({.grows = false, .tunes_groups = true});
  // The tuning must learn the cost of groups in the parts that were found.
  if (parameters_.gravity.splits_groups()) evaluate_forces({.grows = false});
  tuning_.began(forces_, parameters_.time.steps == StepKind::shared);
  forecast_.add(forces_, seconds_since(step_start_));
  reports_.begin();
}

Totals Simulation::totals() const {
  const Totals all = backend_->totals(domain_);
  return timeline_.expansion() ? peculiar(all, clock_.scale_factor(), parameters_.gas.expansion_power())
                               : all;
}

/// Says what the run begins with. Agreed<InputError> if it would not get on.
void Simulation::introduce() {
  const PhysicalSummary beginning = summary();
  if (comm_.is_master()) say("{}", beginning.text(parameters_.shown));
  for (const std::string& fault :
       {fault_of_steps(beginning, parameters_), fault_of_types(beginning.counts, parameters_.output)})
    if (!fault.empty()) throw Agreed<InputError>(fault);
  const double span = timeline_.end() - timeline_.begin();
  if (const std::string doubt = doubt_about_units(beginning, parameters_, span);
      !doubt.empty() && comm_.is_master())
    fmt::print(stderr, "warning: {}\n", doubt);
  require_rungs();
}

Particles Simulation::particles() const {
  Particles copy;
  backend_->show(nullptr, [&](const Particles& particles) { copy = particles; });
  return copy;
}

Particles Simulation::present_particles() const {
  if (is_synchronised()) return particles();
  const Prediction now = clock_.prediction(parameters_.time.integrator, time());
  Particles copy;
  backend_->show(&now, [&](const Particles& particles) { copy = particles; });
  return copy;
}

Ended Simulation::run(StopRequests* requests) {
  requests_ = requests;
  try {
    is_running_ = true;
    const Ended ended = to_the_end(requests);
    is_running_ = false;
    return ended;
  } catch (const Agreed<std::runtime_error>& error) {
    throw Agreed<std::runtime_error>(fmt::format("{}; {}", error.what(), checkpoints_.last_text()));
  }
}

Ended Simulation::to_the_end(StopRequests* requests) {
  const bool is_new = !reports_.resumed_at();
  if (is_new) introduce();
  reports_.open();
  if (is_new) {
    JointReduction alone;
    report(TreeUpdate::redecompose, alone);
  }
  if (requests) requests->steps_go_on(expected_checkpoint());
  while (!is_done()) {
    step();
    if (is_done()) break;
    const Request request = asked();
    if (request == Request::none) continue;
    if (request == Request::checkpoint) {
      const bool is_written = save(requests);
      if (!requests || !requests->poll_stop()) continue;
      if (is_written) return Ended::stopped;
    }
    write_checkpoint();
    return Ended::stopped;
  }
  write_outputs(std::numeric_limits<double>::infinity(), since_report_);
  save(requests);  // a later time.end goes on from here
  report_tuning();
  reports_.end(since_report_);
  return Ended::complete;
}

/// The requests that this rank has heard.
StopRequests::Heard Simulation::heard() {
  if (requests_) return requests_->heard(checkpoints_.is_due());
  return {0, 0, comm_.is_master() && checkpoints_.is_due() ? 1 : 0};
}

/// Between two steps: what is to be done, when the snapshots that are asked for are written.
Request Simulation::asked() {
  if (!requests_) return asked_[2] > 0 ? Request::checkpoint : Request::none;
  Request request = requests_->answer(asked_);
  while (request == Request::snapshot) {
    {
      const auto timer = since_report_.time("output");
      reports_.write_rows();
      outputs_.write_requested(steps_done_);
    }
    requests_->steps_go_on(expected_checkpoint());
    request = requests_->poll(checkpoints_.is_due());
  }
  return request;
}

void Simulation::step() {
  step_start_ = Clock::now();
  timers_ = std::exchange(since_report_, {});
  own_heard_.reset();
  if (!has_moved_) {
    if (!has_rungs_) choose_rungs();
    require_rungs();
    if (reports_.is_open()) write_outputs(clock_.end_of(deepest()), timers_);
    move_particles(deepest(), timers_);
  }
  has_moved_ = has_rungs_ = false;
  const BlockClock::State before = clock_.state();
  dt_ = clock_.step_of(deepest());
  clock_.advance(deepest());
  is_audited_ = AuditSchedule(parameters_.audit.every).is_due(before, clock_.state());
  reports_.write_rows();
  const bool tunes_groups = is_synchronised() && steps_done_ >= groups_tuned_at_ + tuning_interval;
  if (tunes_groups) groups_tuned_at_ = steps_done_;
  const Expected expected((tunes_groups ? 1 + tuning_evaluations : 1) *
                          forecast_.seconds(rung_costs_.particles, clock_.first_active()));
  const UpdatePlan plan = plan_update(deepest(), has_strays(strayed_));
  const bool is_new = plan.choice.update == TreeUpdate::redecompose;
  const std::optional<int> renewed_from =
      renewals_.next(renewable_from(plan.choice), rung_costs_.particles, is_new);
  carry_out(plan);
  evaluate_forces(
      {.grows = is_new,
       .follows_cuts = is_new,
       .renewed_from = renewed_from,
       .first_active = clock_.first_active(),
       .active = active(),
       .tunes_groups = tunes_groups,
       .closes = [this](JointReduction& joint, bool is_complete) { end_step(joint, is_complete); }});
  if (runs_on()) move_particles(deepest_of(next_particles_), since_report_);
  ++steps_done_;
  rung_costs_.add_step(forces_, clock_.first_active());
  tuning_.walked(forces_, measured());
  leaf_moves_.walked(forces_, domain_.leaf_begin.back(), timers_);
  if (is_synchronised()) leaf_moves_.synchronised();
  agree_on_next(!is_new && renewed_from ? TreeUpdate::renew : plan.choice.update);
  forecast_.add(forces_, seconds_since(step_start_));
}

/// True if nothing comes between the last step and the next one for which particles must be where they are:
/// a GPU then moves them while ranks agree on other things.
bool Simulation::runs_on() const {
  const bool is_asked = std::any_of(asked_.begin(), asked_.end(), [](int asked) { return asked > 0; });
  const int deepest = deepest_of(next_particles_);
  return is_running_ && !is_synchronised() && !is_audited_ && !is_asked && deepest < deepest_rung &&
         !outputs_.is_due_before(clock_.end_of(deepest));
}

/// If the forces are there: ends the step of the active particles, which choose their next ones, unless the
/// run is over. Where forces are not finite particles stay as they are: the run ends with them. What ranks
/// have been asked meanwhile is agreed on, too.
void Simulation::end_step(JointReduction& joint, bool is_complete) {
  const auto timer = timers_.time("advance");
  next_particles_ = {};
  if (is_complete) backend_->kick(clock_.closing_kick());
  if (is_complete && !is_done()) next_particles_ = own_rungs();
  if (!own_heard_) own_heard_ = heard();
  asked_ = *own_heard_;
  joint.sum(std::span<Count>(next_particles_)).max(std::span<int>(asked_));
}

/// All that ranks must agree on before the next walk, in one message with the report of the last step.
void Simulation::agree_on_next(TreeUpdate update) {
  JointReduction joint;
  const int deepest = deepest_of(next_particles_);
  const bool has_next = !is_done() && deepest < deepest_rung;
  int chosen = 0;
  double lead = 0, drift = 0;  // of the master
  if (has_next) {
    BlockClock next = clock_;
    next.advance(deepest);
    next_update_ = planned(next_particles_, next, deepest);
    if (comm_.is_master()) {
      chosen = static_cast<int>(next_update_->choice.update);
      lead = next_update_->choice.lead;
      drift = next_update_->drift;
    }
    joint.max(chosen).max(lead).max(drift);
    leaf_moves_.join(joint, longest_steps(next.time()));
  }
  if (reports_.is_open())
    report(update, joint);
  else
    joint.apply(comm_);
  // The same on all ranks anyway, unless their processors' mathematical libraries round differently.
  if (has_next) next_update_ = {{static_cast<TreeUpdate>(chosen), lead}, drift};
  has_rungs_ = !is_done();
  if (has_rungs_) rung_costs_.particles = next_particles_;
}

std::optional<Box> Simulation::periodic_box() const {
  if (!parameters_.box.periodic) return std::nullopt;
  return Box::periodic(*parameters_.box.size);
}

void Simulation::report(TreeUpdate update, JointReduction& joint) {
  reports_.step({steps_done_, update, leaves_moved_, dt_, is_audited_, rung_costs_}, timers_, joint);
  if (is_synchronised()) rung_costs_ = {.particles = rung_costs_.particles};
}

/// As they have been measured last.
void Simulation::report_tuning() const {
  if (!comm_.is_master()) return;
  if (forces_.critical_separation > 0 && forces_.critical_separation < domain_.box.edge)
    say("groups were split into parts that reach {} at most\n",
        parameters_.shown.text(forces_.critical_separation, dimension::length));
  if (parameters_.tuning.cost == TuningCost::counted) return;
  say("measured: new cuts and trees cost as much as {:.0f} interactions per particle\n", tuning_.rate());
}

/// Those due before a time. If one cannot be written the run ends, and its state is saved, from which it goes
/// on with just that one.
void Simulation::write_outputs(double end, PhaseTimers& timers) {
  const auto timer = timers.time("output");
  if (outputs_.is_due_before(end)) reports_.write_rows();
  outputs_.write_due(end, [&] { save(nullptr); });
}

int Simulation::deepest() const { return deepest_of(rung_costs_.particles); }

/// To the end of the shortest steps, of this rung; the accelerations are still those of before.
void Simulation::move_particles(int deepest, PhaseTimers& timers) {
  const auto timer = timers.time("advance");
  const std::optional<Box> box = periodic_box();
  backend_->kick(clock_.opening_kick());
  strayed_ = backend_->drift(clock_.drift(parameters_.time.integrator, deepest), box ? &*box : nullptr);
  has_moved_ = true;
}

}  // namespace grove
