#include "initial_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "cosmological_model.hpp"
#include "cosmology/expansion.hpp"
#include "initial_conditions.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "particles/models/model.hpp"
#include "periodic_box.hpp"
#include "run/guard/step_forecast.hpp"
#include "run_timeline.hpp"

namespace grove {

ReadOptions reading_of(const Parameters& parameters) {
  ReadOptions options{.unstated = parameters.units, .convert_to = parameters.units};
  if (parameters.universe) options.h = parameters.cosmology.h, options.cosmology = parameters.universe;
  options.energy_power = parameters.gas.expansion_power();
  if (const auto& weight = parameters.initial_conditions.molecular_weight)
    options.gas = IdealGas{*weight, parameters.gas.adiabatic_index};
  return options;
}

CompositionOptions composition_of(const Parameters& parameters) {
  const ReadOptions reading = reading_of(parameters);
  CompositionOptions options;
  options.name = parameters.initial_conditions.source();
  options.units = parameters.units;
  options.unstated = reading.unstated;
  options.tracer = parameters.initial_conditions.tracer;
  options.gas = reading.gas;
  return options;
}

std::string remark_on_units(const std::string& file, const SnapshotHeader& header) {
  if (header.file_units) return {};
  const Units& units = header.units;
  const char* const over_h = header.is_over_h() ? "/h" : "";
  return fmt::format("{}: states no units; its numbers are taken to be {}", file,
                     units.is_dimensionless()
                         ? "dimensionless, G = 1"
                         : fmt::format("in {}{}, {}{}, {}", units.name(dimension::length), over_h,
                                       units.name(dimension::mass), over_h, units.name(dimension::velocity)));
}

std::vector<std::string> remarks_on(const std::string& file, const SnapshotHeader& header) {
  std::vector<std::string> remarks;
  if (std::string remark = remark_on_units(file, header); !remark.empty())
    remarks.push_back(std::move(remark));
  if (std::string remark = remark_on_gas(file, header.counts[gas_type], header.has_gas); !remark.empty()) {
    if (has_temperatures(header.format))
      remark += "; with initial_conditions.molecular_weight these follow from its temperatures";
    remarks.push_back(std::move(remark));
  }
  return remarks;
}

namespace {

/// Particles of one epoch that a run in expanding space takes to be of another.
std::string remark_on_begin(const Parameters& parameters, const std::string& file,
                            const SnapshotHeader& header) {
  if (!parameters.universe || !parameters.time.begin || header.comoving.empty()) return {};
  const Expansion expansion(*parameters.universe);
  const double of_file = scale_factor_of(header.redshift),
               of_run = expansion.scale_factor(*parameters.time.begin);
  if (std::abs(of_run / of_file - 1) < 1e-3) return {};
  return fmt::format(
      "{}: is of z = {:.6g}, and the run begins at z = {:.6g}, as time.begin says: the file's particles are "
      "taken to be of then; leave time.begin out to begin at the file's redshift",
      file, header.redshift, redshift_of(of_run));
}

}  // namespace

std::vector<std::string> warnings_on(const Parameters& parameters, const std::string& file,
                                     const SnapshotHeader& header) {
  std::vector<std::string> warnings;
  for (std::string warning :
       {remark_on_box(parameters, file, header), remark_on_begin(parameters, file, header)})
    if (!warning.empty()) warnings.push_back(std::move(warning));
  return warnings;
}

std::vector<std::string> remarks_on_space(const Parameters& parameters) {
  constexpr double flat = 1e-3;  // sums of rounded parts, and radiation that is left out, are less
  if (!parameters.universe || std::abs(parameters.universe->omega_curvature()) < flat) return {};
  return {
      fmt::format("space is curved: omega_matter {:.6g}, omega_lambda {:.6g} and omega_radiation {:.6g} "
                  "leave {:.4g} to 1 for curvature",
                  parameters.universe->omega_matter, parameters.universe->omega_lambda,
                  parameters.universe->omega_radiation, parameters.universe->omega_curvature())};
}

std::string remark_on_gas(const std::string& source, Count count, bool has_gas) {
  if (count == 0 || has_gas) return {};
  return fmt::format("{}: holds {} of gas (type 0) without internal energies, which {} by gravity alone",
                     source, how_many(count, "particle"), count == 1 ? "moves" : "move");
}

std::vector<std::string> remarks_on_use_of_gas(const Parameters& parameters, Count count) {
  const GasParameters& gas = parameters.gas;
  if (count > 0) {
    const double neighbours = neighbours_of(gas.kernel);
    if (static_cast<double>(count) >= neighbours) return {};
    return {
        fmt::format("there {} {} of gas, fewer than the {} neighbours of gas.kernel: the kernel of each "
                    "reaches over all of them, and densities say nothing; take more particles",
                    count == 1 ? "is" : "are", how_many(count, "particle"), neighbours)};
  }
  const GasParameters other;
  std::vector<std::string> names;
  const auto note = [&](const char* name, bool is_given) {
    if (is_given) names.push_back(fmt::format("gas.{}", name));
  };
  note("kernel", gas.kernel != other.kernel);
  note("formulation", gas.formulation != other.formulation);
  note("equation_of_state", gas.equation_of_state != other.equation_of_state);
  note("adiabatic_index", gas.adiabatic_index != other.adiabatic_index);
  note("viscosity", gas.viscosity != other.viscosity);
  note("courant", gas.courant != other.courant);
  if (names.empty()) return {};
  return {fmt::format("there is no gas, which is particles of type 0 with internal energies: {} do{} nothing",
                      fmt::join(names, ", "), names.size() == 1 ? "es" : "")};
}

std::vector<std::string> remarks_on_model(const Parameters& parameters) {
  std::vector<std::string> remarks;
  const std::vector<ComponentParameters> parts = parameters.initial_conditions.parts();
  for (const ComponentParameters& part : parts) {
    const ModelInfo* const model = part.file.empty() ? find_model_info(part.model.model) : nullptr;
    if (!model || part.placement.type[gas_type] != gas_type) continue;
    if (model->fills_box && !parameters.box.periodic) {
      const std::string edge = parameters.shown.text(part.model.scale, dimension::length);
      std::string remark = fmt::format(
          "the model {} fills a cube of {}, which is to be periodic; here space is open, and gas leaves "
          "through its faces",
          model->name, edge);
      if (parts.size() == 1) remark += fmt::format(": give box: {{periodic: true, size: {}}}", edge);
      remarks.push_back(std::move(remark));
    }
    const double gamma = parameters.gas.adiabatic_index;
    if (const double own = model->adiabatic_index; own > 0 && gamma != own)
      remarks.push_back(
          fmt::format("the model {} is of gas of gamma {}, but gas.adiabatic_index is {:.4g}, with which its "
                      "pressures are {:.3g} times as large: give gas: {{adiabatic_index: {}}}",
                      model->name, own, gamma, (gamma - 1) / (own - 1), own));
  }
  return remarks;
}

DisplayUnits shown_with(const Parameters& parameters, const std::optional<Units>& file_units) {
  if (parameters.unit_choice.system != "galactic" || !file_units || file_units->is_dimensionless())
    return parameters.shown;
  UnitNames names = parameters.typed;
  const UnitNames found = DisplayUnits(*file_units).names();
  if (names.length.empty()) names.length = found.length;
  if (names.mass.empty()) names.mass = found.mass;
  if (names.velocity.empty()) names.velocity = found.velocity;
  return DisplayUnits(parameters.units, names);
}

namespace {

std::string remark_on_cold_gas(const std::string& source, Count count) {
  return fmt::format(
      "{}: gives {} of type 0 without internal energies, taken to be gas with energies of 0, "
      "as other components have gas; give another type (type) for motion by gravity alone",
      source, how_many(count, "particle"));
}

/// Particles of a model that get type 0 and are no gas in it.
Count count_without_energies(const ComponentParameters& part) {
  const Model model = make_model(part.model);
  Count count = 0;
  for (const Component& component : model.components())
    if (part.placement.type[component.type] == gas_type && !(component.type == gas_type && model.has_gas()))
      count += component.count;
  return count;
}

/// Several files or models: at time 0, whatever the files say.
InitialState composed_state(const Communicator& comm, const Parameters& parameters, const StartHooks& hooks) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  InitialState state;
  CompositionOptions options = composition_of(parameters);
  options.pause = hooks.pause;
  Composition composition = compose(comm, from.components, options);
  state.particles = std::move(composition.particles);
  auto header = composition.headers.begin();
  for (const ComponentParameters& part : from.components) {
    const bool is_beside_gas = state.particles.has_gas && part.placement.type[gas_type] == gas_type;
    if (part.file.empty()) {
      if (const Count count = state.particles.has_gas ? count_without_energies(part) : 0; count > 0)
        state.remarks.push_back(remark_on_cold_gas("model " + part.model.model, count));
      continue;
    }
    if (!state.file_units) state.file_units = header->file_units;
    if (is_beside_gas && !header->has_gas && header->counts[gas_type] > 0) {
      state.remarks.push_back(remark_on_cold_gas(header->files[0], header->counts[gas_type]));
      header->counts[gas_type] = 0;
    }
    for (std::string& remark : remarks_on(header->files[0], *header))
      state.remarks.push_back(std::move(remark));
    ++header;
  }
  std::ranges::move(remarks_on_model(parameters), std::back_inserter(state.remarks));
  return state;
}

}  // namespace

InitialState initial_state(const Communicator& comm, const Parameters& parameters, const StartHooks& hooks) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  InitialState state;
  SnapshotHeader header;
  if (hooks.before && from.file.empty()) hooks.before(beginning_of(comm, parameters));
  if (!from.components.empty()) {
    state = composed_state(comm, parameters, hooks);
  } else if (is_cosmological(from.model.model)) {
    const CosmologicalVolume volume = cosmological_volume(comm, parameters);
    state.particles = make_particles(comm, volume, hooks.pause);
    state.time = Expansion(volume.cosmology).time(scale_factor_of(volume.redshift));
  } else if (from.file.empty()) {
    state.particles = make_initial_conditions(comm, from.model, hooks.pause);
    state.remarks = remarks_on_model(parameters);
  } else {
    ReadOptions options = reading_of(parameters);
    options.pause = hooks.pause;
    if (hooks.before)
      options.before_particles = [&](const SnapshotHeader& found) {
        hooks.before({found.counts, time_of(found, parameters)});
      };
    Snapshot snapshot = read_snapshot(comm, from.file, options);
    state.particles = std::move(snapshot.particles);
    state.time = time_of(snapshot.header, parameters);
    state.leaf_size = snapshot.header.leaf_size;
    header = std::move(snapshot.header);
    state.remarks = remarks_on(from.file, header);
    state.warnings = warnings_on(parameters, from.file, header);
    state.file_units = header.file_units;
  }
  const Count of_type = comm.sum(
      static_cast<Count>(std::count(state.particles.type.begin(), state.particles.type.end(), gas_type)));
  if (of_type == 0) state.particles.forget_gas();  // other types were given to it
  std::ranges::move(remarks_on_space(parameters), std::back_inserter(state.remarks));
  std::ranges::move(remarks_on_use_of_gas(parameters, state.particles.has_gas ? of_type : 0),
                    std::back_inserter(state.remarks));
  ValidationOptions options;
  if (!from.file.empty()) options.header = &header;
  options.source = from.source();
  options.tracer = from.tracer;
  options.softening = parameters.gravity.softening;
  options.softened = parameters.softened;
  options.leaves = parameters.decomposition.leaves;
  validate(comm, state.particles, options);
  if (parameters.box.periodic) {
    require_periodic_box(comm, parameters, state.particles, from.file.empty() ? nullptr : &header);
    require_mean_density(comm, parameters, state.particles, from.source());
  }
  if (hooks.pause) hooks.pause();
  if (parameters.time.begin) state.time = *parameters.time.begin;
  return state;
}

double initial_state_seconds(const Communicator& comm, const InitialConditionsParameters& from) {
  double seconds = 0;
  const double sites = std::pow(static_cast<double>(from.cosmological.sites), 3);
  for (const ComponentParameters& part : from.parts())
    seconds += part.file.empty()
                   ? 1e-5 * (static_cast<double>(part.model.particles) + sites)
                   : reading_seconds(comm, std::filesystem::absolute(part.file).parent_path(), 0);
  return seconds;
}

}  // namespace grove
