// What a run tells of itself: its logs, its snapshots and pictures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "run/log/environment.hpp"
#include "run/start/earlier_results.hpp"
#include "simulation.hpp"

namespace grove {
namespace {

/// Seconds of every phase on the slowest rank.
std::array<double, step_phases.size()> slowest(const Communicator& comm, const PhaseTimers& timers) {
  std::array<double, step_phases.size()> seconds{};
  std::transform(step_phases.begin(), step_phases.end(), seconds.begin(),
                 [&](const char* phase) { return timers.seconds(phase); });
  comm.max(std::span<double>(seconds));
  return seconds;
}

/// What a rank did in a step.
struct RankStep {
  double walk_seconds;
  std::uint64_t bytes_sent;
};

/// The slowest rank's time over the mean.
double imbalance(const std::vector<RankStep>& ranks) {
  double sum = 0, most = 0;
  for (const RankStep& rank : ranks) sum += rank.walk_seconds, most = std::max(most, rank.walk_seconds);
  return sum > 0 ? most * static_cast<double>(ranks.size()) / sum : 1;
}

/// Collective.
MemoryReport memory(const Communicator& comm) {
  const MemoryUse use = memory_use();
  std::array<double, 3> most{use.now, use.peak, static_cast<double>(peak_device_memory())};
  comm.max(std::span<double>(most));
  return {most[0], most[1], most[2]};
}

/// Types that pictures are asked to show, and of which there are no particles; empty: there are some.
std::string fault_of_pictures(const PhysicalSummary& summary, const OutputParameters& output) {
  if (!output.render || output.view.types == 0) return {};
  std::vector<std::size_t> asked, present;
  for (std::size_t type = 0; type < summary.counts.size(); ++type) {
    const bool is_asked = (output.view.types >> type & 1) != 0;
    if (is_asked && summary.counts[type] > 0) return {};
    if (is_asked) asked.push_back(type);
    if (summary.counts[type] > 0) present.push_back(type);
  }
  return fmt::format("output.render.types: there are no particles of type {}; their types are {}",
                     fmt::join(asked, ", "), fmt::join(present, ", "));
}

/// Shown however quiet the run is.
void print_verdict(const Verdict& verdict) {
  for (const std::string& line : verdict.lines) fmt::print(stderr, "verdict: {}\n", line);
  for (const std::string& text : verdict.warnings) fmt::print(stderr, "\n*** WARNING: {}\n", text);
}

}  // namespace

PhysicalSummary Simulation::summary() {
  if (!has_levels_) choose_levels();
  const Totals all = totals();
  PhysicalSummary summary;
  backend_->show(nullptr, [&](const Particles& particles) {
    summary = physical_summary(comm_, particles, all, bins_.particles, timeline_.step(),
                               parameters_.gravity.gravitational_constant);
  });
  return summary;
}

double Simulation::seconds_of_picture() {
  if (!parameters_.output.render) return 0;
  const auto start = Clock::now();
  backend_->show(nullptr,
                 [&](const Particles& particles) { measure(comm_, particles, parameters_.output.view); });
  return comm_.max(std::chrono::duration<double>(Clock::now() - start).count());
}

/// Says what the run begins with. Agreed<InputError> if it would not get on.
void Simulation::introduce() {
  const PhysicalSummary beginning = summary();
  if (comm_.is_master()) say("{}", beginning.text(parameters_.shown));
  for (const std::string& fault :
       {fault_of_steps(beginning, parameters_), fault_of_pictures(beginning, parameters_.output)})
    if (!fault.empty()) throw Agreed<InputError>(fault);
  const double span = timeline_.end() - timeline_.begin();
  if (const std::string doubt = doubt_about_units(beginning, parameters_, span);
      !doubt.empty() && comm_.is_master())
    fmt::print(stderr, "warning: {}\n", doubt);
  require_levels();
}

void Simulation::start_reporting() {
  const Environment where = environment(comm_);
  const std::uint8_t types = types_with_mass();
  hosts_ = static_cast<Count>(where.hosts.size());
  comm_.together([&] {
    if (!comm_.is_master()) return;
    const std::string& folder = parameters_.output.folder;
    make_output_folder(folder);
    remove_earlier_results();
    write_text(folder + "/used-parameters.yml", used_parameters(parameters_));
    const DisplayUnits& shown = parameters_.shown;
    say("particles: {}, leaves: {}, ranks: {}; longest steps: {} of {}, from time {} to {}; results: {}\n",
        forces_.particles, domain_.leaves(), comm_.size(), timeline_.steps(),
        shown.text(timeline_.step(), dimension::time), shown.text(timeline_.begin(), dimension::time),
        shown.text(timeline_.end(), dimension::time), folder);
    say("{}", backend_->traits().devices);
    if (resumed_at_) say("goes on after step {}, time {}\n", *resumed_at_, time_text());
    log_ = std::make_unique<RunLog>(folder, shown, types, resumed_at_);
    log_->telemetry().start(where, {forces_.particles, domain_.leaves(), timeline_.begin(), timeline_.end(),
                                    timeline_.step(), backend_->traits().devices});
  });
  reporting_ = true;
  run_start_ = reported_at_ = Clock::now();
}

/// Of the run that this one replaces; or, of the one that it goes on with, what came behind the checkpoint,
/// as its times may be others now. On the master.
void Simulation::remove_earlier_results() const {
  const std::string& folder = parameters_.output.folder;
  if (!resumed_at_) CheckpointFolder(folder).clear();
  const EarlierResults earlier(folder);
  const std::size_t removed = resumed_at_ ? earlier.remove_from(snapshots_) : earlier.remove_all();
  if (removed > 0)
    say("{} removed that {}\n",
        removed == 1 ? "a snapshot or picture is" : fmt::format("{} snapshots and pictures are", removed),
        resumed_at_ ? "came behind the checkpoint" : "an earlier run left");
}

/// Audits the active particles, whose forces are of the present.
AuditResult Simulation::audit() const {
  const Count sample = std::min(parameters_.audit.particles, forces_.active);
  const auto pairs = static_cast<double>(sample) * static_cast<double>(forces_.particles) / comm_.size();
  const Expected expected(at_most(slow_seconds(pairs)));
  return backend_->audit(domain_, sample, clock_.first_active());
}

/// Lagrange radii, which cost some passes over all particles. On the host they are measured 256 times in a
/// run; from a GPU all particles have to be copied, as for a snapshot, so there only with those.
bool Simulation::measures_radii() const {
  if (steps_done_ == 0 || is_done()) return true;
  if (backend_->traits().name == "cuda")
    return outputs_done_ < output_times_.all().size() &&
           std::abs(output_times_.all()[outputs_done_] - time()) <= timeline_.same();
  constexpr std::int64_t times = 256;
  return longest_steps_done() % ((timeline_.steps() + times - 1) / times) == 0;
}

/// Those of all ranks, as a mask.
std::uint8_t Simulation::types_with_mass() const {
  std::array<Count, particle_types> counts{};
  backend_->show(nullptr, [&](const Particles& particles) {
    for (std::size_t i = 0; i < particles.size(); ++i)
      counts[particles.type[i]] += particles.mass[i] > 0 ? 1 : 0;
  });
  comm_.sum(std::span<Count>(counts));
  std::uint8_t mask = 0;
  for (std::size_t type = 0; type < counts.size(); ++type)
    if (counts[type] > 0) mask = static_cast<std::uint8_t>(mask | 1u << type);
  return mask;
}

/// Behind the last step. A run that has never looked at its forces does so now.
Verdict Simulation::verdict() {
  if (conservation_.audits == 0 && !parameters_.gravity.is_direct(forces_.particles)) {
    const auto timer = since_report_.time("audit");
    conservation_.add(audit());
  }
  Turning turning;
  const Totals now = totals();
  backend_->show(nullptr, [&](const Particles& particles) { turning = turning_of(comm_, particles, now); });
  return verdict_on(conservation_, turning, forces_.particles, parameters_);
}

void Simulation::report(TreeUpdate update) {
  StepReport report;
  report.tree_update = update;
  report.leaves_moved = leaves_moved_;
  if (is_synchronised()) {
    report.totals = totals();
    report.memory = memory(comm_);
    report.energy_error = (report.totals->total_energy() - first_energy_) / energy_scale_;
    conservation_.add(*report.totals, report.energy_error);
    if (measures_radii()) {
      const auto timer = timers_.time("output");
      backend_->show(nullptr, [&](const Particles& particles) {
        report.radii = lagrange_radii(comm_, particles, report.totals->mass);
      });
    }
  }
  if (is_audited_) {
    const auto timer = timers_.time("audit");
    report.audit = audit();
    conservation_.add(*report.audit);
  }
  report.phases = slowest(comm_, timers_);
  const std::uint64_t sent = activity().sent;
  const std::vector<RankStep> ranks =
      comm_.all_gather(RankStep{timers_.seconds("walk"), sent - std::exchange(bytes_sent_, sent)});
  report.imbalance = imbalance(ranks);
  for (const RankStep& rank : ranks) report.sent_bytes += static_cast<Count>(rank.bytes_sent);
  report.tree_bytes = forces_.let_bytes;
  if (log_) {
    const auto now = Clock::now();
    const auto n = static_cast<double>(std::max<Count>(1, forces_.active));
    report.step = steps_done_;
    report.time = time();
    report.done = (time() - start_time_) / (timeline_.end() - start_time_);
    report.dt = dt_;
    report.level = clock_.first_active();
    report.active = forces_.active;
    report.wall_seconds = std::chrono::duration<double>(now - std::exchange(reported_at_, now)).count();
    report.run_seconds = std::chrono::duration<double>(now - run_start_).count();
    report.cell_interactions = static_cast<double>(forces_.interactions.cell) / n;
    report.particle_interactions = static_cast<double>(forces_.interactions.particle) / n;
    log_->add(report);
    if (is_synchronised() && steps_done_ > 0) log_->add(bins_, timeline_.step(), comm_.size());
  }
  if (is_synchronised()) bins_ = {.particles = bins_.particles};
}

void Simulation::report_end() {
  const Verdict verdict = this->verdict();
  const auto [now, peak, on_device] = memory(comm_);
  const auto phases = slowest(comm_, since_report_);
  const double share = static_cast<double>(forces_.particles) / comm_.size();
  if (!comm_.is_master()) return;
  log_->telemetry().end(
      {std::chrono::duration<double>(Clock::now() - run_start_).count(), peak, on_device, phases, verdict});
  say("peak memory {:.1f} MB on one rank, {:.0f} bytes per particle\n", 1e-6 * peak, peak / share);
  if (on_device > 0)
    say("peak memory of a GPU {:.1f} MB, {:.0f} bytes per particle\n", 1e-6 * on_device, on_device / share);
  print_verdict(verdict);
}

/// As they have been measured last.
void Simulation::report_tuning() const {
  if (!comm_.is_master()) return;
  if (forces_.critical_separation > 0 && forces_.critical_separation < domain_.box.edge)
    say("groups were split into parts that reach {} at most\n",
        parameters_.shown.text(forces_.critical_separation, dimension::length));
  if (parameters_.tuning.cost == TuningCost::counted) return;
  const TreeUpdateRates& rates = tuning_.rates();
  say("measured in interactions: new trees {:.0f} per particle, new cuts {:.0f}\n", rates.rebuild,
      rates.redecompose);
}

/// Those due before a time. If one cannot be written the run ends, and its state is saved, from which it goes
/// on with just that one.
void Simulation::write_outputs(double end, PhaseTimers& timers) {
  const auto timer = timers.time("output");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  const double same = std::max(1e-9 * (end - time()), timeline_.rounding());
  const std::size_t due = is_done() ? output_times_.all().size() : output_times_.count_before(end - same);
  for (; outputs_done_ < due; ++outputs_done_) {
    const double output_time = output_times_.all()[outputs_done_];
    try {
      write_output(output_time, snapshots_);
    } catch (const Agreed<InputError>&) {
      save(nullptr);
      throw;
    }
    last_output_ = output_time;
    ++snapshots_;
  }
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

void Simulation::write_output(double output_time, std::int64_t number) {
  const bool is_now = is_synchronised() && std::abs(output_time - time()) <= timeline_.same();
  const Prediction to = clock_.prediction(parameters_.time.integrator, output_time);
  const std::string name = fmt::format("{}/snapshot_{:03}", parameters_.output.folder, number);
  backend_->show(is_now ? nullptr : &to, [&](const Particles& particles) {
    write_snapshot(comm_, name + ".hdf5", particles, snapshot_options(output_time));
    if (!parameters_.output.render) return;
    const Caption caption{output_time, parameters_.shown};
    frame_ = render_png(comm_, particles, parameters_.output.view, caption, name + ".png", frame_);
  });
}

/// Of the present, between two steps. It has a name and no picture of its own, so that what is due comes out
/// as it would have without.
///
/// The run goes on without it.
void Simulation::write_requested_snapshot() {
  const auto timer = since_report_.time("output");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  const std::string name =
      fmt::format("{}/requested_step_{:08}.hdf5", parameters_.output.folder, steps_done_);
  const Prediction now = clock_.prediction(parameters_.time.integrator, time());
  try {
    backend_->show(is_synchronised() ? nullptr : &now, [&](const Particles& particles) {
      write_snapshot(comm_, name, particles, snapshot_options(time()));
    });
  } catch (const Agreed<InputError>& error) {
    if (comm_.is_master())
      fmt::print(stderr, "warning: no snapshot as asked: {}; the run goes on\n", error.what());
    return;
  }
  if (comm_.is_master()) say("as asked: {}\n", name);
}

}  // namespace grove
