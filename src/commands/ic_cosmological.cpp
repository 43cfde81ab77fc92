#include "commands/ic_cosmological.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/display_units.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "commands/count.hpp"
#include "commands/ic_cut_sphere.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "run/start/cosmological_model.hpp"
#include "run/start/run_needs.hpp"

namespace grove {
namespace {

const char* const group = "Models cosmological-box and cosmological-sphere";

/// Refuses a cosmology of which a part has neither a value nor a preset's.
void check_cosmology(const std::string& model, const CosmologicalOptions& options) {
  using C = CosmologyParameters;
  std::vector<std::pair<const char*, std::optional<double> C::*>> needed{
      {"--hubble", &C::h}, {"--omega-matter", &C::omega_matter}, {"--omega-lambda", &C::omega_lambda}};
  if (options.cut_sphere.empty() && !options.model.has_table())
    needed.insert(needed.end(), {{"--omega-baryon", &C::omega_baryon},
                                 {"--sigma8", &C::sigma8},
                                 {"--spectral-index", &C::spectral_index}});
  std::vector<std::string> missing;
  for (const auto& [option, value] : needed)
    if (!(options.cosmology.*value)) missing.emplace_back(option);
  if (options.cosmology.preset.empty() && !missing.empty())
    throw InputError(
        fmt::format("the model {} needs {} as well, or --cosmology, one of {}, for what is not given", model,
                    fmt::join(missing, ", "), fmt::join(cosmology_presets(), ", ")));
}

/// The particles are those of a file: refuses what would make others.
void check_cut(const std::string& model, const CosmologicalOptions& options) {
  if (!options.box_size.empty())
    throw InputError("--cut-sphere: the file states its box; leave --box-size out");
  if (model != cosmological_sphere)
    throw InputError(fmt::format("--cut-sphere is of the model {}", cosmological_sphere));
  const std::vector<std::string> taken{"--cut-sphere", "--radius",       "--cosmology",
                                       "--hubble",     "--omega-matter", "--omega-lambda"};
  std::vector<std::string> given = options.given;
  if (options.has_seed) given.emplace_back("--seed");
  for (const std::string& option : given)
    if (std::find(taken.begin(), taken.end(), option) == taken.end())
      throw InputError(
          fmt::format("--cut-sphere: particles are as the file has them; leave {} out: it "
                      "depends on {} alone",
                      option, fmt::join(std::span(taken).subspan(1), ", ")));
}

/// Those that a run with these choices would have.
Parameters parameters_of(const std::string& model, std::uint64_t seed, const CosmologicalOptions& options) {
  Parameters p;
  p.units = Units::galactic();
  p.cosmology = options.cosmology;
  if (p.cosmology == CosmologyParameters{}) p.cosmology.preset = cosmology_presets().front();
  p.initial_conditions.model.model = model;
  p.initial_conditions.model.seed = seed;
  CosmologicalModelParameters& m = p.initial_conditions.cosmological;
  m = options.model;
  if (!m.redshift) m.redshift = 49;
  if (options.zeldovich) m.displacements = "zeldovich";
  const auto length = [&](const char* name, const std::string& text, std::optional<double>& value) {
    try {
      if (!text.empty()) value = p.units.parse(text, dimension::length);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", name, error.what()));
    }
  };
  if (!options.cut_sphere.empty()) check_cut(model, options);
  if (options.cut_sphere.empty() && m.sites == 0)
    throw InputError(fmt::format("the model {} needs --sites", model));
  if (options.cut_sphere.empty() && options.box_size.empty())
    throw InputError(fmt::format("the model {} needs --box-size", model));
  if (model == cosmological_sphere && options.radius.empty())
    throw InputError(fmt::format("the model {} needs --radius", model));
  if (!(options.cosmology == CosmologyParameters{})) check_cosmology(model, options);
  complete(p.cosmology);
  p.universe = cosmology_of(p.cosmology, p.units);
  length("--box-size", options.box_size, m.box_size);
  length("--radius", options.radius, m.radius);
  return p;
}

void tell(const CosmologicalVolume& v, const DisplacementSummary& moved, const DisplayUnits& shown,
          const std::string& output, const std::string& model, std::uint64_t seed) {
  const double spacing = v.box / v.sites;
  const auto length = [&](double value) { return shown.text(value, dimension::length, 4); };
  const Cosmology& c = v.cosmology;
  fmt::print("{}: {} of the model {}, seed {}, at redshift {:.6g}\n", output,
             how_many(count_of(v), "particle"), model, seed, v.redshift);
  constexpr double flat = 1e-9;
  fmt::print(
      "h {:.6g}, matter {:.6g}, lambda {:.6g}{}; {}\n", v.spectrum.h, c.omega_matter, c.omega_lambda,
      std::abs(c.omega_curvature()) < flat ? "" : fmt::format(", curvature {:.4g}", c.omega_curvature()),
      v.spectrum.sigma8 > 0 ? fmt::format("sigma8 {:.6g} today", v.spectrum.sigma8) : "the table's spectrum");
  fmt::print("mass of each {}, spacing {}; displaced by {} (rms), {} of a spacing, at most {}\n",
             shown.text(particle_mass(v), dimension::mass, 4), length(spacing), length(moved.rms),
             fmt::format("{:.3g}", moved.rms / spacing), length(moved.largest));
}

}  // namespace

void add_cosmological_options(CLI::App& command, CosmologicalOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command.add_option(name, value, help)->group(group);
  };
  add_count(command, "--sites", o.model.sites, Count{2}, "Sites of the lattice along each edge of the box")
      ->group(group);
  add("--glass", o.model.glass, "Sites from this file of `grove ic glass`, in place of a lattice")
      ->type_name("FILE");
  add("--box-size", o.box_size,
      "Comoving edge of the periodic box of the fluctuations, without h: \"100 Mpc\"; a number alone is in "
      "kpc")
      ->type_name("LENGTH");
  add("--radius", o.radius, "cosmological-sphere: comoving radius, about the middle of the box; as the edge")
      ->type_name("LENGTH");
  add("--cut-sphere", o.cut_sphere,
      "cosmological-sphere: particles from this file of a comoving box, of MUSIC, monofonIC or N-GenIC, "
      "rather than made "
      "ones; with --radius and the cosmology alone")
      ->type_name("FILE");
  add("--redshift", o.model.redshift, "When the particles are so [49]");
  command.add_flag("--zeldovich", o.zeldovich, "Displacements to first order rather than second (2LPT)")
      ->group(group);
  command.add_flag("--fixed", o.model.fixed, "Amplitudes as the spectrum says; phases alone are random")
      ->group(group);
  command.add_flag("--paired", o.model.paired, "All phases the other way around")->group(group);
  add("--spectrum", o.model.spectrum,
      "eisenstein_hu, smooth (without acoustic oscillations), or a file with k in h/Mpc and P in (Mpc/h)^3 "
      "in its first "
      "columns, as CLASS and CAMB write them, scaled to --sigma8 if that is given [eisenstein_hu]");
  add("--cosmology", o.cosmology.preset,
      "Values of all that follows and is not given [planck2018, if none is]")
      ->check(CLI::IsMember(cosmology_presets()));
  add("--hubble", o.cosmology.h, "h: the Hubble constant over 100 km/s/Mpc");
  add("--omega-matter", o.cosmology.omega_matter, "All matter, over the critical density");
  add("--omega-lambda", o.cosmology.omega_lambda, "Dark energy");
  add("--omega-baryon", o.cosmology.omega_baryon, "Baryons, within the matter");
  add("--sigma8", o.cosmology.sigma8, "Today's linear fluctuations in spheres of 8 Mpc/h");
  add("--spectral-index", o.cosmology.spectral_index, "Of primordial fluctuations");
}

std::vector<std::string> cosmological_options_of(const CLI::App& command) {
  std::vector<std::string> given;
  for (const CLI::Option* option : command.get_options())
    if (option->get_group() == group && option->count() > 0) given.push_back(option->get_name());
  return given;
}

void make_cosmological_file(const Communicator& comm, const std::string& model, std::uint64_t seed,
                            const CosmologicalOptions& options, const std::string& output) {
  Parameters p;
  comm.together([&] {
    p = parameters_of(model, seed, options);
    if (comm.is_master() && !options.cut_sphere.empty()) require_output(output, {options.cut_sphere});
  });
  if (!options.cut_sphere.empty()) return cut_sphere(comm, options.cut_sphere, p, output);
  const CosmologicalVolume volume = cosmological_volume(comm, p);
  require_room(comm, {host_need(comm, count_of(volume), {})});
  const Particles particles = make_particles(comm, volume);
  WriteOptions write;
  write.units = p.units;
  if (!volume.radius) write.box = volume.box;
  write.comoving = ComovingTime{volume.cosmology, volume.spectrum.h, scale_factor_of(volume.redshift)};
  write_snapshot(comm, output, particles, write);
  const DisplacementSummary moved = displacements_of(comm, volume, particles);
  if (comm.is_master()) tell(volume, moved, DisplayUnits(p.units, {.length = "Mpc"}), output, model, seed);
}

}  // namespace grove
