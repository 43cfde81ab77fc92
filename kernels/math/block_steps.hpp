#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

/// Block time steps: a particle of rung k has steps of the run's longest one over 2^k (McMillan 1986, in The
/// Use of Supercomputers in Stellar Dynamics, 156). Rungs of at least first_active have a step that begins
/// or ends at the present time; particles on them are active, and synchronised.
namespace grove {

/// Who shares a time step.
enum class StepKind : std::uint8_t {
  shared,  ///< all particles
  block,   ///< those that want one of about the same length
};

inline constexpr int deepest_rung = 40, rung_count = deepest_rung + 1;

/// Counts by rung.
using RungCounts = std::array<Count, rung_count>;
/// The deepest rung that has particles; 0: none has.
inline int deepest_of(const RungCounts& particles) {
  int rung = deepest_rung;
  while (rung > 0 && particles[static_cast<std::size_t>(rung)] == 0) --rung;
  return rung;
}
/// A number by rung, for devices, which take it by value.
struct RungTable {
  double of[rung_count] = {};
};

/// How long a particle's step is: at most eta sqrt(l / |a|), l a length of its type, |a| the mean of those at
/// the beginning and at the end of the step. The end's is expected: the acceleration goes on changing as in
/// the last step. With eta = sqrt(2 x) that is GADGET's criterion of ErrTolIntAccuracy x (Springel 2005,
/// MNRAS 364, 1105, eq. 34), but for the look ahead: a step that depends on both ends alike is the same on
/// the way back, and what switching between steps adds to the energy on the way in to a centre it takes away
/// again on the way out (Hut, Makino and McMillan 1995, ApJ 443, L93). By the beginning alone, orbits through
/// a core of galaxies gain energy ten times as fast. Other criteria beside this one cost more at the same
/// error of the energy (docs/measurements/block-steps.md).
struct StepRule {
  double eta = 0;
  double longest = 0;               ///< the step of rung 0, time
  double length[particle_types]{};  ///< l, by type
  int deepest = 0;                  ///< no particle gets a deeper rung
  double crossing = 1;  ///< of gas: time over length and velocity of the run, a^2 where space expands

  /// The rung of the next step of an active particle: the one that it wants, or that of the longest step
  /// that begins now. acceleration: now; previous: at the beginning of its last step, of rung `last`; 0 if
  /// there was none. NaN gets the deepest.
  GROVE_HOST_DEVICE std::uint8_t next_rung(const Vec3f& acceleration, const Vec3f& previous,
                                           std::uint8_t type, int last, int first_active) const {
    const Vec3d now = acceleration.as<double>(), before = previous.as<double>();
    const Vec3d change = norm2(before) > 0 ? now - before : Vec3d{0, 0, 0};
    const double size = norm(now), most = eta * eta * length[type];
    double step = std::ldexp(longest, -first_active), of_last = std::ldexp(1.0, last - first_active);
    int rung = first_active;
    while (rung < deepest && !(0.5 * (size + norm(now + of_last * change)) * step * step <= most))
      ++rung, step *= 0.5, of_last *= 0.5;
    return static_cast<std::uint8_t>(rung);
  }
};

/// Interactions in a longest step of a particle of this rung, from those of one evaluation; at most what the
/// type holds.
GROVE_HOST_DEVICE inline std::uint32_t work_per_cycle(std::uint32_t interactions, int rung) {
  constexpr std::uint32_t most = ~std::uint32_t{0};
  return rung < 32 && interactions <= most >> rung ? interactions << rung : most;
}
/// The same for another rung, to which the particle changes: interactions in a longest step from then on.
GROVE_HOST_DEVICE inline std::uint32_t work_on_rung(std::uint32_t work, int before, int now) {
  if (now >= before) return work_per_cycle(work, now - before);
  return before - now < 32 ? work >> (before - now) : 0;
}

}  // namespace grove
