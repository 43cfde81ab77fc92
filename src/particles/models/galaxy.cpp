#include "particles/models/galaxy.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "particles/models/eddington.hpp"

namespace grove {
namespace {

/// The disk's mass spread over spheres: M(r) = M (1 - (1 + r/h) exp(-r/h)).
double spread_disk_density(const DiskShape& disk, double gravitational_constant, double r) {
  if (disk.gm == 0) return 0;
  const double h = disk.scale;
  return disk.gm / gravitational_constant * std::exp(-r / h) / (4 * std::numbers::pi * h * h * r);
}

Component part(const std::shared_ptr<const TaperedProfile>& profile,
               const std::shared_ptr<const SphericalPotential>& potential, Count count, std::uint8_t type,
               const char* name) {
  const auto sphere = std::make_shared<EddingtonModel>(profile, potential, name);
  Component component = spherical_component(sphere, count, sphere->mass());
  component.type = type;
  return component;
}

}  // namespace

GalaxyCounts galaxy_counts(const Galaxy& galaxy, Count n, double disk_share, double bulge_share) {
  const auto share = [n](bool exists, double fraction) {
    return exists ? std::max(Count{1}, static_cast<Count>(fraction * static_cast<double>(n))) : Count{0};
  };
  const Count disk = share(galaxy.disk.gm > 0, disk_share),
              bulge = share(galaxy.bulge != nullptr, bulge_share);
  if (disk + bulge >= n)
    throw InputError("too few particles for a galaxy: halo, disk and bulge take at least one each");
  return {n - disk - bulge, disk, bulge};
}

std::vector<Component> galaxy_components(const Galaxy& galaxy, const GalaxyCounts& counts) {
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
  std::vector<Component> components{part(galaxy.halo, total, counts.halo, 1, "halo")};
  if (galaxy.disk.gm > 0) {
    Component disk;
    disk.sampler = std::make_shared<ExponentialDisk>(galaxy.disk,
                                                     std::make_shared<SphericalPotential>(g, grid, spheres));
    disk.count = counts.disk;
    disk.mass = galaxy.disk.gm / g * ExponentialDisk::made_fraction();
    disk.type = 2;
    components.push_back(disk);
  }
  if (galaxy.bulge) components.push_back(part(galaxy.bulge, total, counts.bulge, 3, "bulge"));
  return components;
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
    const double a = 0.2 * galaxy.disk.scale;
    galaxy.bulge = std::make_shared<TaperedProfile>(
        std::make_shared<HernquistProfile>(p.bulge_fraction * p.mass, a), 50 * a, 5 * a);
  }
  return Model(galaxy_components(galaxy, galaxy_counts(galaxy, p.particles, 0.4, 0.1)), p.seed);
}

}  // namespace grove
