#include "cosmological_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

double needed(const std::optional<double>& value, const std::string& model, const char* name) {
  if (!value) throw InputError(fmt::format("the model {} needs {}", model, name));
  return *value;
}

SpectrumParameters spectrum_of(const Parameters& p, const std::string& table) {
  const std::string& model = p.initial_conditions.model.model;
  const CosmologyParameters& c = p.cosmology;
  SpectrumParameters spectrum;
  spectrum.h = needed(c.h, model, "cosmology.h");
  if (!table.empty()) {
    spectrum.kind = SpectrumKind::table;
    spectrum.table = spectrum_table(table, p.initial_conditions.cosmological.spectrum);
    spectrum.sigma8 = c.sigma8.value_or(0);
    return spectrum;
  }
  if (p.initial_conditions.cosmological.spectrum == "smooth") spectrum.kind = SpectrumKind::smooth;
  spectrum.omega_baryon = needed(c.omega_baryon, model, "cosmology.omega_baryon");
  spectrum.sigma8 = needed(c.sigma8, model, "cosmology.sigma8");
  spectrum.spectral_index = needed(c.spectral_index, model, "cosmology.spectral_index");
  return spectrum;
}

/// Where a run begins at some time, that is the time of its particles.
double redshift_of_start(const Parameters& p) {
  const std::optional<double> given = p.initial_conditions.cosmological.redshift;
  if (!p.time.begin) return needed(given, p.initial_conditions.model.model, "a redshift");
  const double begin = redshift_of(Expansion(*p.universe, largest_scale_factor).scale_factor(*p.time.begin));
  constexpr double same = 1e-6;
  if (given && std::abs((1 + begin) / (1 + *given) - 1) > same)
    throw InputError(fmt::format(
        "initial_conditions.redshift = {} is not that of time.begin, {:.9g}; leave one of them out", *given,
        begin));
  return given.value_or(begin);
}

}  // namespace

CosmologicalVolume cosmological_volume(const Communicator& comm, const Parameters& p) {
  const InitialConditionsParameters& from = p.initial_conditions;
  const CosmologicalModelParameters& model = from.cosmological;
  const bool is_table = model.spectrum != "eisenstein_hu" && model.spectrum != "smooth";
  std::string table;
  comm.together([&] {
    if (is_table && comm.is_master()) table = read_text(model.spectrum);
  });
  table = comm.broadcast(table);
  CosmologicalVolume volume;
  comm.together([&] {
    const std::string& name = from.model.model;
    if (!p.universe) throw InputError(fmt::format("the model {} needs section cosmology", name));
    volume.cosmology = *p.universe;
    volume.spectrum = spectrum_of(p, table);
    volume.noise = {from.model.seed, model.fixed, model.paired};
    volume.megaparsec = named_unit("Mpc")->cgs / p.units.cgs(dimension::length);
    volume.gravitational_constant = p.units.gravitational_constant;
    volume.sites = static_cast<int>(std::min<Count>(model.sites, 1 << 30));
    volume.box = needed(model.box_size, name, "box_size");
    if (name == cosmological_sphere)
      volume.radius = needed(model.radius, name, "radius");
    else if (model.radius)
      throw InputError(fmt::format("the model {} has no radius; {} has", name, cosmological_sphere));
    volume.redshift = redshift_of_start(p);
    volume.second_order = model.displacements == "2lpt";
    check(volume);
  });
  return volume;
}

CosmologicalVolume sample_of(CosmologicalVolume volume, double share) {
  constexpr double fewest = 4;
  volume.sites = std::min(
      volume.sites,
      static_cast<int>(std::lround(std::max(fewest, volume.sites * std::cbrt(std::min(share, 1.0))))));
  return volume;
}

}  // namespace grove
