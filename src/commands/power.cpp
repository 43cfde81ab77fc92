#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/display_units.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "commands/backend_options.hpp"
#include "commands/commands.hpp"
#include "io/comoving.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "structure/power_table.hpp"

namespace grove {
namespace {

struct PowerCommandOptions {
  std::string snapshot, output, box, assignment = "tsc";
  std::vector<int> types;
  int mesh = 0, folds = 0;
  bool plain = false, subtract = false, overwrite = false;
  BackendChoice backend;
};

/// Mpc/h for a file whose own units have h in them, else these.
SpectrumUnit unit_of(const SnapshotHeader& header) {
  const bool has_h = header.is_over_h() && header.h > 0;
  if (has_h && header.file_units && !header.file_units->is_dimensionless())
    return SpectrumUnit::of_h(header.file_units->cgs(dimension::length) / named_unit("Mpc")->cgs);
  return SpectrumUnit::of(DisplayUnits(header.file_units.value_or(Units::dimensionless())));
}

double edge_of(const SnapshotHeader& header, const PowerCommandOptions& options) {
  const Vec3d& box = header.box_size;
  const bool has_box = box.x > 0 && box.x == box.y && box.x == box.z;
  if (options.box.empty()) {
    if (has_box) return box.x;
    throw InputError(
        fmt::format("{}: states no cubic box, in which alone modes have numbers; --box-size gives its edge",
                    options.snapshot));
  }
  const double h = header.is_over_h() && header.h > 0 ? header.h : 1,
               edge = number_of_file(options.box, dimension::length, header.units, h);
  if (!(edge > 0)) throw InputError(fmt::format("--box-size: {} must be a positive length", options.box));
  if (!has_box) return edge;
  if (std::abs(edge / box.x - 1) > 1e-6)
    throw InputError(
        fmt::format("--box-size: {} is not the box of {}, whose edge is {} in its units; leave it out",
                    options.box, options.snapshot, box.x));
  return box.x;
}

/// Takes away the particles of other types.
void choose_types(const Communicator& comm, Particles& particles, const PowerCommandOptions& options) {
  if (options.types.empty()) return;
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (std::find(options.types.begin(), options.types.end(), int{particles.type[i]}) != options.types.end())
      chosen.push_back(static_cast<std::uint32_t>(i));
  particles.reorder(chosen);
  if (comm.sum(static_cast<Count>(chosen.size())) == 0)
    throw Agreed<InputError>(fmt::format("{}: has no particles of these types", options.snapshot));
}

void measure_power(const Communicator& comm, const PowerCommandOptions& options) {
  const std::string output =
      options.output.empty()
          ? std::filesystem::path(options.snapshot).replace_extension().string() + "_power.csv"
          : options.output;
  comm.together([&] {
    if (!comm.is_master()) return;
    require_output(output, {options.snapshot});
    require_output(output, options.overwrite ? Existing::replace : Existing::keep);
  });
  Snapshot snapshot = read_snapshot(comm, options.snapshot, {.comoving = true});
  ValidationOptions sound{.source = options.snapshot, .tracer = all_types, .softening = {}};
  validate_values(comm, snapshot.particles, sound);
  choose_types(comm, snapshot.particles, options);
  const Particles& particles = snapshot.particles;
  const Count count = comm.sum(static_cast<Count>(particles.size()));
  PowerOptions power;
  comm.together([&] {
    if (comm.is_master()) power.box = edge_of(snapshot.header, options);  // others do not know h
  });
  power.box = comm.broadcast(power.box);
  power.mesh = options.mesh > 0 ? options.mesh : usual_mesh(count);
  power.assignment = options.assignment == "cic" ? Assignment::cic : Assignment::tsc;
  power.interlaced = !options.plain;
  power.folds = options.folds;
  BackendChoice choice = options.backend;
  const std::string no_gpu = resolve(comm, choice);
  const std::unique_ptr<PowerEstimator> estimator = make_power_estimator(comm, choice);
  const std::vector<PowerBin> bins =
      power_spectrum(comm, particles.position, particles.mass, power, *estimator);
  comm.together([&] {
    if (!comm.is_master()) return;
    if (!no_gpu.empty()) fmt::print("no GPU is used: {}\n", no_gpu);
    const SpectrumUnit unit = unit_of(snapshot.header);
    const auto below = std::count_if(bins.begin(), bins.end(),
                                     [](const PowerBin& bin) { return bin.power < bin.shot_noise; });
    if (options.subtract && 2 * below > static_cast<std::ptrdiff_t>(bins.size()))
      fmt::print(stderr,
                 "warning: {} of {} have less power than the shot noise, which is subtracted: particles that "
                 "began on a lattice or a glass do not have it while they have moved little\n",
                 below, how_many(bins.size(), "shell"));
    write_text(output, power_table(bins, unit, options.subtract));
    fmt::print("{}: {}, {} from {:.4g} to {:.4g} in {}, on a mesh of {}^3; shot noise {:.4g}{}\n", output,
               how_many(count, "particle"), unit.wavenumber, bins.front().wavenumber / unit.factor,
               bins.back().wavenumber / unit.factor, how_many(bins.size(), "shell"), power.mesh,
               bins.front().shot_noise * std::pow(unit.factor, 3), options.subtract ? ", subtracted" : "");
  });
}

}  // namespace

void add_power(CLI::App& app, Action& action) {
  const auto options = std::make_shared<PowerCommandOptions>();
  CLI::App& command =
      *app.add_subcommand("power", "Measure the power spectrum of the density in a periodic box");
  command.add_option("SNAPSHOT", options->snapshot, "A snapshot, of any format that `grove info` knows")
      ->required();
  command.add_option("-o,--output", options->output,
                     "The table to write (CSV) [the snapshot's name with _power.csv]");
  command.add_flag("--overwrite", options->overwrite, "Replace that table if it is there");
  command
      .add_option("--mesh", options->mesh,
                  "Points of the mesh along an edge [twice as many as particles, as a power of two]")
      ->check(CLI::Range(4, 1 << 15));
  command
      .add_option("--assignment", options->assignment,
                  "Clouds of particles: cic, as wide as a cell, or tsc, two cells [tsc]")
      ->check(CLI::IsMember({"cic", "tsc"}));
  command.add_flag("--no-interlacing", options->plain,
                   "One mesh, without the second that cancels the nearest aliases: half the time");
  command
      .add_option("--folds", options->folds,
                  "Fold the box so many times to half its edge, for smaller scales on the same mesh [0]")
      ->check(CLI::Range(0, 20));
  command.add_option("--types", options->types, "Particle types to measure, together [all]")
      ->delimiter(',')
      ->check(CLI::Range(0, particle_types - 1));
  command.add_flag("--subtract-shot-noise", options->subtract,
                   "Give the power without that of as many particles at random");
  command.add_option("--box-size", options->box, "Edge of the periodic box [the file's]")
      ->type_name("LENGTH");
  add_backend_choice(command, options->backend);
  command.callback([options, &action] {
    action = [options](const Communicator& comm) { measure_power(comm, *options); };
  });
}

}  // namespace grove
