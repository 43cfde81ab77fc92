#include "cosmological_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include "base/box.hpp"
#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"

namespace grove {
namespace {

double needed(const std::optional<double>& value, const std::string& model, const char* name) {
  if (!value) throw InputError(fmt::format("the model {} needs {}", model, name));
  return *value;
}

SpectrumParameters spectrum_of(const Parameters& p, const std::string& table) {
  const std::string& model = p.initial_conditions.model.model;
  SpectrumParameters spectrum;
  spectrum.h = needed(p.cosmology.h, model, "cosmology.h");
  if (!table.empty()) {
    spectrum.kind = SpectrumKind::table;
    spectrum.table = spectrum_table(table, p.initial_conditions.cosmological.spectrum);
    spectrum.sigma8 = p.cosmology.sigma8.value_or(0);
    return spectrum;
  }
  CosmologyParameters c = p.cosmology;
  complete_spectrum(c);
  if (p.initial_conditions.cosmological.spectrum == "smooth") spectrum.kind = SpectrumKind::smooth;
  spectrum.omega_baryon = needed(c.omega_baryon, model, "cosmology.omega_baryon");
  spectrum.sigma8 = needed(c.sigma8, model, "cosmology.sigma8");
  spectrum.spectral_index = needed(c.spectral_index, model, "cosmology.spectral_index");
  return spectrum;
}

/// The places of a glass, over the edge of its box, sorted along x. Collective.
std::vector<Vec3d> glass_of(const Communicator& comm, const std::string& file) {
  const Snapshot glass = read_snapshot(comm, file, {.unstated = Units::dimensionless(), .comoving = true});
  const Vec3d& box = glass.header.box_size;
  if (!(box.x > 0 && box.x == box.y && box.x == box.z))
    throw Agreed<InputError>(
        fmt::format("{}: a glass states the cubic box that it fills; this file does not", file));
  std::vector<Vec3d> places;
  constexpr double edge = 1 - 0x1p-30;  // beyond, places between points of a mesh round to the next box
  for (const Vec3d& x : glass.particles.position) {
    Vec3d& place = places.emplace_back(Box::periodic(1).wrapped(x * (1 / box.x)));
    for (int axis = 0; axis < 3; ++axis)
      if (place[axis] > edge) place[axis] = 0;
  }
  std::vector<Vec3d> all = comm.all_gather_arrays(std::span<const Vec3d>(places));
  std::sort(all.begin(), all.end(),
            [](const Vec3d& a, const Vec3d& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); });
  return all;
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
  std::string table;
  comm.together([&] {
    if (model.has_table() && comm.is_master()) table = read_text(model.spectrum);
  });
  table = comm.broadcast(table);
  CosmologicalVolume volume;
  if (!model.glass.empty()) volume.glass = glass_of(comm, model.glass);
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
  volume.glass.clear();  // its particles come in cubes of their own
  return volume;
}

}  // namespace grove
