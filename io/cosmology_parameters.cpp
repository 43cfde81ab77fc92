#include "io/cosmology_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

constexpr double cm_per_mpc = 3.0856775814913673e24, cm_per_km = 1e5;

using Preset = std::pair<std::string, CosmologyParameters>;

/// planck2018: Planck Collaboration 2020, A&A 641, A6, table 2, last column. eds: matter alone (Einstein and
/// de Sitter 1932), with its spectrum.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = [] {
    CosmologyParameters planck;
    planck.h = 0.6766, planck.omega_matter = 0.3111, planck.omega_lambda = 0.6889;
    planck.omega_baryon = 0.04897, planck.sigma8 = 0.8102, planck.spectral_index = 0.9665;
    CosmologyParameters matter = planck;
    matter.omega_matter = 1, matter.omega_lambda = 0;
    return std::vector<Preset>{{"planck2018", planck}, {"eds", matter}};
  }();
  return all;
}

using Member = std::optional<double> CosmologyParameters::*;

/// Gives these members the preset's values, where they have none.
void fill(CosmologyParameters& p, std::initializer_list<Member> members) {
  for (const auto& [name, values] : presets())
    if (name == p.preset)
      for (const Member member : members)
        if (!(p.*member)) p.*member = values.*member;
}

}  // namespace

const std::vector<std::string>& cosmology_presets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Preset& preset : presets()) list.push_back(preset.first);
    return list;
  }();
  return names;
}

void complete(CosmologyParameters& p) {
  fill(p, {&CosmologyParameters::h, &CosmologyParameters::omega_matter, &CosmologyParameters::omega_lambda});
  const std::pair<const char*, Member> needed[] = {{"h", &CosmologyParameters::h},
                                                   {"omega_matter", &CosmologyParameters::omega_matter},
                                                   {"omega_lambda", &CosmologyParameters::omega_lambda}};
  for (const auto& [key, member] : needed)
    if (!(p.*member))
      throw InputError(fmt::format("cosmology.{} must be given, or cosmology.preset, one of {}", key,
                                   fmt::join(cosmology_presets(), ", ")));
  constexpr double most = 10;
  if (*p.h > most)
    throw InputError(
        fmt::format("cosmology: h = {0} is out of range; it is the Hubble constant over 100 "
                    "km/s/Mpc, so {0} km/s/Mpc are h = {1:.6g}",
                    *p.h, *p.h / 100));
}

void complete_spectrum(CosmologyParameters& p) {
  fill(p, {&CosmologyParameters::omega_baryon, &CosmologyParameters::sigma8,
           &CosmologyParameters::spectral_index});
}

Cosmology cosmology_of(const CosmologyParameters& p, const Units& units) {
  if (units.is_dimensionless())
    throw InputError("cosmology: h is in 100 km/s/Mpc, which units.system: none does not know; give others");
  const Cosmology result{.omega_matter = *p.omega_matter,
                         .omega_lambda = *p.omega_lambda,
                         .omega_radiation = p.omega_radiation.value_or(0),
                         .w0 = p.w0.value_or(-1),
                         .wa = p.wa.value_or(0),
                         .hubble = *p.h * 100 * cm_per_km / cm_per_mpc * units.cgs(dimension::time)};
  Expansion{result};
  return result;
}

ExternalPotential background_of(const Cosmology& cosmology, const Vec3d& centre) {
  return {.kind = PotentialKind::background,
          .centre = centre,
          .strength = 0.5 * cosmology.omega_matter * cosmology.hubble * cosmology.hubble};
}

}  // namespace grove
