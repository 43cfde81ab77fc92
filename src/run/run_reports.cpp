#include "run/run_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "base/console.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "comm/joint_reduction.hpp"
#include "cosmology/growth.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/file.hpp"
#include "run/guard/step_forecast.hpp"
#include "run/log/environment.hpp"
#include "run/start/earlier_results.hpp"

namespace grove {
namespace {

/// Seconds of every phase on this rank.
std::array<double, step_phases.size()> seconds_of(const PhaseTimers& timers) {
  std::array<double, step_phases.size()> seconds{};
  std::transform(step_phases.begin(), step_phases.end(), seconds.begin(),
                 [&](const char* phase) { return timers.seconds(phase); });
  return seconds;
}

/// The slowest rank's time over the mean. sum: over ranks.
double imbalance(std::int64_t most, std::int64_t sum, int ranks) {
  return sum > 0 ? static_cast<double>(most) * ranks / static_cast<double>(sum) : 1;
}

/// The memory that this rank uses.
MemoryReport own_memory() {
  const MemoryUse use = memory_use();
  return {use.now, use.peak, static_cast<double>(peak_device_memory())};
}

void join(JointReduction& joint, MemoryReport& memory) {
  joint.max(memory.host).max(memory.host_peak).max(memory.device_peak);
}

/// Shown however quiet the run is.
void print_verdict(const Verdict& verdict) {
  for (const std::string& line : verdict.lines) fmt::print(stderr, "verdict: {}\n", line);
  for (const std::string& text : verdict.warnings) fmt::print(stderr, "\n*** WARNING: {}\n", text);
}

double seconds_between(std::chrono::steady_clock::time_point start,
                       std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace

void RunReports::begin() {
  const Totals first = totals();
  if (run_.timeline.expansion())
    state_.energy.begin(first, space());
  else
    state_.energy.begin(first, vanishes_far_away(run_.parameters.potentials));
  state_.conservation.begin(first);
}

void RunReports::resume(const State& state, std::int64_t steps_done) {
  state_ = state;
  resumed_at_ = steps_done;
  begun_at_ = run_.clock.longest_steps();
}

void RunReports::open() {
  const Environment where = environment(run_.comm);
  const std::uint8_t types = types_with_mass();
  hosts_ = static_cast<Count>(where.hosts.size());
  run_.comm.together([&] {
    if (!run_.comm.is_master()) return;
    const std::string& folder = run_.parameters.output.folder;
    make_output_folder(folder);
    remove_earlier_results();
    write_text(folder + "/used-parameters.yml", used_parameters(run_.parameters));
    const DisplayUnits& shown = run_.parameters.shown;
    const Timeline& timeline = run_.timeline;
    const auto time_text = [&](double time) { return moment_text(time, shown, timeline.expansion()); };
    say("particles: {}, leaves: {}, ranks: {}; longest steps: {} of {}, from time {} to {}; results: {}\n",
        run_.forces.particles, run_.domain.leaves(), run_.comm.size(), timeline.steps(),
        timeline.is_even_in_logarithm() ? fmt::format("{:.6g} in ln a", timeline.step())
                                        : shown.text(timeline.step(), dimension::time),
        time_text(timeline.begin()), time_text(timeline.end()), folder);
    const std::string& devices = run_.backend.traits().devices;
    say("{}", devices);
    if (resumed_at_) say("goes on after step {}, time {}\n", *resumed_at_, time_text(run_.clock.time()));
    log_ = std::make_unique<RunLog>(folder, shown, types, run_.timeline.expansion() != nullptr,
                                    run_.backend.gas() != nullptr, resumed_at_);
    log_->telemetry().start(where, {run_.forces.particles, run_.domain.leaves(), timeline.begin(),
                                    timeline.end(), timeline.length(0), devices});
  });
  is_open_ = true;
  opened_at_ = reported_at_ = Clock::now();
}

/// Removes the results of the run that this one replaces. A run that goes on removes those behind its
/// checkpoint, as their times may be others in this part of it. On the master.
void RunReports::remove_earlier_results() const {
  const std::string& folder = run_.parameters.output.folder;
  if (!resumed_at_) CheckpointFolder(folder).clear();
  const EarlierResults earlier(folder);
  const std::size_t removed =
      resumed_at_ ? earlier.remove_from(outputs_.state().snapshots) : earlier.remove_all();
  if (removed > 0)
    say("{} removed that {}\n", removed == 1 ? "a result is" : fmt::format("{} results are", removed),
        resumed_at_ ? "came behind the checkpoint" : "an earlier run left");
}

/// Those of all ranks, as a mask.
std::uint8_t RunReports::types_with_mass() const {
  std::array<Count, particle_types> counts{};
  const auto count = [&](const Particles& particles) {
    for (std::size_t i = 0; i < particles.size(); ++i)
      counts[particles.type[i]] += particles.mass[i] > 0 ? 1 : 0;
  };
  run_.backend.show(nullptr, count, [](const FieldInfo& info) {
    return info.name == fields::type.info.name || info.name == fields::mass.info.name;
  });
  run_.comm.sum(std::span<Count>(counts));
  std::uint8_t mask = 0;
  for (std::size_t type = 0; type < counts.size(); ++type)
    if (counts[type] > 0) mask = static_cast<std::uint8_t>(mask | 1u << type);
  return mask;
}

void RunReports::step(const Step& step, PhaseTimers& timers, JointReduction& joint) {
  StepReport report;
  report.tree_update = step.tree_update;
  report.leaves_moved = step.leaves_moved;
  measure(step, report, timers);
  const Activity now = activity(), since = now - std::exchange(reported_activity_, now);
  report.phases = seconds_of(timers);
  report.counts = StepCounts(since, timers, step_phases);
  report.sent_bytes = static_cast<Count>(since.sent);
  report.tree_bytes = run_.forces.let_bytes;
  const auto walk = std::llround(1e9 * timers.seconds("walk"));  // ns
  std::int64_t most = walk, sum = walk;
  if (report.memory) join(joint, *report.memory);
  joint.max(std::span<double>(report.phases))
      .max(report.counts.values())
      .max(most)
      .sum(sum)
      .sum(report.sent_bytes)
      .apply(run_.comm);
  report.imbalance = imbalance(most, sum, run_.comm.size());
  write_rows();
  if (log_) log(step, report);
}

/// In expanding space those of peculiar motion.
Totals RunReports::totals() const {
  const Totals all = run_.backend.totals(run_.domain);
  if (!run_.timeline.expansion()) return all;
  return peculiar(all, run_.clock.scale_factor(), run_.parameters.gas.expansion_power());
}

ExpandedSpace RunReports::space() const {
  const double a = run_.clock.scale_factor();
  return {a, run_.timeline.expansion()->hubble(a), run_.parameters.gas.expansion_power()};
}

/// By how many times peculiar energies, times the scale factor, grow until the end by linear theory.
double RunReports::energy_to_grow() const {
  const Timeline& timeline = run_.timeline;
  const auto growth = [&](double a) { return growth_at(*timeline.expansion(), a).first; };
  return std::pow(growth(timeline.scale_factor(timeline.steps(), 0, 1)) / growth(run_.clock.scale_factor()),
                  2);
}

/// Measures totals, memory and radii where all particles are synchronised, and forces where they are audited.
void RunReports::measure(const Step& step, StepReport& report, PhaseTimers& timers) {
  if (run_.clock.is_synchronised()) {
    report.totals = totals();
    report.memory = own_memory();
    if (run_.timeline.expansion())
      state_.energy.add(*report.totals, space(), energy_to_grow());
    else
      state_.energy.add(*report.totals);
    report.energy_error = state_.energy.error();
    state_.conservation.add(*report.totals, report.energy_error, state_.energy.largest_error());
    if (measures_radii(step.number)) {
      const auto timer = timers.time("output");
      const auto find = [&](const Particles& particles) {
        report.radii = lagrange_radii(run_.comm, particles, report.totals->mass);
      };
      run_.backend.show(nullptr, find, is_read_by_lagrange_radii);
    }
  }
  if (step.is_audited) {
    const auto timer = timers.time("audit");
    report.audit = audit();
    state_.conservation.add(*report.audit);
  }
}

/// Lagrange radii, which cost some passes over all particles. On the host they are measured 256 times in a
/// run; from a GPU all particles have to be copied, as for a snapshot, so there only with those. A periodic
/// box has no middle that they would be about.
bool RunReports::measures_radii(std::int64_t step) const {
  if (!run_.parameters.gravity.images.are_open()) return false;
  if (step == 0 || run_.clock.is_done()) return true;
  if (run_.backend.traits().name == "cuda") return outputs_.is_due_now();
  constexpr std::int64_t times = 256;
  return run_.clock.steps_done() % ((run_.timeline.steps() + times - 1) / times) == 0;
}

/// Audits the active particles, whose forces are of the present.
AuditResult RunReports::audit() const {
  const Count sample = std::min(run_.parameters.audit.particles, run_.forces.active);
  const auto pairs =
      static_cast<double>(sample) * static_cast<double>(run_.forces.particles) / run_.comm.size();
  const Expected expected(at_most(slow_seconds(pairs)));
  return run_.backend.audit(run_.domain, sample, run_.clock.first_active());
}

/// On the master.
void RunReports::log(const Step& step, StepReport& report) {
  const auto now = Clock::now();
  const auto n = static_cast<double>(std::max<Count>(1, run_.forces.active));
  const double time = run_.clock.time();
  report.step = step.number;
  report.time = time;
  if (run_.timeline.expansion()) report.scale_factor = run_.clock.scale_factor();
  report.done =
      (run_.clock.longest_steps() - begun_at_) / (static_cast<double>(run_.timeline.steps()) - begun_at_);
  report.dt = step.length;
  report.rung = run_.clock.first_active();
  report.active = run_.forces.active;
  report.wall_seconds = seconds_between(std::exchange(reported_at_, now), now);
  if (step.number == 0)  // the first forces were computed before reported_at_ was set
    report.wall_seconds = std::accumulate(report.phases.begin(), report.phases.end(), 0.0);
  report.run_seconds = seconds_between(opened_at_, now);
  report.cell_interactions = static_cast<double>(run_.forces.interactions.cell) / n;
  report.particle_interactions = static_cast<double>(run_.forces.interactions.particle) / n;
  unwritten_ = std::move(report);
  if (!run_.clock.is_synchronised()) return;
  write_rows();
  if (step.number > 0)
    log_->add(step.rung_costs, run_.timeline.length(run_.clock.steps_done() - 1), run_.comm.size());
}

void RunReports::write_rows() {
  if (const auto report = std::exchange(unwritten_, std::nullopt)) log_->add(*report);
}

RunReports::~RunReports() {
  try {
    write_rows();  // of a run that ends with an error
  } catch (const std::exception&) {
    // Another one is under way.
  }
}

void RunReports::end(PhaseTimers& timers) {
  write_rows();
  const Verdict verdict = this->verdict(timers);
  MemoryReport memory = own_memory();
  auto phases = seconds_of(timers);
  JointReduction joint;
  join(joint, memory);
  joint.max(std::span<double>(phases)).apply(run_.comm);
  const double peak = memory.host_peak, on_device = memory.device_peak;
  const double share = static_cast<double>(run_.forces.particles) / run_.comm.size();
  if (!run_.comm.is_master()) return;
  log_->telemetry().end({seconds_between(opened_at_, Clock::now()), peak, on_device, phases, verdict});
  say("peak memory {:.1f} MB on one rank, {:.0f} bytes per particle\n", 1e-6 * peak, peak / share);
  if (on_device > 0)
    say("peak memory of a GPU {:.1f} MB, {:.0f} bytes per particle\n", 1e-6 * on_device, on_device / share);
  print_verdict(verdict);
}

/// A run that has never looked at its forces does so now.
Verdict RunReports::verdict(PhaseTimers& timers) {
  if (run_.parameters.gravity.self_gravity && state_.conservation.audits == 0 &&
      !run_.parameters.gravity.is_direct(run_.forces.particles)) {
    const auto timer = timers.time("audit");
    state_.conservation.add(audit());
  }
  Turning turning;
  const Totals now = run_.backend.totals(run_.domain);
  const auto find = [&](const Particles& particles) { turning = turning_of(run_.comm, particles, now); };
  run_.backend.show(nullptr, find, is_read_by_turning);
  return verdict_on(state_.conservation, turning, run_.forces.particles, run_.parameters,
                    run_.backend.gas() != nullptr);
}

void RunReports::keep() {
  write_rows();
  if (log_) log_->keep();
}

void RunReports::checkpoint_written(std::int64_t steps_done) {
  run_.comm.together([&] {
    write_rows();
    if (log_) log_->telemetry().checkpoint(steps_done);
  });
}

}  // namespace grove
