#include "resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "io/file.hpp"
#include "run/log/run_log.hpp"
#include "run/start/earlier_results.hpp"
#include "run/start/run_timeline.hpp"
#include "simulation.hpp"
#include "time/timeline.hpp"

namespace grove {
namespace {

/// On the master. InputError unless a run that finds no checkpoint comes to what the folder holds again: that
/// of a run that was ended before its first one, and had these parameters.
void require_repeatable(const std::string& output, Parameters parameters) {
  if (!RunLog::has_steps(output)) return;
  const std::string latest = EarlierResults(output).latest_snapshot(), used = output + "/used-parameters.yml";
  const std::string instead =
      (latest.empty() ? "start another run"
                      : "start another run from " + latest + " (initial_conditions.file)") +
      " in another output.folder, or this one afresh with --overwrite, which replaces them";
  // A run makes the folder in its beginning.
  if (!CheckpointFolder(output).exists() || RunLog::has_checkpoints(output))
    throw InputError(
        fmt::format("{}: holds results of a run, whose checkpoints are not there any more to go on from: {}",
                    output, instead));
  std::error_code error;
  if (!std::filesystem::exists(used, error)) return;  // ended in its beginning
  const Parameters before = parse_parameters(read_text(used), used, {});
  DecompositionParameters& decomposition = parameters.decomposition;
  if (decomposition.leaf_size == 0 && decomposition.leaves == 0)
    decomposition.leaf_size = before.decomposition.leaf_size;  // that of its initial conditions
  if (fixed_parameters(before) != fixed_parameters(parameters))
    throw InputError(
        fmt::format("{}: holds results of a run with other parameters, and no checkpoint to go on from: {}",
                    output, instead));
}

/// On the master. InputError if the run would mix with another one in its output folder. from (optional): the
/// checkpoint that it goes on from.
void require_own_folder(const ResumeChoice& choice, const Parameters& parameters, const Checkpoint* from) {
  const std::string& output = parameters.output.folder;
  if (from ? CheckpointFolder(output).holds(from->path) : choice.overwrite) return;
  if (from || choice.from != "auto") return RunLog::require_no_earlier_run(output);
  require_repeatable(output, parameters);
}

/// On the master. InputError if the run would replace what it begins with.
void require_initial_conditions_elsewhere(const Parameters& parameters) {
  for (const ComponentParameters& part : parameters.initial_conditions.parts())
    if (!part.file.empty() && EarlierResults(parameters.output.folder).hold(part.file))
      throw InputError(fmt::format(
          "{}: the initial conditions are among the results of an earlier run, which this one would replace: "
          "give another output.folder than {}",
          part.file, parameters.output.folder));
}

/// Paths of the checkpoints to be tried, the latest first, the same on all ranks.
std::vector<std::string> candidates(const Communicator& comm, const ResumeChoice& choice,
                                    const std::string& output) {
  if (choice.from != "auto") return {choice.from};
  std::string list;
  comm.together([&] {
    if (comm.is_master()) list = fmt::format("{}", fmt::join(CheckpointFolder(output).latest_first(), "\n"));
  });
  std::vector<std::string> paths;
  list = comm.broadcast(list);
  for (std::size_t begin = 0, end; begin < list.size(); begin = end + 1) {
    end = std::min(list.find('\n', begin), list.size());
    paths.push_back(list.substr(begin, end - begin));
  }
  return paths;
}

std::optional<Checkpoint> latest_valid(const Communicator& comm, const std::vector<std::string>& paths,
                                       bool is_auto) {
  std::vector<std::string> faults;
  for (const std::string& path : paths) try {
      return open_checkpoint(comm, path);
    } catch (const Agreed<InputError>& error) {
      if (!is_auto) throw;
      faults.emplace_back(error.what());
      if (comm.is_master() && path != paths.back())
        fmt::print(stderr, "warning: {}; the checkpoint before it is tried\n", error.what());
    }
  if (faults.empty()) return std::nullopt;
  throw Agreed<InputError>(
      fmt::format("no checkpoint to go on from: {}; start another run from the last snapshot "
                  "(initial_conditions.file) in another output.folder, or this one afresh with --overwrite",
                  fmt::join(faults, "; ")));
}

/// However far it is to go now.
Timeline timeline_of(const Checkpoint& from, const Parameters& parameters) {
  try {
    return grove::timeline_of(parameters, from.run.begin, from.run.longest_step);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", from.path, error.what()));
  }
}

void require_end_ahead(const Checkpoint& from, const Parameters& parameters) {
  const BlockClock::State& clock = from.run.clock;
  if (clock.step + (clock.tick > 0 ? 1 : 0) > timeline_of(from, parameters).steps())
    throw InputError(fmt::format("{}: is of time {}, behind time.end = {}: give a later one", from.path,
                                 parameters.shown.text(from.manifest.time, dimension::time, 12),
                                 parameters.shown.text(parameters.time.end, dimension::time)));
}

void require_same_run(const Checkpoint& from, Parameters parameters, const std::string& backend) {
  if (from.manifest.backend != backend)
    throw InputError(fmt::format(
        "{}: was written by --backend {}, and this run has {}, whose forces differ by rounding: go on with "
        "--backend {}, or start another run from the last snapshot (initial_conditions.file) in another "
        "output.folder",
        from.path, from.manifest.backend, backend, from.manifest.backend));
  DecompositionParameters& decomposition = parameters.decomposition;
  if (decomposition.leaf_size == 0 && decomposition.leaves == 0) decomposition.leaf_size = from.run.leaf_size;
  require_same(from.manifest.parameters, fixed_parameters(parameters), from.path, parameters.shown);
  require_end_ahead(from, parameters);
  output_times_of(parameters, from.run.begin, parameters.time.end);  // none is outside
}

/// 0: it has none, or the manifest cannot be read.
double edge_in(const std::string& checkpoint) {
  try {
    const CheckpointManifest manifest =
        parse_manifest(read_manifest(checkpoint), manifest_of_checkpoint(checkpoint));
    const auto size = manifest.parameters.find("box.size");
    if (size == manifest.parameters.end() || size->second.empty()) return 0;
    return Units::dimensionless().parse(size->second, dimension::length);
  } catch (const InputError&) {
    return 0;  // open_checkpoint() tells why
  }
}

}  // namespace

double edge_to_go_on_with(const ResumeChoice& choice, const Parameters& parameters) {
  if (choice.from == "never") return 0;
  if (choice.from != "auto") return edge_in(choice.from);
  for (const std::string& path : CheckpointFolder(parameters.output.folder).latest_first())
    if (const double edge = edge_in(path); edge > 0) return edge;
  return 0;
}

std::optional<Checkpoint> choose_checkpoint(const Communicator& comm, const ResumeChoice& choice,
                                            const Parameters& parameters, const std::string& backend) {
  const std::string& output = parameters.output.folder;
  if (choice.overwrite && choice.from != "never")
    throw Agreed<InputError>("--overwrite begins afresh, --resume goes on: give one of them");
  std::optional<Checkpoint> found;
  if (choice.from != "never")
    found = latest_valid(comm, candidates(comm, choice, output), choice.from == "auto");
  comm.together([&] {
    if (found) require_same_run(*found, parameters, backend);
    if (!comm.is_master()) return;
    if (!found) return require_initial_conditions_elsewhere(parameters);
    if (const std::string now = compiled_instruction_set(); found->manifest.instruction_set != now)
      fmt::print(stderr,
                 "warning: {}: was written by a grove for other processors ('{}', now '{}'): results may "
                 "differ by rounding\n",
                 found->path, found->manifest.instruction_set, now);
  });
  return found;
}

std::string results_in_the_way(const Communicator& comm, const ResumeChoice& choice,
                               const Parameters& parameters, const Checkpoint* from) {
  std::string fault;
  comm.together([&] {
    if (comm.is_master()) try {
        require_own_folder(choice, parameters, from);
      } catch (const InputError& error) {
        fault = error.what();
      }
  });
  return comm.broadcast(fault);
}

std::optional<Checkpoint> find_checkpoint(const Communicator& comm, const ResumeChoice& choice,
                                          const Parameters& parameters, const std::string& backend) {
  std::optional<Checkpoint> found = choose_checkpoint(comm, choice, parameters, backend);
  const std::string fault = results_in_the_way(comm, choice, parameters, found ? &*found : nullptr);
  if (!fault.empty()) throw Agreed<InputError>(fault);
  // Earlier results, if they may be replaced, stay until the run has its first forces
  // (Simulation::start_reporting).
  comm.together([&] {
    if (!comm.is_master()) return;
    const std::string& output = parameters.output.folder;
    if (!found && !choice.overwrite && RunLog::is_there(output))
      say("{}: the run there was ended before its first {}; it begins afresh\n", output,
          RunLog::has_steps(output) ? "checkpoint" : "step");
    if (!found) make_output_folder(output);
    CheckpointFolder(output).begin();
  });
  return found;
}

bool is_complete(const Checkpoint& checkpoint, const Parameters& parameters) {
  const Timeline timeline = timeline_of(checkpoint, parameters);
  if (!BlockClock(timeline, checkpoint.run.clock).is_done()) return false;
  const OutputTimes times = output_times_of(parameters, timeline.begin(), timeline.end());
  return times.count_passed(timeline.end(), checkpoint.run.last_output, timeline.same()) ==
         times.all().size();
}

}  // namespace grove
