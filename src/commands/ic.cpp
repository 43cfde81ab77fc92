#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/display_units.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "base/units.hpp"
#include "commands/commands.hpp"
#include "commands/count.hpp"
#include "commands/ic_cosmological.hpp"
#include "commands/ic_glass.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "particles/models/model.hpp"
#include "run/start/initial_conditions.hpp"
#include "run/start/model_summary.hpp"
#include "run/start/run_needs.hpp"

namespace grove {
namespace {

/// A parameter of a model on the command line; its text is read when the units are known.
struct ValueOption {
  std::string name;
  double ModelParameters::*value;
  Dimension dimension;
  std::string help;
  std::string text{};
};

struct InitialConditionsOptions {
  ModelParameters model;
  CosmologicalOptions cosmological;
  std::string output;
  std::string units;
  bool overwrite = false;
  std::vector<ValueOption> values = {
      {"--mass", &ModelParameters::mass, dimension::mass,
       "M of the model's formulas; m31: its unit, 1e10 Msun [1]"},
      {"--scale", &ModelParameters::scale, dimension::length,
       "Scale radius, radius, edge or semi-major axis; m31: its unit, 1 kpc [1]"},
      {"--rmax", &ModelParameters::rmax, dimension::length,
       "Truncation radius [plummer: 99.9 % of the mass; hernquist: 50 scale; nfw and disk-galaxy: "
       "concentration x "
       "scale; merger: 8 scale]"},
      {"--concentration", &ModelParameters::concentration, dimension::none,
       "nfw, disk-galaxy: rmax / scale [15]"},
      {"--taper", &ModelParameters::taper, dimension::length,
       "nfw, disk-galaxy, merger: length of the fall-off beyond rmax [rmax / 10]"},
      {"--eccentricity", &ModelParameters::eccentricity, dimension::none, "kepler [0]"},
      {"--mass-ratio", &ModelParameters::mass_ratio, dimension::none,
       "kepler, merger: second body over the first [1]"},
      {"--disk-fraction", &ModelParameters::disk_fraction, dimension::none,
       "disk-galaxy, merger: share of the mass in the disk [0.05]"},
      {"--bulge-fraction", &ModelParameters::bulge_fraction, dimension::none,
       "disk-galaxy: share of the mass in the bulge [0.01]"},
      {"--bulge-scale", &ModelParameters::bulge_scale, dimension::length,
       "disk-galaxy: scale of the bulge's Hernquist profile [disk-scale / 5]"},
      {"--halo-spin", &ModelParameters::halo_spin, dimension::none,
       "disk-galaxy, merger: J / (sqrt(2) M V R) of the halo at its rmax [0]"},
      {"--disk-scale", &ModelParameters::disk_scale, dimension::length,
       "Scale length of the disk [scale / 5]"},
      {"--disk-height", &ModelParameters::disk_height, dimension::length,
       "z0 of the disk's sech^2(z / z0) [0.15 disk-scale]"},
      {"--toomre-q", &ModelParameters::toomre_q, dimension::none, "Smallest Toomre Q of the disk [1.5]"},
      {"--pericentre", &ModelParameters::pericentre, dimension::length,
       "merger: closest approach of the parabola [0.6 scale]"},
      {"--separation", &ModelParameters::separation, dimension::length,
       "merger: of the galaxies at the start [8 scale]"},
  };
};

std::string model_help() {
  std::string help = "One of";
  for (const ModelInfo& info : model_infos()) help += fmt::format("\n  {}: {}", info.name, info.description);
  return help +
         fmt::format(
             "\n  {}: a periodic box of an early universe\n  {}: a sphere that is cut out of one\n  {}: even "
             "particles for these, in place of a lattice",
             cosmological_box, cosmological_sphere, glass_model);
}

/// Refuses a model that there is not, and an option that this one would ignore.
void check_options(const InitialConditionsOptions& options) {
  if (!find_model_info(options.model.model)) {
    std::vector<std::string_view> known{cosmological_box, cosmological_sphere, glass_model};
    for (const ModelInfo& info : model_infos()) known.emplace_back(info.name);
    throw InputError(
        fmt::format("there is no model '{}'; there are: {}", options.model.model, fmt::join(known, ", ")));
  }
  if (const auto& given = options.cosmological.given; !given.empty())
    throw InputError(
        fmt::format("{} is of the models {} and {}", given.front(), cosmological_box, cosmological_sphere));
  for (const ModelInfo& info : model_infos()) {
    if (info.name != options.model.model) continue;
    std::string taken, foreign;
    for (const ValueOption& option : options.values) {
      const bool takes = std::find(info.takes.begin(), info.takes.end(), option.value) != info.takes.end();
      if (takes)
        taken += (taken.empty() ? "" : ", ") + option.name;
      else if (!option.text.empty() && foreign.empty())
        foreign = option.name;
    }
    if (info.has_parts) taken += ", --n-halo, --n-disk, --n-bulge, --equal-masses";
    if (!foreign.empty())
      throw InputError(
          fmt::format("the model {} does not depend on {}; its options are {}", info.name, foreign, taken));
  }
}

ModelParameters resolve(const InitialConditionsOptions& options, const Units& units) {
  check_options(options);
  ModelParameters parameters = options.model;
  parameters.gravitational_constant = units.gravitational_constant;
  for (const ValueOption& option : options.values) {
    if (option.text.empty()) continue;
    try {
      parameters.*option.value = units.parse(option.text, option.dimension);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", option.name, error.what()));
    }
  }
  return parameters;
}

/// Refuses an option of the models that have formulas.
void check_glass(const InitialConditionsOptions& options) {
  const auto refuse = [](const std::string& option) {
    throw InputError(
        fmt::format("the model {} does not depend on {}, but on -n and --seed", glass_model, option));
  };
  for (const ValueOption& option : options.values)
    if (!option.text.empty()) refuse(option.name);
  if (!options.cosmological.given.empty()) refuse(options.cosmological.given.front());
}

/// Refuses an option of the other models.
void check_cosmological(const InitialConditionsOptions& options) {
  const auto refuse = [&](const std::string& option) {
    throw InputError(
        fmt::format("the model {} does not depend on {}; see grove ic --help", options.model.model, option));
  };
  for (const ValueOption& option : options.values)
    if (!option.text.empty()) refuse(option.name);
  const ModelParameters& m = options.model;
  if (m.particles > 0) refuse("-n, but on --sites");
  if (m.halo_particles > 0 || m.disk_particles > 0 || m.bulge_particles > 0 || m.equal_masses)
    refuse("numbers of parts");
  if (options.units == "none")
    throw InputError(fmt::format("the model {} needs --units galactic, which it has by itself", m.model));
}

/// A line on what a run needs that begins with the model; empty: nothing in particular.
std::string needs_of_model(const ModelParameters& parameters, const DisplayUnits& shown) {
  const ModelInfo& model = *find_model_info(parameters.model);
  if (!model.fills_box) return {};
  const std::string box =
      fmt::format("box: {{periodic: true, size: {}}}", shown.text(parameters.scale, dimension::length));
  return fmt::format("to be run with {}{}\n", box,
                     model.adiabatic_index > 0
                         ? fmt::format(" and gas: {{adiabatic_index: {}}}", model.adiabatic_index)
                         : "");
}

void make_file(const Communicator& comm, const InitialConditionsOptions& options) {
  if (is_cosmological(options.model.model)) {
    comm.together([&] {
      check_cosmological(options);
      if (comm.is_master())
        require_output(options.output, options.overwrite ? Existing::replace : Existing::keep);
    });
    return make_cosmological_file(comm, options.model.model, options.model.seed, options.cosmological,
                                  options.output);
  }
  if (options.model.model == glass_model) {
    comm.together([&] {
      check_glass(options);
      if (comm.is_master())
        require_output(options.output, options.overwrite ? Existing::replace : Existing::keep);
    });
    return make_glass_file(comm, options.model.particles, options.model.seed, options.output);
  }
  const Units units = options.units == "galactic" ? Units::galactic() : Units::dimensionless();
  ModelParameters parameters;
  comm.together([&] {
    parameters = resolve(options, units);
    if (comm.is_master())
      require_output(options.output, options.overwrite ? Existing::replace : Existing::keep);
  });
  std::optional<Model> model;
  comm.together([&] { model = make_model(parameters); });
  require_room(comm, {host_need(comm, model->count(), {})});
  const Particles particles = make_initial_conditions(comm, parameters);
  WriteOptions write;
  write.fields = initial_fields();
  write.units = units;
  const bool fills_box = find_model_info(parameters.model)->fills_box;
  if (fills_box) write.box = parameters.scale;
  write_snapshot(comm, options.output, particles, write);
  const ModelSummary summary =
      model_summary(comm, *model, particles, units.gravitational_constant, fills_box);
  if (comm.is_master())
    fmt::print("{}: {} of the model {}, seed {}\n{}", options.output, how_many(model->count(), "particle"),
               parameters.model, parameters.seed,
               summary.text(DisplayUnits(units)) + needs_of_model(parameters, DisplayUnits(units)));
}

}  // namespace

void add_ic(CLI::App& app, Action& action) {
  const auto options = std::make_shared<InitialConditionsOptions>();
  CLI::App& command = *app.add_subcommand("ic", "Make initial conditions");
  command.add_option("model", options->model.model, model_help())->required();
  command.add_option("-o,--output", options->output, "The snapshot to write (HDF5)")->required();
  command.add_flag("--overwrite", options->overwrite, "Replace that file if it is there");
  add_count(command, "-n,--particles", options->model.particles, Count{1},
            "How many, in all [the model's default]");
  command.add_option("--seed", options->model.seed, "Of the random numbers [1]");
  command
      .add_option("--units", options->units,
                  "Units of values and of the file; none: G = 1; galactic: kpc, 1e10 Msun, km/s [none; of "
                  "cosmological models galactic]")
      ->check(CLI::IsMember({"none", "galactic"}));
  const std::pair<const char*, Count ModelParameters::*> parts[] = {
      {"halo", &ModelParameters::halo_particles},
      {"disk", &ModelParameters::disk_particles},
      {"bulge", &ModelParameters::bulge_particles}};
  for (const auto& [part, count] : parts)
    add_count(
        command, fmt::format("--n-{}", part), options->model.*count, Count{1},
        fmt::format("disk-galaxy, merger: particles of the {} [its share of what the others leave]", part));
  command.add_flag("--equal-masses", options->model.equal_masses,
                   "disk-galaxy, merger: all particles have the same mass");
  for (ValueOption& value : options->values)
    command.add_option(value.name, value.text, value.help)->type_name("VALUE");
  add_cosmological_options(command, options->cosmological);
  command.callback([options, &command, &action] {
    options->cosmological.given = cosmological_options_of(command);
    options->cosmological.has_seed = command.count("--seed") > 0;
    action = [options](const Communicator& comm) { make_file(comm, *options); };
  });
}

}  // namespace grove
