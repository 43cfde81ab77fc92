#include "particles/models/galaxy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "particles/models/eddington.hpp"
#include "particles/models/spin.hpp"

namespace grove {
namespace {

/// The disk's mass spread over spheres: M(r) = M (1 - (1 + r/h) exp(-r/h)).
double spread_disk_density(const DiskShape& disk, double gravitational_constant, double r) {
  if (disk.gm == 0) return 0;
  const double h = disk.scale;
  return disk.gm / gravitational_constant * std::exp(-r / h) / (4 * std::numbers::pi * h * h * r);
}

std::shared_ptr<const EddingtonModel> sphere_of(const std::shared_ptr<const TaperedProfile>& profile,
                                                const std::shared_ptr<const SphericalPotential>& potential,
                                                const char* name) {
  return std::make_shared<EddingtonModel>(profile, potential, name);
}

Component part(const std::shared_ptr<const EddingtonModel>& sphere, Count count, std::uint8_t type,
               const char* name) {
  Component component = spherical_component(sphere, count, sphere->mass());
  component.type = type;
  component.name = name;
  return component;
}

double made_mass(const TaperedProfile& profile) {
  const SphericalPotential made(1, RadialGrid{1e-6 * profile.scale(), profile.outer_radius()},
                                [&](double r) { return profile.density(r); });
  return made.gm(profile.outer_radius());
}

void spin_up(Component& halo, const EddingtonModel& sphere, double spin, double rmax, double gm) {
  if (spin == 0) return;
  const double unit = std::sqrt(2 * gm * rmax);  // sqrt(2) V R
  const double greatest = greatest_spin(sphere) / unit;
  if (!(std::abs(spin) <= greatest))
    throw InputError(fmt::format(
        "halo_spin = {:g}: it is {:.3g} when all particles of the halo turn the same way; give less", spin,
        greatest));
  halo.sampler = std::make_shared<SpinningSampler>(halo.sampler, spin / greatest);
  halo.rotates = true;
}

}  // namespace

GalaxyParts<double> part_masses(const Galaxy& galaxy) {
  return {made_mass(*galaxy.halo),
          galaxy.disk.gm / galaxy.gravitational_constant * ExponentialDisk::made_fraction(),
          galaxy.bulge ? made_mass(*galaxy.bulge) : 0};
}

GalaxyParts<Count> galaxy_counts(const Galaxy& galaxy, Count n, Count usual,
                                 const GalaxyParts<double>& shares, const GalaxyParts<Count>& given) {
  struct Part {
    const char* name;
    bool exists;
    double share;
    Count count;
  };
  std::array parts{Part{"bulge", galaxy.bulge != nullptr, shares.bulge, given.bulge},
                   Part{"disk", galaxy.disk.gm > 0, shares.disk, given.disk},
                   Part{"halo", true, shares.halo, given.halo}};
  Count left = n, open = 0;  // what parts without a number share, and how many those are
  double open_share = 0, all_shares = 0;
  for (const Part& p : parts) {
    if (!p.exists && p.count > 0)
      throw InputError(fmt::format("n_{0} = {1}, but the galaxy has no {0}", p.name, p.count));
    if (!p.exists) continue;
    all_shares += p.share;
    left -= p.count;
    if (p.count == 0) ++open, open_share += p.share;
  }
  if (n == 0) left = std::max(open, static_cast<Count>(static_cast<double>(usual) * open_share / all_shares));
  if (left < open || (n > 0 && open == 0 && left != 0))
    throw InputError(fmt::format(
        "{} cannot be shared out: n_halo, n_disk and n_bulge that are given take {}, and each part "
        "of the galaxy needs one at least; n may be left out",
        how_many(n, "particle"), n - left));
  const auto shared = static_cast<double>(left);
  for (Part& p : parts) {
    if (!p.exists || p.count > 0) continue;
    const auto share = static_cast<Count>(p.share / open_share * shared);
    p.count = --open == 0 ? left : std::clamp(share, Count{1}, left - open);
    left -= p.count;
  }
  return {parts[2].count, parts[1].count, parts[0].count};
}

std::vector<Component> galaxy_components(const Galaxy& galaxy, const GalaxyParts<Count>& counts,
                                         double halo_spin) {
  const double g = galaxy.gravitational_constant;
  const auto spheres = [halo = galaxy.halo, bulge = galaxy.bulge](double r) {
    return halo->density(r) + (bulge ? bulge->density(r) : 0.0);
  };
  const auto all = [spheres, disk = galaxy.disk, g](double r) {
    return spheres(r) + spread_disk_density(disk, g, r);
  };
  double smallest = galaxy.halo->scale(), outer = galaxy.halo->outer_radius();
  if (galaxy.bulge) {
    smallest = std::min(smallest, galaxy.bulge->scale());
    outer = std::max(outer, galaxy.bulge->outer_radius());
  }
  if (galaxy.disk.gm > 0) smallest = std::min(smallest, galaxy.disk.scale);
  const RadialGrid grid{1e-6 * smallest, outer};

  const auto total = std::make_shared<SphericalPotential>(g, grid, all);
  const auto halo = sphere_of(galaxy.halo, total, "halo");
  std::vector<Component> components{part(halo, counts.halo, 1, "halo")};
  spin_up(components[0], *halo, halo_spin, galaxy.halo->rmax(), total->gm(galaxy.halo->rmax()));
  if (galaxy.disk.gm > 0) {
    Component disk;
    disk.sampler = std::make_shared<ExponentialDisk>(galaxy.disk,
                                                     std::make_shared<SphericalPotential>(g, grid, spheres));
    disk.count = counts.disk;
    disk.mass = galaxy.disk.gm / g * ExponentialDisk::made_fraction();
    disk.type = 2;
    disk.rotates = true;
    disk.name = "disk";
    components.push_back(disk);
  }
  if (galaxy.bulge)
    components.push_back(part(sphere_of(galaxy.bulge, total, "bulge"), counts.bulge, 3, "bulge"));
  return components;
}

double mass_of(const std::vector<Component>& components) {
  double mass = 0;
  for (const Component& component : components) mass += component.mass;
  return mass;
}

void equalise_masses(std::vector<Component>& components, double mass) {
  Count count = 0;
  for (const Component& component : components) count += component.count;
  const double each = mass / static_cast<double>(count);
  for (Component& component : components) component.mass = each * static_cast<double>(component.count);
}

DiskShape disk_shape(const ModelParameters& p, double mass, double halo_scale) {
  DiskShape disk;
  disk.gm = p.gravitational_constant * p.disk_fraction * mass;
  disk.scale = (p.disk_scale > 0 ? p.disk_scale / p.scale : 0.2) * halo_scale;
  disk.height = p.disk_height > 0 ? p.disk_height * halo_scale / p.scale : 0.15 * disk.scale;
  disk.toomre_q = p.toomre_q;
  return disk;
}

Model make_disk_galaxy(const ModelParameters& p) {
  const double rmax = p.rmax > 0 ? p.rmax : p.concentration * p.scale;
  const double taper = p.taper > 0 ? p.taper : 0.1 * rmax;
  const double halo_mass = (1 - p.disk_fraction - p.bulge_fraction) * p.mass;
  Galaxy galaxy{
      p.gravitational_constant,
      std::make_shared<TaperedProfile>(std::make_shared<NfwProfile>(halo_mass, rmax, p.scale), rmax, taper),
      nullptr, disk_shape(p, p.mass, p.scale)};
  if (p.bulge_fraction > 0) {
    // The endless profile's mass beyond the taper is a few percent of it.
    const double a = p.bulge_scale > 0 ? p.bulge_scale : 0.2 * galaxy.disk.scale;
    galaxy.bulge = std::make_shared<TaperedProfile>(
        std::make_shared<HernquistProfile>(p.bulge_fraction * p.mass, a), 50 * a, 5 * a);
  }
  constexpr GalaxyParts<double> usual{0.5, 0.4, 0.1};
  const auto counts = galaxy_counts(galaxy, p.particles, 100000, p.equal_masses ? part_masses(galaxy) : usual,
                                    {p.halo_particles, p.disk_particles, p.bulge_particles});
  std::vector<Component> components = galaxy_components(galaxy, counts, p.halo_spin);
  if (p.equal_masses) equalise_masses(components, mass_of(components));
  return Model(std::move(components), p.seed);
}

}  // namespace grove
