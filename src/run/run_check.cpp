#include "run_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/how_many.hpp"
#include "first_steps.hpp"
#include "run/log/environment.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/run_needs.hpp"
#include "run/start/run_timeline.hpp"

namespace grove {
namespace {

/// A line of what is said.
void tell(const Communicator& comm, const std::string& name, const std::string& text) {
  if (comm.is_master()) fmt::print("{:<12} {}\n", name, text);
}

std::string text_of_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return seconds < 7200 ? fmt::format("{:.3g} min", seconds / 60) : fmt::format("{:.3g} h", seconds / 3600);
}

/// The time of a run from its beginning on, of which nothing is known yet. counts: its particles by type.
/// Sets what its first steps say.
void check_beginning(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice,
                     const std::array<Count, particle_types>& counts, RunAhead& ahead) {
  const Count most = (choice.name == "cuda" ? Count{1} << 20 : Count{20000}) * comm.size();
  FirstSteps first =
      measure_first_steps(comm, parameters, choice, ahead.particles, std::max<Count>(most, 1000));
  const bool is_direct = parameters.gravity.is_direct(ahead.particles);
  if (parameters.time.steps == StepKind::block) ahead.steps_each = std::exp2(first.deepest);
  const bool is_sample = first.sample < ahead.particles;
  if (is_sample)
    tell(comm, "sample",
         fmt::format("{} particles with the mass of all stand for these in what follows", first.sample));
  first.summary.counts = counts;  // beside masses, which the sample has of all
  if (comm.is_master()) fmt::print("{}", first.summary.text(parameters.shown));
  const double span = ahead.steps * first.summary.longest_step;
  if (const std::string doubt = doubt_about_units(first.summary, parameters, span); !doubt.empty())
    tell(comm, "warning", doubt);
  const double seconds = first.seconds_of(ahead.particles, is_direct);
  tell(comm, "time",
       fmt::format("{} for a longest step, {}, as it is at the beginning: measured here with {}{}",
                   text_of_time(seconds), is_direct ? "by direct sums" : "trees included",
                   is_sample ? "the sample of " : "all ", first.sample));
  tell(comm, "",
       fmt::format("{} for {}", text_of_time(seconds * ahead.steps), how_many(ahead.steps, "longest step")));
  if (const double virial = first.summary.totals.virial_ratio();
      virial < 0.3 && parameters.time.steps == StepKind::block && parameters.potentials.empty())
    tell(comm, "",
         parameters.universe
             ? "steps get shorter as structure forms, so that it takes two or three times as long"
             : "it begins cold: steps get shorter as it collapses, so that it takes several times as long");
  if (first.picture > 0)
    tell(comm, "",
         fmt::format("{} for {}", text_of_time(first.picture * ahead.snapshots),
                     how_many(ahead.snapshots, "picture")));
}

/// The same where the run goes on, by what it took so far.
void check_way_on(const Communicator& comm, const RunAhead& ahead, const Checkpoint& from) {
  std::optional<double> seconds;
  if (comm.is_master())
    seconds = seconds_so_far(std::filesystem::path(from.path).parent_path().parent_path(),
                             from.run.steps_done, from.run.clock.step);
  if (!seconds) return tell(comm, "time", "not known: there is no timing.csv of what the run took so far");
  tell(comm, "time", fmt::format("{} for a longest step, as it was so far", text_of_time(*seconds)));
  tell(comm, "",
       fmt::format("{} for {}", text_of_time(*seconds * ahead.steps), how_many(ahead.steps, "longest step")));
}

/// Steps are told in advance only where all are alike.
std::string text_of_logs(const RunAhead& ahead) {
  const std::string size = fmt::format("{:.3g} MB", 1e-6 * log_bytes(ahead));
  if (ahead.steps_each <= 1) return size;
  const std::string text = fmt::format("{} for {:.0f} steps in each longest one", size, ahead.steps_each);
  if (!ahead.is_guess) return text + ", as there were so far";
  return fmt::format("{}, as there are at the beginning; for one in each {:.3g} MB", text,
                     1e-6 * known_log_bytes(ahead));
}

}  // namespace

void check_run(const Communicator& comm, Parameters parameters, const BackendChoice& choice,
               const ResumeChoice& resume, const Checkpoint* from) {
  Beginning beginning;
  if (!from) {
    beginning = beginning_of(comm, parameters);
    parameters.shown = shown_with(parameters, beginning.file_units);
  }
  RunAhead ahead = from ? run_ahead(comm, parameters, *from) : run_ahead(comm, parameters, beginning);
  const std::size_t hosts = environment(comm).hosts.size();
  if (from)
    tell(comm, "goes on",
         fmt::format("after step {}, time {}: {}", from->run.steps_done,
                     parameters.shown.text(from->manifest.time, dimension::time), from->path));
  if (const std::string fault = results_in_the_way(comm, resume, parameters, from); !fault.empty())
    tell(comm, "output", fault);
  for (const std::string& remark : beginning.remarks) tell(comm, "note", remark);
  for (const std::string& warning : beginning.warnings) tell(comm, "warning", warning);
  tell(comm, "particles", fmt::format("{}", ahead.particles));
  tell(comm, "ranks", fmt::format("{} on {}, backend {}", comm.size(), how_many(hosts, "host"), choice.name));
  const double begin = from ? from->manifest.time : parameters.time.begin.value_or(beginning.time);
  tell(comm, "times",
       fmt::format("from {} to {}", moment_text(begin, parameters),
                   moment_text(parameters.time.end, parameters)));
  tell(comm, "steps",
       fmt::format("{}{}, {}", how_many(ahead.steps, "longest one"),
                   !from              ? ""
                   : ahead.steps == 1 ? " is left"
                                      : " are left",
                   how_many(ahead.snapshots, "snapshot")));
  const std::vector<Need> needs = needs_of(comm, parameters, choice, ahead, resume.overwrite);
  for (const Need& need : needs)
    tell(comm, need.name,
         need.text() + (need.fits()      ? ""
                        : need.may_fit() ? ": MAY NOT FIT"
                                         : ": DOES NOT FIT"));
  // The same work, not the same number: of a galaxy on two ranks one has had three quarters of the particles.
  if (comm.size() > 1 && parameters.time.steps == StepKind::block)
    tell(comm, "",
         "for equal numbers of particles on all ranks; with block steps those whose particles take long "
         "steps hold more, half as much again is usual");
  require_room(comm, needs);
  from ? check_way_on(comm, ahead, *from)
       : check_beginning(comm, parameters, choice, beginning.counts, ahead);
  tell(comm, "logs", text_of_logs(ahead));
}

}  // namespace grove
