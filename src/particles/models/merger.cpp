#include "particles/models/merger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "particles/models/galaxy.hpp"
#include "particles/models/kepler.hpp"

namespace grove {
namespace {

constexpr double degree = std::numbers::pi / 180;

/// Shares of all particles of a galaxy: the disk is what a picture shows.
constexpr GalaxyParts<double> usual_shares{0.6, 0.4, 0};

/// count: of all its particles; 0: as many as its parts are given. name: put before those of its parts.
std::vector<Component> one_galaxy(const ModelParameters& p, double mass_ratio, Count count,
                                  const char* name) {
  const double mass = p.mass * mass_ratio, size = std::cbrt(mass_ratio);
  const double scale = p.scale * size;
  const double rmax = (p.rmax > 0 ? p.rmax : 8 * p.scale) * size;
  const double taper = p.taper > 0 ? p.taper * size : 0.1 * rmax;
  const auto halo = std::make_shared<TaperedProfile>(
      std::make_shared<HernquistProfile>((1 - p.disk_fraction) * mass, scale), rmax, taper);
  const Galaxy galaxy{p.gravitational_constant, halo, nullptr, disk_shape(p, mass, scale)};
  const auto given = [&](Count n) {
    return static_cast<Count>(std::llround(std::ceil(static_cast<double>(n) * mass_ratio)));
  };
  const auto counts =
      galaxy_counts(galaxy, count, given(50000), p.equal_masses ? part_masses(galaxy) : usual_shares,
                    {given(p.halo_particles), given(p.disk_particles), given(p.bulge_particles)});
  std::vector<Component> components = galaxy_components(galaxy, counts, p.halo_spin);
  for (Component& component : components) component.name = fmt::format("{} {}", name, component.name);
  return components;
}

}  // namespace

PhasePoint parabolic_approach(double gm, double pericentre, double separation) {
  const double p = 2 * pericentre;  // semi-latus rectum: r = p / (1 + cos f), f the true anomaly
  const double cos_f = p / separation - 1, sin_f = -std::sqrt((1 - cos_f) * (1 + cos_f));
  const double v = std::sqrt(gm / p);
  // Turned by half a turn, so that the bodies come from the positive and negative x axis.
  return {Vec3d{cos_f, sin_f, 0} * -separation, Vec3d{sin_f, -(1 + cos_f), 0} * v};
}

Model make_merger(const ModelParameters& p) {
  const double pericentre = p.pericentre > 0 ? p.pericentre : 0.6 * p.scale;
  const double separation = p.separation > 0 ? p.separation : 8 * p.scale;
  if (separation <= pericentre)
    throw InputError("separation of the two galaxies must be larger than their pericentre");
  Count second_count = 0;
  if (p.particles > 0) {
    if (p.particles < 4) throw InputError("too few particles for two galaxies, each of a halo and a disk");
    const double share = p.mass_ratio / (1 + p.mass_ratio);
    second_count =
        std::clamp(static_cast<Count>(static_cast<double>(p.particles) * share), Count{2}, p.particles - 2);
  }
  std::vector<Component> first = one_galaxy(p, 1, p.particles - second_count, "first");
  std::vector<Component> second = one_galaxy(p, p.mass_ratio, second_count, "second");

  const double first_mass = mass_of(first), second_mass = mass_of(second);
  const TwoBodies orbit = two_bodies(
      first_mass, second_mass,
      parabolic_approach(p.gravitational_constant * (first_mass + second_mass), pericentre, separation));
  // Both disks turn with the orbit, so that both grow tails; tilted, so that the picture shows depth.
  const Rotation first_tilt = Rotation::inclined(20 * degree, 0);
  const Rotation second_tilt = Rotation::inclined(50 * degree, 60 * degree);
  for (Component& component : first) component.origin = orbit.first, component.rotation = first_tilt;
  for (Component& component : second) component.origin = orbit.second, component.rotation = second_tilt;
  first.insert(first.end(), second.begin(), second.end());
  if (p.equal_masses) equalise_masses(first, mass_of(first));
  return Model(std::move(first), p.seed);
}

}  // namespace grove
