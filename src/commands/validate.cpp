#include "io/validate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "commands/commands.hpp"
#include "io/snapshot.hpp"
#include "run/checkpoint/checkpoint.hpp"

namespace grove {
namespace {

/// Runs the checks one after the other and says of each what it found.
class Checks {
 public:
  explicit Checks(const Communicator& comm) : comm_(comm) {}

  /// check: collective; throws an InputError on all ranks. fine: what to say where it does not.
  template <class Check>
  bool run(const char* name, const std::string& fine, const Check& check) {
    try {
      check();
      say(name, fine);
    } catch (const Agreed<InputError>& error) {
      say(name, error.what());
      ++faults_;
      return false;
    }
    return true;
  }
  /// The same where a fault is not one of the file. reason: why.
  template <class Check>
  void warn(const char* name, const std::string& fine, const char* reason, const Check& check) {
    std::string said = fine;
    try {
      check();
    } catch (const Agreed<InputError>& error) {
      said = fmt::format("warning: {}; {}", error.what(), reason);
    }
    say(name, said);
  }
  void say(const char* name, const std::string& found) const {
    if (!comm_.is_master()) return;
    fmt::print("{:<10} {}\n", name, found);
    std::fflush(stdout);  // before what is said on standard error in the end
  }
  int faults() const { return faults_; }

 private:
  const Communicator& comm_;
  int faults_ = 0;
};

std::string checksum_of(const SnapshotHeader& header) {
  if (header.has_checksum) return "right";
  if (header.by_grove)
    return "warning: written by Grove, but its checksum is missing; its end was cut off, or it was changed "
           "since";
  return header.format == SnapshotFormat::hdf5 ? "none: not written by Grove" : "none in this format";
}

std::string stated_units(const SnapshotHeader& header) {
  if (!header.file_units) return "none stated";
  return header.file_units->is_dimensionless() ? "dimensionless, with G = 1"
                                               : "stated, with Newton's constant";
}

std::string box_of(const SnapshotHeader& header) {
  return header.box_size == Vec3d{} ? "open"
                                    : "all particles inside, from 0 to " + text_of_box(header.box_size);
}

/// Massless particles are fine where they are expected.
std::string values_of(const Communicator& comm, const Particles& particles) {
  std::array<Count, particle_types> massless{};
  for (std::size_t i = 0; i < particles.size(); ++i) massless[particles.type[i]] += particles.mass[i] == 0;
  comm.sum(std::span<Count>(massless));
  std::string text = "finite, no negative mass";
  for (std::size_t t = 0; t < massless.size(); ++t)
    if (massless[t] > 0)
      text += fmt::format(
          "; {} of type {} have no mass: initial_conditions.tracer of a run, or --tracer of force, must name "
          "the type",
          massless[t], t);
  return text;
}

void check_particles(const Communicator& comm, Checks& checks, const std::string& path,
                     const Snapshot& snapshot) {
  const SnapshotHeader& header = snapshot.header;
  const Particles& particles = snapshot.particles;
  const ValidationOptions options{
      .source = path, .tracer = all_types, .softening = {}, .leaves = 0, .header = &header};
  checks.run("units", stated_units(header), [&] {
    comm.together([&] {
      if (header.file_units) validate_units(*header.file_units, path);
    });
  });
  checks.run("values", values_of(comm, particles), [&] { validate_values(comm, particles, options); });
  checks.run("ids", header.has_ids ? "unique" : "none; numbered in file order",
             [&] { validate_ids(comm, particles, options); });
  const auto check_box = [&] { validate_box(comm, particles, options); };
  // Codes state a box of open space too, around its centre; a run takes such a file.
  if (header.is_periodic || !is_box(header.box_size))
    checks.run("box", box_of(header), check_box);
  else
    checks.warn("box", box_of(header), "the file does not say that it is periodic", check_box);
}

void check_snapshot(const Communicator& comm, Checks& checks, const std::string& path) {
  Snapshot snapshot;
  if (checks.run("structure", "complete",
                 [&] { snapshot = read_snapshot(comm, path, {.comoving = true}); })) {
    const SnapshotHeader& header = snapshot.header;
    checks.say("content",
               fmt::format("{}, {}{}", name_of(header.format), how_many(header.count(), "particle"),
                           header.files.size() > 1 ? fmt::format(" in {} files", header.files.size()) : ""));
    checks.say("checksum", checksum_of(header));
    if (!header.comoving.empty())
      checks.say("comoving", header.comoving + "; runs that take it have a section cosmology");
    check_particles(comm, checks, path, snapshot);
  }
}

/// Checks a checkpoint in a folder, as OUTPUT/checkpoints has them.
void check_checkpoint(const Communicator& comm, Checks& checks, const std::string& path) {
  std::optional<Checkpoint> checkpoint;
  Particles particles;
  if (!checks.run("structure", "complete, and every byte as it was written", [&] {
        checkpoint = open_checkpoint(comm, path);
        particles = checkpoint->read_own(comm, false).particles;
      }))
    return;
  const CheckpointManifest& manifest = checkpoint->manifest;
  checks.say("content", fmt::format("checkpoint of step {}, time {}: {}, {}, {}", manifest.step,
                                    manifest.time_text, how_many(manifest.particles, "particle"),
                                    how_many(manifest.leaves, "leaf", "leaves"),
                                    how_many(manifest.pieces.size(), "piece")));
  checks.say("written by", fmt::format("Grove {}, backend {}, instruction set: {}", manifest.grove,
                                       manifest.backend, manifest.instruction_set));
  const ValidationOptions options{.source = path, .tracer = all_types, .softening = {}};
  checks.run("values", values_of(comm, particles), [&] { validate_values(comm, particles, options); });
  checks.run("ids", "unique", [&] { validate_ids(comm, particles, options); });
}

void validate_path(const Communicator& comm, const std::string& path) {
  bool is_folder = false;
  comm.together([&] {
    if (!comm.is_master()) return;
    std::error_code error;
    is_folder = std::filesystem::is_directory(path, error);
    if (!is_folder) require_file(path);
  });
  Checks checks(comm);
  comm.broadcast(is_folder) ? check_checkpoint(comm, checks, path) : check_snapshot(comm, checks, path);
  if (const int faults = checks.faults(); faults > 0)
    throw Agreed<std::runtime_error>(
        fmt::format("{}: not valid: {} of the checks above failed", path, faults));
}

/// One of several: what is wrong with it is said with the rest.
ExitStatus status_of(const Communicator& comm, const std::string& path) {
  const auto say = [&](const std::string& message) {
    if (comm.is_master()) fmt::print("{}\n", message), std::fflush(stdout);
  };
  say(path + ":");
  try {
    validate_path(comm, path);
    return ExitStatus::done;
  } catch (const Agreed<InputError>& error) {
    say(error.what());
    return ExitStatus::input_error;
  } catch (const Agreed<std::runtime_error>& error) {
    say(error.what());
    return ExitStatus::failed;
  }
}

/// One after the other, whatever is found; the worst decides.
void validate_all(const Communicator& comm, const std::vector<std::string>& paths) {
  if (paths.size() == 1) return validate_path(comm, paths[0]);
  auto worst = ExitStatus::done;
  std::size_t at_fault = 0;
  for (const std::string& path : paths) {
    const ExitStatus status = status_of(comm, path);
    at_fault += status != ExitStatus::done;
    worst = std::max(worst, status);
  }
  const std::string text = fmt::format("{} of {} are not valid", at_fault, paths.size());
  if (worst == ExitStatus::input_error) throw Agreed<InputError>(text);
  if (worst == ExitStatus::failed) throw Agreed<std::runtime_error>(text);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App* validate = app.add_subcommand("validate",
                                          "Check snapshots or checkpoints: structure, checksum, units, "
                                          "values, ids, box; status 1 if something is wrong");
  auto files = std::make_shared<std::vector<std::string>>();
  validate
      ->add_option("FILE", *files,
                   "Snapshots, of any format that `grove info` knows, or folders of checkpoints")
      ->required();
  validate->callback(
      [files, &action] { action = [files](const Communicator& comm) { validate_all(comm, *files); }; });
}

}  // namespace grove
