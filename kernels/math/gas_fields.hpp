#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/gas.hpp"
#include "kernels/math/gas_density.hpp"
#include "kernels/math/neighbour_box.hpp"

/// Steps of gas particle by particle, on the host or on a GPU: wherever the fields are valid.
namespace grove {

/// The present time of an evaluation.
struct GasMoment {
  RungTable since_middle{};  ///< time since that of velocities and energies, by rung
  GasSpace space{};
};

/// Where particles are inside of their steps at present, by rung (BlockClock::inside()).
struct InsideSteps {
  RungTable since_middle{};  ///< time since that of the velocity and the energy
  RungTable behind{};        ///< places are this times the acceleration ahead of a parabola, time squared
  bool is_straight = true;   ///< they are; else on it
};

/// Fields of `Particles`, of each own particle.
struct GasFields {
  const std::uint8_t* type;
  std::uint8_t* rung;
  std::uint32_t* work;
  Vec3d *position, *velocity;
  const double* mass;
  Vec3f* acceleration;
  const Vec3f* previous_acceleration;
  double *internal_energy, *energy_rate, *density, *smoothing_length, *pressure;
  Vec3f* hydro_acceleration;
  float *velocity_divergence, *balsara, *density_response, *signal_speed;

  GROVE_HOST_DEVICE bool is_gas(std::size_t i) const { return type[i] == gas_type; }
  GROVE_HOST_DEVICE bool is_active_gas(std::size_t i, int first_active) const {
    return is_gas(i) && rung[i] >= first_active;
  }

  /// Velocities and energies change at the rates of the beginning of the step. Where gravity has new ones
  /// those are the previous accelerations.
  GROVE_HOST_DEVICE Vec3d present_velocity(std::size_t i, const RungTable& since_middle) const {
    return velocity[i] + since_middle.of[rung[i]] * previous_acceleration[i].as<double>();
  }
  /// u; where space expands a^2 u.
  GROVE_HOST_DEVICE double present_energy(std::size_t i, const GasMoment& now) const {
    return now.space.energy * heated(internal_energy[i], energy_rate[i], now.since_middle.of[rung[i]]);
  }

  /// The particle as others see it, with the velocity and energy of the present; stores its pressure. One
  /// that is no gas: all 0.
  GROVE_HOST_DEVICE GasSource source(const GasParameters& gas, const GasSpace& space, std::size_t i,
                                     const Vec3d& present_velocity, double present_energy) const {
    if (!is_gas(i)) return {};
    const double rho = density[i], canonical = gas.pressure(rho, present_energy);
    pressure[i] = canonical / space.energy;
    const double f =
        gas.formulation == GasFormulation::grad_h ? static_cast<double>(density_response[i]) : 1.0;
    return {present_velocity,
            mass[i],
            rho,
            f * canonical / (rho * rho),
            gas.sound_speed(present_energy),
            static_cast<double>(balsara[i]),
            1 / smoothing_length[i]};
  }

  /// Stores the rates, and adds the acceleration to gravity's. sound_speed: its own. True if they are finite.
  GROVE_HOST_DEVICE bool take(const GasParameters& gas, const GasSpace& space, std::size_t i,
                              const GasRates& rates, double sound_speed) const {
    const Vec3d of_gas = space.force * rates.acceleration;
    hydro_acceleration[i] = of_gas.as<float>();
    acceleration[i] = (acceleration[i].as<double>() + of_gas).as<float>();
    energy_rate[i] = gas.equation_of_state == EquationOfState::ideal ? space.heating * rates.heating : 0;
    const double signal = rates.signal_speed > 2 * sound_speed ? rates.signal_speed : 2 * sound_speed;
    signal_speed[i] = static_cast<float>(signal);
    return std::isfinite(norm2(acceleration[i].as<double>())) && std::isfinite(rates.heating);
  }

  /// Courant's condition, for an active particle.
  GROVE_HOST_DEVICE void limit_by_signal(const GasParameters& gas, const StepRule& rule,
                                         std::size_t i) const {
    const double most = gas.courant * rule.crossing * smoothing_length[i];
    const auto speed = static_cast<double>(signal_speed[i]);
    const std::uint8_t before = rung[i];
    std::uint8_t now = before;
    while (now < rule.deepest && !(std::ldexp(rule.longest, -now) * speed <= most)) ++now;
    rung[i] = now;
    work[i] = work_on_rung(work[i], before, now);
  }

  /// Velocity and energy become those of the middle of the shorter step, and the place one on its straight
  /// line.
  GROVE_HOST_DEVICE void shorten_step(std::size_t i, std::uint8_t shorter, const InsideSteps& inside) const {
    const std::uint8_t before = rung[i];
    rung[i] = shorter;
    work[i] = work_on_rung(work[i], before, shorter);
    const double back = inside.since_middle.of[before] - inside.since_middle.of[shorter];
    const double ahead = inside.is_straight ? inside.behind.of[before] - inside.behind.of[shorter] : 0;
    const Vec3d of_both = acceleration[i].as<double>();
    velocity[i] += back * of_both;
    position[i] -= ahead * of_both;
    internal_energy[i] = heated(internal_energy[i], energy_rate[i], back);
  }
};

/// Neighbours are searched within so many H of before: most find theirs at once.
inline constexpr double search_room = 1.1;

/// The first radius of a search, by leaf: where there is no H yet, that of gas as dense as in the leaf on
/// average.
struct FirstRadius {
  SmoothingKernel kernel;
  double edge;      ///< of the root cube
  double box_edge;  ///< of the periodic box; 0: open

  /// bounds: of the gas of the leaf, `number` particles.
  GROVE_HOST_DEVICE double of_leaf(const NeighbourBounds& bounds, double number) const {
    const Vec3d half = bounds.target().half;
    double guess =
        std::cbrt(neighbours_of(kernel) * 8 * half.x * half.y * half.z / (DensitySum::sphere * number));
    if (!(guess > 0)) guess = 1e-3 * edge;
    return box_edge > 0 && guess > box_edge / 4 ? box_edge / 4 : guess;
  }
  GROVE_HOST_DEVICE double of_particle(double smoothing_length, double of_leaf) const {
    if (!(smoothing_length > 0)) return of_leaf;
    return radius_in_box(smoothing_length, search_room * smoothing_length, box_edge);
  }
};

}  // namespace grove
