#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "base/progress.hpp"
#include "base/timers.hpp"
#include "commands/backend_options.hpp"
#include "commands/commands.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/folder_lock.hpp"
#include "io/parameters.hpp"
#include "run/guard/step_forecast.hpp"
#include "run/guard/stop_requests.hpp"
#include "run/guard/watchdog.hpp"
#include "run/resume.hpp"
#include "run/run_check.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/run_needs.hpp"
#include "run/start/run_timeline.hpp"

namespace grove {

namespace {

/// The result of `work`, in a phase that takes so long at most.
template <class Work>
auto watched(const char* phase, double seconds, const Work& work) {
  PhaseTimers timers;
  const auto timer = timers.time(phase);
  const Expected expected(at_most(seconds));
  return work();
}

/// Seconds in which the checkpoints of a run, or one that was named, can be read.
double seconds_of_checkpoints(const Communicator& comm, const ResumeChoice& choice,
                              const Parameters& parameters) {
  if (choice.from == "never") return 0;
  const std::string all = CheckpointFolder(parameters.output.folder).path();
  return reading_seconds(comm, choice.from == "auto" ? all : choice.from, 1);
}

/// Seconds, on the rank with most particles before they are shared out, or after.
double longest_first_forces(const Communicator& comm, std::size_t own, const GravityParameters& gravity) {
  const Count all = comm.sum(static_cast<Count>(own)), most = comm.max(static_cast<Count>(own));
  return first_evaluation_seconds(static_cast<double>(most), all, gravity.is_direct(all));
}

void run(Simulation& simulation, StopRequests& requests) {
  if (simulation.run(&requests) == Ended::stopped)
    throw Agreed<Stopped>(fmt::format("stopped at time {}, as asked by {}; --resume auto goes on from there",
                                      simulation.time_text(), requests.reason()));
}

/// True if nothing is left to do, which is said.
bool says_complete(const Communicator& comm, const Parameters& parameters, const Checkpoint& from) {
  if (!is_complete(from, parameters)) return false;
  if (comm.is_master())
    say("the run is complete: time.end = {} was reached after {}; a later time.end goes on\n",
        moment_text(parameters.time.end, parameters), how_many(from.run.steps_done, "step"));
  return true;
}

void resume(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice,
            const Checkpoint& from, StopRequests& requests) {
  if (says_complete(comm, parameters, from)) return;
  require_room(comm, needs_of(comm, parameters, choice, run_ahead(comm, parameters, from), false));
  std::optional<Simulation> simulation;
  {
    const Expected expected(at_most(longest_writing_seconds(from.run.forces.particles)));
    simulation.emplace(comm, parameters,
                       make_backend(comm, choice, Particles{}, parameters.gravity, parameters.gas), from);
  }
  run(*simulation, requests);
}

/// Ends a run that is asked to stop before it has a checkpoint to go on from.
void pause(StopRequests& requests) {
  if (requests.poll_stop())
    throw Agreed<Stopped>(
        fmt::format("stopped before its first step, as asked by {}; there are no results yet, and it begins "
                    "anew when it is started again",
                    requests.reason()));
}

void start(const Communicator& comm, Parameters parameters, const BackendChoice& choice, bool replaces,
           StopRequests& requests) {
  const StartHooks hooks{.before =
                             [&](const Beginning& beginning) {
                               require_room(comm, needs_of(comm, parameters, choice,
                                                           run_ahead(comm, parameters, beginning), replaces));
                             },
                         .pause = [&] { pause(requests); }};
  InitialState state =
      watched("initial conditions", initial_state_seconds(comm, parameters.initial_conditions),
              [&] { return initial_state(comm, parameters, hooks); });
  if (comm.is_master()) {
    for (const std::string& remark : state.remarks) say("note: {}\n", remark);
    for (const std::string& warning : state.warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  parameters.shown = shown_with(parameters, state.file_units);
  // A run that goes on from a snapshot keeps its leaves.
  DecompositionParameters& decomposition = parameters.decomposition;
  if (decomposition.leaf_size == 0 && decomposition.leaves == 0) decomposition.leaf_size = state.leaf_size;
  std::optional<Simulation> simulation;
  {
    const Expected expected(at_most(longest_first_forces(comm, state.particles.size(), parameters.gravity)));
    simulation.emplace(
        comm, parameters,
        make_backend(comm, choice, std::move(state.particles), parameters.gravity, parameters.gas),
        state.time);
  }
  run(*simulation, requests);
}

BackendChoice resolved(const Communicator& comm, BackendChoice choice) {
  const std::string no_gpu = resolve(comm, choice);
  if (comm.is_master() && !no_gpu.empty()) say("no GPU is used: {}\n", no_gpu);
  return choice;
}

void check(const Communicator& comm, const Parameters& parameters, const ResumeChoice& resume,
           const BackendChoice& backend) {
  const BackendChoice choice = resolved(comm, backend);
  const auto from = choose_checkpoint(comm, resume, parameters, choice.name);
  if (from && says_complete(comm, parameters, *from)) return;
  check_run(comm, parameters, choice, resume, from ? &*from : nullptr);
}

struct RunOptions {
  std::string file;
  std::vector<std::string> overrides;
  ResumeChoice resume;
  BackendChoice backend;
  bool check = false, verbose = false, quiet = false;
};

void begin_or_go_on(const Communicator& comm, const RunOptions& options) {
  set_verbosity(options.quiet ? Verbosity::quiet : options.verbose ? Verbosity::verbose : Verbosity::normal);
  const Parameters parameters =
      read_parameters(comm, options.file, options.overrides,
                      [&](const Parameters& p) { return edge_to_go_on_with(options.resume, p); });
  if (options.check) {
    drop_requests();
    return check(comm, parameters, options.resume, options.backend);
  }
  const Watchdog watchdog(comm.rank(), parameters.limits.hang);
  StopRequests requests(comm, parameters.output.folder, parameters.limits.wall_clock);
  const BackendChoice choice = resolved(comm, options.backend);
  std::optional<FolderLock> lock;  // before anything in there is read or removed
  comm.together([&] {
    if (comm.is_master()) lock.emplace(parameters.output.folder);
  });
  // Before the work that a folder without room for the results would waste.
  const auto from = watched("checkpoint", seconds_of_checkpoints(comm, options.resume, parameters),
                            [&] { return find_checkpoint(comm, options.resume, parameters, choice.name); });
  if (from)
    resume(comm, parameters, choice, *from, requests);
  else
    start(comm, parameters, choice, options.resume.overwrite, requests);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a simulation");
  command->add_option("parameters", options->file, "Parameter file (YAML); see docs/parameters.md")
      ->required();
  command
      ->add_option("-P", options->overrides,
                   "Set a parameter, overriding the file: -P section.key=value (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  command->add_flag("--overwrite", options->resume.overwrite,
                    "Replace the results of an earlier run in the same output folder");
  command
      ->add_option("--resume", options->resume.from,
                   "What to begin with: the last checkpoint in the output folder, if there is one (auto), "
                   "nothing of earlier runs (never), or this checkpoint (its folder)")
      ->type_name("auto|never|PATH")
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  command->add_flag("--check", options->check,
                    "Write nothing: check parameters and files, take the first steps, and say what memory, "
                    "disk and time the run would take");
  CLI::Option* verbose = command->add_flag("--verbose", options->verbose, "A line for each step");
  command
      ->add_flag("--quiet", options->quiet, "Nothing on the way but warnings; the verdict at the end remains")
      ->excludes(verbose);
  command->callback([options, &action] {
    action = [options](const Communicator& comm) { begin_or_go_on(comm, *options); };
  });
}

}  // namespace grove
