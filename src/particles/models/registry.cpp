#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/errors.hpp"
#include "particles/models/galaxy.hpp"
#include "particles/models/gas_models.hpp"
#include "particles/models/hernquist.hpp"
#include "particles/models/kepler.hpp"
#include "particles/models/m31.hpp"
#include "particles/models/merger.hpp"
#include "particles/models/model.hpp"
#include "particles/models/nfw.hpp"
#include "particles/models/plummer.hpp"
#include "particles/models/uniform.hpp"

namespace grove {
namespace {

struct Entry {
  ModelInfo info;
  Count default_count;
  Model (*make)(const ModelParameters&);
};

using P = ModelParameters;
constexpr double P::*of_size[] = {&P::mass, &P::scale};
constexpr double P::*of_scale[] = {&P::scale};
constexpr double P::*of_sphere[] = {&P::mass, &P::scale, &P::rmax};
constexpr double P::*of_nfw[] = {&P::mass, &P::scale, &P::rmax, &P::concentration, &P::taper};
constexpr double P::*of_kepler[] = {&P::mass, &P::scale, &P::eccentricity, &P::mass_ratio};
constexpr double P::*of_disk_galaxy[] = {&P::mass,           &P::scale,       &P::rmax,
                                         &P::concentration,  &P::taper,       &P::disk_fraction,
                                         &P::bulge_fraction, &P::disk_scale,  &P::disk_height,
                                         &P::toomre_q,       &P::bulge_scale, &P::halo_spin};
constexpr double P::*of_merger[] = {&P::mass,       &P::scale,         &P::rmax,       &P::taper,
                                    &P::mass_ratio, &P::disk_fraction, &P::disk_scale, &P::disk_height,
                                    &P::toomre_q,   &P::pericentre,    &P::separation, &P::halo_spin};

constexpr std::array entries = {
    Entry{{"plummer", "Plummer sphere in equilibrium, truncated at 99.9 % of its mass", of_sphere},
          10000,
          make_plummer},
    Entry{{"hernquist", "Hernquist sphere in equilibrium, truncated at 50 scale lengths", of_sphere},
          10000,
          make_hernquist},
    Entry{{"nfw", "NFW sphere in equilibrium, tapered beyond rmax", of_nfw}, 10000, make_nfw},
    Entry{{"uniform-sphere", "uniform ball in virial balance", of_size}, 10000, make_uniform_sphere},
    Entry{{"cold-sphere", "uniform ball at rest", of_size}, 10000, make_cold_sphere},
    Entry{{"uniform-cube", "uniform cube at rest", of_size}, 10000, make_uniform_cube},
    Entry{{"kepler", "two bodies on an ellipse", of_kepler}, 2, make_kepler},
    Entry{{"disk-galaxy", "NFW halo, Hernquist bulge and exponential disk", of_disk_galaxy, true},
          100000,
          make_disk_galaxy},
    Entry{{"merger", "two Hernquist galaxies with disks on a parabolic encounter", of_merger, true},
          100000,
          make_merger},
    Entry{{"m31",
           "the Andromeda galaxy: NFW halo, Hernquist bulge, exponential disk; particles of equal mass; "
           "made for --units galactic and a softening of 16 pc",
           of_size},
          1 << 20,
          make_m31},
    Entry{{"evrard", "cold sphere of gas of density 1/r, which collapses", of_size}, 30000, make_evrard},
    Entry{{"sedov", "point explosion in a periodic cube of gas of density 1, on a cubic lattice", of_scale,
           false, true},
          1 << 15,
          make_sedov},
    Entry{{"sod", "shock tubes in a periodic cube of gas of gamma 1.4, on tilted lattices", of_scale, false,
           true, 1.4},
          1 << 17,
          make_sod},
};

const Entry& entry_of(std::string_view name) {
  for (const Entry& entry : entries)
    if (entry.info.name == name) return entry;
  std::string known;
  for (const Entry& entry : entries) known += (known.empty() ? "" : ", ") + std::string(entry.info.name);
  throw InputError(fmt::format("there is no model '{}'; there are: {}", name, known));
}

void require(bool holds, std::string_view name, double value, std::string_view range) {
  if (!holds)
    throw InputError(fmt::format("{} = {:g} of the initial conditions must be {}", name, value, range));
}

void require_positive(std::string_view name, double value) {
  require(std::isfinite(value) && value > 0, name, value, "a positive number");
}

/// 0 stands for the model's default.
void require_positive_or_default(std::string_view name, double value) {
  require(std::isfinite(value) && value >= 0, name, value, "a positive number");
}

bool counts_parts(const ModelParameters& p) {
  return p.halo_particles != 0 || p.disk_particles != 0 || p.bulge_particles != 0;
}

/// Numbers of parts of which the model has none would go unnoticed.
void check_parts(const ModelParameters& p, const ModelInfo& info) {
  for (const auto& [name, value] :
       {std::pair("n_halo", p.halo_particles), {"n_disk", p.disk_particles}, {"n_bulge", p.bulge_particles}})
    require(value >= 0, name, static_cast<double>(value), "at least 1, or left out");
  if (!info.has_parts && (counts_parts(p) || p.equal_masses))
    throw InputError(
        fmt::format("the model {} does not depend on n_halo, n_disk, n_bulge and equal_masses", info.name));
  if (counts_parts(p) && p.equal_masses)
    throw InputError(
        "equal_masses says how many particles halo, disk and bulge get: leave it out, or n_halo, "
        "n_disk and n_bulge");
}

void check(const ModelParameters& p) {
  require(p.particles >= (counts_parts(p) ? 0 : 1), "particles", static_cast<double>(p.particles),
          "at least 1");
  require_positive("gravitational_constant", p.gravitational_constant);
  require_positive("mass", p.mass);
  require_positive("scale", p.scale);
  require_positive("concentration", p.concentration);
  require_positive("mass_ratio", p.mass_ratio);
  require_positive("toomre_q", p.toomre_q);
  require_positive_or_default("rmax", p.rmax);
  require_positive_or_default("taper", p.taper);
  require_positive_or_default("bulge_scale", p.bulge_scale);
  require_positive_or_default("disk_scale", p.disk_scale);
  require_positive_or_default("disk_height", p.disk_height);
  require_positive_or_default("pericentre", p.pericentre);
  require_positive_or_default("separation", p.separation);
  require(p.disk_fraction >= 0 && p.bulge_fraction >= 0 && p.disk_fraction + p.bulge_fraction < 1,
          "disk_fraction + bulge_fraction", p.disk_fraction + p.bulge_fraction, "at least 0 and less than 1");
}

}  // namespace

std::span<const ModelInfo> model_infos() {
  static const auto infos = [] {
    std::array<ModelInfo, entries.size()> result;
    for (std::size_t i = 0; i < entries.size(); ++i) result[i] = entries[i].info;
    return result;
  }();
  return infos;
}

const ModelInfo* find_model_info(std::string_view name) {
  const std::span<const ModelInfo> infos = model_infos();
  const auto found = std::ranges::find(infos, name, &ModelInfo::name);
  return found == infos.end() ? nullptr : &*found;
}

Model make_model(const ModelParameters& parameters) {
  const Entry& entry = entry_of(parameters.model);
  ModelParameters resolved = parameters;
  check_parts(parameters, entry.info);
  if (resolved.particles == 0 && !counts_parts(parameters)) resolved.particles = entry.default_count;
  check(resolved);
  return entry.make(resolved);
}

}  // namespace grove
