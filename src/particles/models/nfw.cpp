#include "particles/models/nfw.hpp"

#include "particles/models/eddington.hpp"

namespace grove {

Model make_nfw(const ModelParameters& p) {
  const double rmax = p.rmax > 0 ? p.rmax : p.concentration * p.scale;
  const double taper = p.taper > 0 ? p.taper : 0.1 * rmax;
  const auto profile =
      std::make_shared<TaperedProfile>(std::make_shared<NfwProfile>(p.mass, rmax, p.scale), rmax, taper);
  const RadialGrid grid{1e-6 * p.scale, profile->outer_radius()};
  const auto potential = std::make_shared<SphericalPotential>(
      p.gravitational_constant, grid, [profile](double r) { return profile->density(r); });
  const auto sphere = std::make_shared<EddingtonModel>(profile, potential, "model nfw");
  return Model({spherical_component(sphere, p.particles, sphere->mass())}, p.seed);
}

}  // namespace grove
