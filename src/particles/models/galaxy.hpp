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

/// How many particles each part gets.
struct GalaxyCounts {
  Count halo, disk, bulge;
};

/// Splits n exactly: given shares to disk and bulge where there are such, at least one particle each, and the
/// rest to the halo. InputError if n is too small.
GalaxyCounts galaxy_counts(const Galaxy& galaxy, Count n, double disk_share, double bulge_share);

/// Halo, disk and bulge as PartType1, 2, 3; parts without mass are left out.
std::vector<Component> galaxy_components(const Galaxy& galaxy, const GalaxyCounts& counts);

/// One galaxy: an NFW halo (with `concentration` or `rmax`, and `taper`), a Hernquist bulge, an exponential
/// disk. M: of all parts, the halo's counted within rmax. `scale`: the halo's. Default scale length of the
/// disk: a fifth of it; height: 0.15 of that; the bulge's scale: a fifth of the disk's.
Model make_disk_galaxy(const ModelParameters& parameters);

/// The disk that the parameters describe, for a galaxy of this mass and halo scale.
DiskShape disk_shape(const ModelParameters& parameters, double mass, double halo_scale);

}  // namespace grove
