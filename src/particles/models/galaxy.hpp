#pragma once

#include <memory>
#include <vector>

#include "particles/models/disk.hpp"
#include "particles/models/model.hpp"
#include "particles/models/profile.hpp"

namespace grove {

/// A galaxy of a halo, a bulge and a disk. Halo and bulge are in equilibrium (Eddington) in the field of all
/// three, the disk's mass taken as spread over spheres; the disk in its own field and that of halo and bulge.
struct Galaxy {
  double gravitational_constant;
  std::shared_ptr<const TaperedProfile> halo;
  std::shared_ptr<const TaperedProfile> bulge;  ///< or null
  DiskShape disk;                               ///< none if gm is 0
};

/// A number for each part.
template <class T>
struct GalaxyParts {
  T halo, disk, bulge;
};

/// Masses of all particles of each part; of a part that is missing 0. Cost: that of two SphericalPotential.
GalaxyParts<double> part_masses(const Galaxy& galaxy);

/// How many particles each part gets. n: of all; 0: as follows from the others, of `usual` in all. given: of
/// a part; 0: of what is left by those that are given, in the ratio of the shares, at least one. Parts
/// without mass get none. InputError: they do not add up, or there are too few.
GalaxyParts<Count> galaxy_counts(const Galaxy& galaxy, Count n, Count usual,
                                 const GalaxyParts<double>& shares, const GalaxyParts<Count>& given);

/// Halo, disk and bulge as PartType1, 2, 3; parts without mass are left out. halo_spin: Bullock et al. 2001's
/// (ApJ 555, 240) J / (sqrt(2) M V R) of the halo's particles, R the halo's rmax and V the circular speed of
/// all there. InputError if it is more than when all of them turn the same way.
std::vector<Component> galaxy_components(const Galaxy& galaxy, const GalaxyParts<Count>& counts,
                                         double halo_spin);

double mass_of(const std::vector<Component>& components);

/// Gives all particles the same mass, `mass` together. Components' masses follow their counts.
void equalise_masses(std::vector<Component>& components, double mass);

/// One galaxy: an NFW halo (with `concentration` or `rmax`, and `taper`), a Hernquist bulge, an exponential
/// disk. M: of all parts, the halo's counted within rmax. `scale`: the halo's. Default scale length of the
/// disk: a fifth of it; height: 0.15 of that; the bulge's scale: a fifth of the disk's. Particles: 50 % in
/// the halo, 40 % in the disk, 10 % in the bulge, unless the parameters say otherwise.
Model make_disk_galaxy(const ModelParameters& parameters);

/// The disk that the parameters describe, for a galaxy of this mass and halo scale.
DiskShape disk_shape(const ModelParameters& parameters, double mass, double halo_scale);

}  // namespace grove
