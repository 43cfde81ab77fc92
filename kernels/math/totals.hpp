#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// Sums over particles, in the units of the run.
struct Totals {
  double mass = 0;
  double kinetic_energy = 0;     ///< sum of m v^2 / 2
  double potential_energy = 0;   ///< of the particles among each other: sum of m phi / 2, from the last force
                                 ///< evaluation
  double external_energy = 0;    ///< sum of m phi of the external potentials
  double absolute_momentum = 0;  ///< sum of m |v|: what the size of `momentum` is judged against
  Vec3d momentum{};              ///< sum of m v
  Vec3d angular_momentum{};      ///< sum of m x cross v, about the origin of coordinates
  Vec3d mass_moment{};           ///< sum of m x
  double internal_energy = 0;    ///< of gas: sum of m u
  double hydro_power = 0;        ///< of gas: sum of m v . a, a of pressure and viscosity alone
  double heating = 0;            ///< of gas: sum of m du/dt, which is -hydro_power where space is static

  double total_energy() const {
    return kinetic_energy + potential_energy + external_energy + internal_energy;
  }
  /// 2 K / |W|, K without the motion of the whole, W of the particles among each other; not a number: no W.
  double virial_ratio() const {
    const double moving = mass > 0 ? norm2(momentum) / (2 * mass) : 0;
    return potential_energy != 0 ? 2 * (kinetic_energy - moving) / std::abs(potential_energy) : NAN;
  }
  Vec3d centre_of_mass() const { return mass > 0 ? (1 / mass) * mass_moment : Vec3d{}; }

  GROVE_HOST_DEVICE static Totals of_particle(double mass, const Vec3d& position, const Vec3d& velocity,
                                              float potential, double external_potential) {
    const double speed2 = norm2(velocity);
    const Vec3d momentum = mass * velocity;
    return {mass,
            0.5 * mass * speed2,
            0.5 * mass * static_cast<double>(potential),
            mass * external_potential,
            mass * std::sqrt(speed2),
            momentum,
            cross(position, momentum),
            mass * position,
            0};
  }

  /// To the totals of a particle, or of several, what a particle of gas adds.
  GROVE_HOST_DEVICE void add_gas(double of_mass, const Vec3d& velocity, double energy, double energy_rate,
                                 const Vec3f& hydro_acceleration) {
    internal_energy += of_mass * energy;
    hydro_power += of_mass * dot(velocity, hydro_acceleration.as<double>());
    heating += of_mass * energy_rate;
  }

  GROVE_HOST_DEVICE friend Totals operator+(Totals a, const Totals& b) {
    a.mass += b.mass;
    a.kinetic_energy += b.kinetic_energy;
    a.potential_energy += b.potential_energy;
    a.external_energy += b.external_energy;
    a.absolute_momentum += b.absolute_momentum;
    a.momentum += b.momentum;
    a.angular_momentum += b.angular_momentum;
    a.mass_moment += b.mass_moment;
    a.internal_energy += b.internal_energy;
    a.hydro_power += b.hydro_power;
    a.heating += b.heating;
    return a;
  }
};

}  // namespace grove
