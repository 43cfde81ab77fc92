#include "gravity/resolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/errors.hpp"
#include "kernels/host/local_tree.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/separation.hpp"

namespace grove {
FarParticle farthest_particle(const Communicator& comm, const Particles& particles) {
  struct Places {
    Vec3d sum{0, 0, 0};
    double count = 0;
  };
  Places own;
  own.count = static_cast<double>(particles.size());
  for (const Vec3d& p : particles.position) own.sum += p;
  Places all;
  for (const Places& places : comm.all_gather(own)) all.sum += places.sum, all.count += places.count;
  const Vec3d mean = all.sum * (1 / all.count);

  FarParticle farthest{-1, 0};
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (const double distance = norm(particles.position[i] - mean); distance > farthest.distance)
      farthest = {distance, particles.id[i]};
  for (const FarParticle& other : comm.all_gather(farthest))
    if (other.distance > farthest.distance) farthest = other;
  return farthest;
}

void check_range(const std::function<FarParticle()>& farthest_of_all, const GravityParameters& gravity,
                 const WalkUnits& units, double box_edge, Count count, bool has_mass) {
  if (count < 2) return;
  const auto& softening = gravity.softening;
  const double needed = least_softening * units.length;
  for (std::size_t type = 0; type < softening.size(); ++type) {
    if (!(softening[type] > 0 && softening[type] < needed)) continue;
    const FarParticle farthest = farthest_of_all();
    throw InputError(fmt::format(
        "softening of type {}: {:g} is lost beside the extent of the particles; the farthest, id "
        "{}, is {:g} away from their middle. Give a softening of at least {:.2g} (gravity.softening, "
        "--softening), or leave out distant particles. Lengths are in internal units",
        type, softening[type], farthest.id, farthest.distance, needed));
  }

  // A float's range, but for 8 decades at either end for what is denser or thinner than the whole.
  constexpr double least = 1e-30, most = 1e30;
  const double size = std::max(box_edge, *std::max_element(softening.begin(), softening.end()));
  const double potential = gravity.gravitational_constant * units.mass / size, force = potential / size;
  if (has_mass && !(std::min(potential, force) >= least && std::max(potential, force) <= most))
    throw InputError(
        fmt::format("masses and lengths: a mass of about {:.1g} within {:.1g} (internal units) makes forces "
                    "of {:.1g} and potentials of {:.1g}; between {:g} and {:g} they can be computed: choose "
                    "units of mass and length that suit the particles",
                    units.mass, size, force, potential, least, most));
}

std::string lost_separation(const Particles& particles, std::span<const Count> leaf_begin,
                            const Forest& forest, const GravityParameters& gravity) {
  for (std::int32_t leaf = 0; leaf < forest.leaves(); ++leaf) {
    const Vec3d origin = forest.tree(leaf).origin;
    const auto end = static_cast<std::size_t>(leaf_begin[static_cast<std::size_t>(leaf) + 1]);
    for (auto i = static_cast<std::size_t>(leaf_begin[static_cast<std::size_t>(leaf)]); i < end; ++i) {
      const Vec3d d = particles.position[i] - origin;
      const double rounding = place_rounding(d);
      if (rounding <= gravity.softening[particles.type[i]]) continue;
      for (std::size_t j = i + 1; j < std::min(end, i + group_size); ++j) {
        const Vec3d separation = particles.position[j] - particles.position[i];
        if (is_separation_lost(separation, rounding, gravity.softening[particles.type[j]]))
          return describe_lost_separation(particles.id[i], particles.id[j], separation, d);
      }
    }
  }
  return {};
}

std::string describe_lost_separation(ParticleId first, ParticleId second, const Vec3d& separation,
                                     const Vec3d& from_origin) {
  return fmt::format(
      "particles with id {} and {} are {:g} apart, but {:g} away from most of their neighbours, where "
      "single precision resolves {:.2g}; that needs a softening of at least that (gravity.softening, "
      "--softening), or smaller leaves (decomposition.leaf_size, --leaf), or no such distant particles. "
      "Lengths are in internal units",
      first, second, norm(separation), norm(from_origin), place_rounding(from_origin));
}

}  // namespace grove
