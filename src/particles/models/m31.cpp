#include "particles/models/m31.hpp"

#include "particles/models/galaxy.hpp"

namespace grove {
namespace {

constexpr double halo_mass = 81.1, bulge_mass = 3.24, disk_mass = 3.66;  // M

/// Tapered beyond `rmax`, so that the particles' mass is `mass`. profile(m): with a mass parameter of m.
template <class MakeProfile>
std::shared_ptr<const TaperedProfile> tapered(double mass, double rmax, const MakeProfile& profile) {
  const TaperedProfile unit(profile(1.0), rmax, 0.1 * rmax);
  const SphericalPotential made(1, RadialGrid{1e-6 * unit.scale(), unit.outer_radius()},
                                [&](double r) { return unit.density(r); });
  return std::make_shared<TaperedProfile>(profile(mass / made.gm(unit.outer_radius())), rmax, 0.1 * rmax);
}

}  // namespace

Model make_m31(const ModelParameters& p) {
  const double halo_scale = 7.63 * p.scale, halo_edge = 20 * halo_scale, bulge_scale = 0.61 * p.scale;
  const auto halo = tapered(halo_mass * p.mass, halo_edge, [&](double mass) {
    return std::make_shared<NfwProfile>(mass, halo_edge, halo_scale);
  });
  const auto bulge = tapered(bulge_mass * p.mass, 50 * bulge_scale, [&](double mass) {
    return std::make_shared<HernquistProfile>(mass, bulge_scale);
  });
  const double disk_gm = p.gravitational_constant * disk_mass * p.mass / ExponentialDisk::made_fraction();
  const Galaxy galaxy{p.gravitational_constant, halo, bulge, {disk_gm, 5.4 * p.scale, 0.6 * p.scale, 1.8}};
  const auto counts = galaxy_counts(galaxy, p.particles, 0, {halo_mass, disk_mass, bulge_mass}, {0, 0, 0});
  std::vector<Component> components = galaxy_components(galaxy, counts, 0);
  equalise_masses(components, (halo_mass + bulge_mass + disk_mass) * p.mass);
  return Model(std::move(components), p.seed);
}

}  // namespace grove
