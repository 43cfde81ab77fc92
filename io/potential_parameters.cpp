#include "io/potential_parameters.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace grove {
namespace {

ExternalPotential potential_of(const PotentialParameters& given, double gravitational_constant) {
  ExternalPotential p{.kind = given.kind,
                      .centre = given.position,
                      .strength = gravitational_constant * given.mass.value_or(0),
                      .scale = given.scale.value_or(0)};
  switch (given.kind) {
    case PotentialKind::point_mass:
      p.scale = spline_radius_over_softening * given.softening.value_or(0);
      break;
    case PotentialKind::nfw: {
      const double c = given.concentration.value();
      p.strength /= c * c * potentials::nfw_mass_over_x2(c);
      p.second = given.cutoff.value_or(std::numeric_limits<double>::infinity());
      break;
    }
    case PotentialKind::miyamoto_nagai:
      p.second = given.height.value();
      break;
    case PotentialKind::logarithmic:
      p.strength = given.velocity.value() * given.velocity.value();
      p.second = given.flattening.value_or(1);
      break;
    case PotentialKind::uniform:
      p.acceleration = given.acceleration.value();
      break;
    case PotentialKind::plummer:
    case PotentialKind::hernquist:
    case PotentialKind::background:  // which no file gives
      break;
  }
  return p;
}

}  // namespace

const std::vector<PotentialKey>& keys_of(PotentialKind kind) {
  constexpr bool required = true, optional = false;
  static const std::array<std::vector<PotentialKey>, 7> keys = {{
      {{"mass", required}, {"softening", optional}},
      {{"mass", required}, {"scale", required}},
      {{"mass", required}, {"scale", required}},
      {{"mass", required}, {"scale", required}, {"concentration", required}, {"cutoff", optional}},
      {{"mass", required}, {"scale", required}, {"height", required}},
      {{"velocity", required}, {"scale", required}, {"flattening", optional}},
      {{"acceleration", required}},
  }};
  return keys[static_cast<std::size_t>(kind)];
}

std::vector<ExternalPotential> external_potentials(const std::vector<PotentialParameters>& given,
                                                   double gravitational_constant) {
  std::vector<ExternalPotential> result;
  for (const PotentialParameters& one : given) result.push_back(potential_of(one, gravitational_constant));
  return result;
}

bool vanishes_far_away(const std::vector<PotentialParameters>& given) {
  return std::none_of(given.begin(), given.end(), [](const PotentialParameters& one) {
    return one.kind == PotentialKind::logarithmic || one.kind == PotentialKind::uniform;
  });
}

}  // namespace grove
