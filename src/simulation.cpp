#include "simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/host_backend.hpp"
#include "base/errors.hpp"
#include "base/memory.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"

namespace grove {
namespace {

OutputTimes output_times(const OutputParameters& output, double begin, double end) {
  return output.times.empty() ? OutputTimes::regular(begin, end, output.every.value_or(0))
                              : OutputTimes::listed(output.times, begin, end);
}

/// Steps from one search for the critical separation of groups to the next; one costs as much as so many.
constexpr std::int64_t tuning_interval = 1024, tuning_evaluations = 15;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of every phase on the slowest rank.
std::array<double, step_phases.size()> slowest(const Communicator& comm, const PhaseTimers& timers) {
  std::array<double, step_phases.size()> seconds{};
  std::transform(step_phases.begin(), step_phases.end(), seconds.begin(),
                 [&](const char* phase) { return timers.seconds(phase); });
  comm.max(std::span<double>(seconds));
  return seconds;
}

/// The slowest rank's time over the mean.
double imbalance(const Communicator& comm, double seconds) {
  const std::vector<double> all = comm.all_gather(seconds);
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  return sum > 0 ? *std::max_element(all.begin(), all.end()) * static_cast<double>(all.size()) / sum : 1;
}

/// What `make` makes, or its error on all ranks together.
template <class Make>
auto agreed(const Communicator& comm, const Make& make) {
  std::optional<decltype(make())> made;
  comm.together([&] { made = make(); });
  return *std::move(made);
}

}  // namespace

Simulation::Simulation(const Communicator& comm, const Parameters& parameters, Particles particles,
                       double begin)
    : Simulation(comm, parameters,
                 std::make_unique<HostBackend>(comm, std::move(particles), parameters.gravity), begin) {}

Simulation::Simulation(const Communicator& comm, const Parameters& parameters,
                       std::unique_ptr<Backend> backend, double begin)
    : comm_(comm),
      parameters_(parameters),
      timeline_(agreed(comm, [&] { return Timeline(begin, parameters.time.end, parameters.time.step); })),
      clock_(timeline_),
      step_rule_(parameters.time.rule(timeline_.step(), parameters.gravity.softening)),
      output_times_(
          agreed(comm, [&] { return output_times(parameters.output, begin, parameters.time.end); })),
      backend_(std::move(backend)),
      tuning_(backend_->repair_rates(), parameters.tuning.rebuild_interval),
      leaf_moves_(comm, backend_->move_rates()) {
  step_start_ = Clock::now();
  decompose();
  evaluate_forces({.tunes_groups = true});
  // What stood in for a criterion that needs |a_old| has now supplied it.
  if (forces_.opening_angle) evaluate_forces({.grows = false, .tunes_groups = true});
  // What the tuning learns is the cost of groups in the parts that were found.
  if (parameters.gravity.splits_groups()) evaluate_forces({.grows = false});
  tuning_.learn(forces_);
  forecast_.add(forces_, seconds_since(step_start_));
  const Totals first = totals();
  first_energy_ = first.total_energy();
  // A parabolic pair has no energy, a particle alone nothing at all.
  energy_scale_ = std::abs(first_energy_);
  if (energy_scale_ == 0) energy_scale_ = first.kinetic_energy > 0 ? first.kinetic_energy : 1;
}

Particles Simulation::particles() const {
  Particles copy;
  backend_->show(nullptr, [&](const Particles& particles) { copy = particles; });
  return copy;
}

Ended Simulation::run(StopRequests* requests) {
  start_reporting();
  report(Repair::cuts);
  if (requests) requests->begin_steps(writing_seconds(forces_.particles));
  while (!is_done()) {
    step();
    if (!requests || !is_to_stop(*requests) || is_done()) continue;
    return Ended::stopped;
  }
  write_outputs(std::numeric_limits<double>::infinity());
  report_memory();
  report_tuning();
  return Ended::complete;
}

/// Writes the snapshots that are asked for on the way.
bool Simulation::is_to_stop(StopRequests& requests) {
  Request request = requests.poll();
  for (; request == Request::snapshot; request = requests.poll()) write_requested_snapshot();
  return request == Request::stop;
}

void Simulation::step() {
  step_start_ = Clock::now();
  timers_.clear();
  const int deepest = choose_levels();
  if (reporting_) write_outputs(clock_.end_of(deepest));
  advance(deepest);
  const bool tunes_groups = is_synchronised() && steps_done_ >= groups_tuned_at_ + tuning_interval;
  if (tunes_groups) groups_tuned_at_ = steps_done_;
  const Expected expected((tunes_groups ? 1 + tuning_evaluations : 1) *
                          forecast_.seconds(bins_.particles, clock_.first_active()));
  const Repair repair = plan_repair(deepest);
  evaluate_forces(
      {.grows = carry_out(repair), .first_active = clock_.first_active(), .tunes_groups = tunes_groups});
  {
    const auto timer = timers_.time("advance");
    backend_->kick(clock_.half_kick());
  }
  ++steps_done_;
  bins_.add_step(forces_, clock_.first_active());
  tuning_.walked(forces_, measured());
  leaf_moves_.walked(forces_);
  if (is_synchronised()) leaf_moves_.synchronised();
  if (reporting_) report(repair);
  forecast_.add(forces_, seconds_since(step_start_));
}

/// The active particles choose their next steps. Returns the deepest level that has particles.
int Simulation::choose_levels() {
  const auto timer = timers_.time("advance");
  bins_.particles = backend_->choose_levels(step_rule_, clock_.first_active());
  comm_.sum(std::span<Count>(bins_.particles));
  int deepest = deepest_level;
  while (deepest > 0 && bins_.particles[static_cast<std::size_t>(deepest)] == 0) --deepest;
  if (deepest == deepest_level)
    throw InputError(fmt::format(
        "at time {:g} {} of the particles want a time step below 2^-{} of the longest, {:g}: their "
        "accelerations are too large for their softening; give a larger gravity.softening or time.length, or "
        "time.min_step",
        time(), bins_.particles[deepest_level], deepest_level - 1, timeline_.step()));
  return deepest;
}

/// Goes to the end of the shortest steps; the accelerations are still those of before.
void Simulation::advance(int deepest) {
  const auto timer = timers_.time("advance");
  backend_->kick(clock_.half_kick());
  backend_->drift(clock_.drift(parameters_.time.integrator, deepest));
  dt_ = clock_.step_of(deepest);
  clock_.advance(deepest);
}

Repair Simulation::plan_repair(int deepest) {
  const BlockExcess::Due due = backend_->due(domain_, clock_.first_active(), tuning_.rates().rebuild);
  // The same on all ranks, unless their processors' mathematical libraries round differently.
  const Repair repair = comm_.broadcast(tuning_.plan(bins_.particles, clock_, deepest, due));
  tuning_.begin(repair, due);
  return repair;
}

/// Returns whether the evaluation that follows has to grow the trees.
bool Simulation::carry_out(Repair repair) {
  leaves_moved_ = 0;
  if (repair == Repair::cuts) {
    decompose();
    return true;
  }
  leaves_moved_ = leaf_moves_.move(*backend_, domain_, longest_steps(), timers_);
  return repair == Repair::rebuild &&
         backend_->rebuild(domain_, clock_.first_active(), tuning_.rates().rebuild, timers_);
}

/// What the step took on the slowest rank, if that is to tell what repairs cost.
std::optional<StepSeconds> Simulation::measured() const {
  if (parameters_.tuning.cost == TuningCost::counted) return std::nullopt;
  std::array<double, 2> seconds{};
  for (const char* phase : {"decompose", "migrate", "sort", "build", "moments"})
    seconds[0] += timers_.seconds(phase);
  for (const char* phase : {"let", "walk"}) seconds[1] += timers_.seconds(phase);
  comm_.max(std::span<double>(seconds));
  return StepSeconds{seconds[0], seconds[1]};
}

void Simulation::decompose() {
  DecompositionReport report;
  const std::optional<Box> previous = domain_.cells.empty() ? std::nullopt : std::optional<Box>(domain_.box);
  DecompositionParameters parameters = parameters_.decomposition;
  parameters.speeds = leaf_moves_.speeds();
  domain_ = backend_->decompose(parameters, previous, report);
  leaf_moves_.decomposed(longest_steps());
  const double migrate = report.timers.seconds("migrate"), sort = report.sort_seconds();
  const double wait = report.timers.seconds("wait");
  timers_.add("migrate", migrate);
  timers_.add("sort", sort);
  timers_.add("wait", wait);
  timers_.add("decompose", report.timers.seconds("total") - migrate - sort - wait);
}

void Simulation::evaluate_forces(const EvaluationPlan& plan) {
  forces_ = backend_->evaluate(domain_, plan, timers_);
}

void Simulation::start_reporting() {
  comm_.together([&] {
    if (!comm_.is_master()) return;
    const std::string& folder = parameters_.output.folder;
    make_output_folder(folder);
    write_text(folder + "/used-parameters.yml", used_parameters(parameters_));
    fmt::print(
        stderr,
        "particles: {}, leaves: {}, ranks: {}; longest steps: {}, from time {:g} to {:g}; results: {}\n",
        forces_.particles, domain_.leaves(), comm_.size(), timeline_.steps(), timeline_.begin(),
        timeline_.end(), folder);
    fmt::print(stderr, "{}", backend_->devices());
    log_ = std::make_unique<RunLog>(folder);
  });
  reporting_ = true;
  run_start_ = step_start_ = Clock::now();
}

void Simulation::report(Repair repair) {
  StepReport report;
  report.repair = repair;
  report.leaves_moved = leaves_moved_;
  if (is_synchronised()) {
    report.totals = totals();
    report.energy_error = (report.totals->total_energy() - first_energy_) / energy_scale_;
    const Count every = parameters_.audit.every;
    if (every > 0 && longest_steps_done() % every == 0) {
      const auto timer = timers_.time("audit");
      const auto pairs = static_cast<double>(parameters_.audit.particles) *
                         static_cast<double>(forces_.particles) / comm_.size();
      const Expected expected(slow_seconds(pairs));
      report.audit = backend_->audit(domain_, parameters_.audit.particles);
    }
  }
  report.phases = slowest(comm_, timers_);
  report.imbalance = imbalance(comm_, timers_.seconds("walk"));
  if (log_) {
    const auto now = Clock::now();
    const auto n = static_cast<double>(std::max<Count>(1, forces_.active));
    report.step = steps_done_;
    report.time = time();
    report.done = (time() - timeline_.begin()) / (timeline_.end() - timeline_.begin());
    report.dt = dt_;
    report.level = clock_.first_active();
    report.active = forces_.active;
    report.wall_seconds = std::chrono::duration<double>(now - step_start_).count();
    report.run_seconds = std::chrono::duration<double>(now - run_start_).count();
    report.cell_interactions = static_cast<double>(forces_.interactions.cell) / n;
    report.particle_interactions = static_cast<double>(forces_.interactions.particle) / n;
    log_->add(report);
    if (is_synchronised() && steps_done_ > 0) log_->add(bins_, timeline_.step(), comm_.size());
  }
  if (is_synchronised()) bins_ = {};
}

void Simulation::report_memory() const {
  const double peak = comm_.max(memory_use().peak);
  const auto on_device = static_cast<double>(comm_.max(backend_->peak_device_memory()));
  const double share = static_cast<double>(forces_.particles) / comm_.size();
  if (!comm_.is_master()) return;
  fmt::print(stderr, "peak memory {:.1f} MB on one rank, {:.0f} bytes per particle\n", 1e-6 * peak,
             peak / share);
  if (on_device > 0)
    fmt::print(stderr, "peak memory of a GPU {:.1f} MB, {:.0f} bytes per particle\n", 1e-6 * on_device,
               on_device / share);
}

/// As they have been measured last.
void Simulation::report_tuning() const {
  if (!comm_.is_master()) return;
  if (forces_.critical_separation > 0 && forces_.critical_separation < domain_.box.edge)
    fmt::print(stderr, "groups were split into parts that reach {:g} at most\n", forces_.critical_separation);
  if (parameters_.tuning.cost == TuningCost::counted) return;
  const RepairRates& rates = tuning_.rates();
  fmt::print(stderr, "measured in interactions: new trees {:.0f} per particle, new cuts {:.0f}\n",
             rates.rebuild, rates.cuts);
}

/// Those due before a time.
void Simulation::write_outputs(double end) {
  const auto timer = timers_.time("output");
  const Expected expected(writing_seconds(forces_.particles));
  const double same = std::max(1e-9 * (end - time()), timeline_.rounding());
  const std::size_t due = is_done() ? output_times_.all().size() : output_times_.count_before(end - same);
  for (; outputs_done_ < due; ++outputs_done_)
    write_output(output_times_.all()[outputs_done_], outputs_done_);
}

WriteOptions Simulation::snapshot_options(double time) const {
  WriteOptions options;
  options.time = time;
  options.units = parameters_.units;
  options.fields = parameters_.output.fields;
  options.types = parameters_.output.types;
  options.files = static_cast<int>(parameters_.output.files);
  options.leaf_size = domain_.leaf_size;
  return options;
}

void Simulation::write_output(double output_time, std::size_t number) {
  const double same = std::max(1e-9 * timeline_.step(), timeline_.rounding());
  const bool is_now = is_synchronised() && std::abs(output_time - time()) <= same;
  const Prediction to = clock_.prediction(parameters_.time.integrator, output_time);
  const std::string name = fmt::format("{}/snapshot_{:03}", parameters_.output.folder, number);
  backend_->show(is_now ? nullptr : &to, [&](const Particles& particles) {
    write_snapshot(comm_, name + ".hdf5", particles, snapshot_options(output_time));
    if (!parameters_.output.render) return;
    // All pictures show what the first one does.
    view_.time = output_time;
    view_.units = parameters_.units;
    view_ = render_png(comm_, particles, view_, name + ".png");
  });
}

/// Of the present, between two steps. It has a name and no picture of its own, so that what is due comes out
/// as it would have without.
void Simulation::write_requested_snapshot() {
  const auto timer = timers_.time("output");
  const Expected expected(writing_seconds(forces_.particles));
  const std::string name =
      fmt::format("{}/requested_step_{:08}.hdf5", parameters_.output.folder, steps_done_);
  const Prediction now = clock_.prediction(parameters_.time.integrator, time());
  backend_->show(is_synchronised() ? nullptr : &now, [&](const Particles& particles) {
    write_snapshot(comm_, name, particles, snapshot_options(time()));
  });
  if (comm_.is_master()) fmt::print(stderr, "as asked: {}\n", name);
}

}  // namespace grove
