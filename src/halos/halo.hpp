#pragma once

#include <array>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// How groups are found and measured. Lengths, masses and densities are comoving, if space expands.
struct HaloOptions {
  double length = 0;  ///< linking length
  Count least = 20;   ///< members of a group
  double gravitational_constant = 1;
  double critical_density = 0;  ///< mass / length^3; 0: not known, and there are no R200 and M200
  double scale_factor = 1;
  Images images{};  ///< of a periodic box, whose low corner is at 0
};

/// A group of friends. Trivially copyable.
struct Halo {
  ParticleId label;       ///< the least id of its members
  ParticleId most_bound;  ///< the member where the potential of the members is deepest
  Count length;           ///< members
  std::array<Count, particle_types> length_by_type;
  double mass;
  std::array<double, particle_types> mass_by_type;
  Vec3d centre;  ///< position of the most bound member
  Vec3d centre_of_mass;
  Vec3d velocity;     ///< of the centre of mass
  double r200, m200;  ///< around `centre` the mean density is 200 times the critical one; 0: nowhere
  double vmax, rmax;  ///< largest circular speed that the members give, physical, and its (comoving) radius
};

}  // namespace grove
