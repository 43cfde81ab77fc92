#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/smoothing_kernel.hpp"

/// Smoothed particle hydrodynamics: formulas of one particle and of a pair (docs/gas.md has them).
namespace grove {

/// The type of particles of gas.
inline constexpr std::uint8_t gas_type = 0;

enum class GasFormulation : std::uint8_t {
  grad_h,  ///< follows from a Lagrangian, with H that adapt (Springel and Hernquist 2002, MNRAS 333, 649)
  paper,   ///< mean of both kernels, H as if constant (Hernquist and Katz 1989, ApJS 70, 419)
};

enum class EquationOfState : std::uint8_t {
  ideal,       ///< P = (gamma - 1) rho u
  isothermal,  ///< the same, and u of each particle stays as it is
};

struct GasParameters {
  SmoothingKernel kernel = SmoothingKernel::wendland_c2;
  GasFormulation formulation = GasFormulation::grad_h;
  EquationOfState equation_of_state = EquationOfState::ideal;
  double adiabatic_index = 5.0 / 3;  ///< gamma
  double viscosity = 1;              ///< alpha
  double courant = 0.15;             ///< steps are at most this times H over the largest signal speed

  GROVE_HOST_DEVICE double pressure(double density, double energy) const {
    return (adiabatic_index - 1) * density * energy;
  }
  GROVE_HOST_DEVICE double sound_speed(double energy) const {
    const double by_density = (adiabatic_index - 1) * energy;
    return std::sqrt(equation_of_state == EquationOfState::ideal ? adiabatic_index * by_density : by_density);
  }
};

/// u a time later. Cold gas that expands loses at most half of it in one go: extrapolated rates must not make
/// it negative.
GROVE_HOST_DEVICE inline double heated(double energy, double rate, double time) {
  const double change = rate * time, least = -0.5 * energy;
  return energy + (change > least ? change : least);
}

/// Density and H a time later, as the flow changes them until they are evaluated anew.
GROVE_HOST_DEVICE inline void stretch(double& density, double& smoothing_length, float divergence,
                                      double time) {
  const double change = time * static_cast<double>(divergence);
  const double growth = change < -1 ? -1.0 : change > 1 ? 1.0 : change;
  density *= std::exp(-growth);
  smoothing_length *= std::exp(growth / 3);
}

/// The flow at a place, from sums over neighbours.
struct GasFlow {
  double divergence, curl;

  /// Balsara 1995, J. Comput. Phys. 121, 357, as in Springel 2005, MNRAS 364, 1105, eq. 17: viscosity acts
  /// where flows converge, not where they shear.
  GROVE_HOST_DEVICE double balsara(double sound_speed, double H) const {
    const double converges = std::abs(divergence), all = converges + curl + 1e-4 * sound_speed / H;
    return all > 0 ? converges / all : 0;
  }
};

/// A particle of gas as its neighbours see it; units of the run.
struct GasSource {
  Vec3d velocity;
  double mass, density;
  double pressure_term;  ///< P / rho^2, with grad_h times f
  double sound_speed, balsara;
};

/// Rates of change that a particle owes to neighbours.
struct GasRates {
  Vec3d acceleration{0, 0, 0};
  double heating = 0;  ///< du/dt
  double signal_speed = 0;
};

/// Adds the action of gas j on gas i. d: from i to j; r: its length. Momentum and energy are exchanged
/// between the two: m_i a_i = -m_j a_j, and m_i (v_i . a_i + du_i) = -(that of j), to rounding.
GROVE_HOST_DEVICE inline void add_pair(GasRates& sum, const GasParameters& gas, const GasSource& i, double Hi,
                                       const GasSource& j, double Hj, const Vec3d& d, double r) {
  const Vec3d v = i.velocity - j.velocity;
  const double receding = r > 0 ? -dot(v, d) / r : 0, approach = receding < 0 ? receding : 0;
  const double signal = i.sound_speed + j.sound_speed - 3 * approach;
  if (signal > sum.signal_speed) sum.signal_speed = signal;
  if (!(r > 0)) return;
  const double slope_i = kernel_at(gas.kernel, r, Hi).slope, slope_j = kernel_at(gas.kernel, r, Hj).slope;
  const double mean = 0.5 * (slope_i + slope_j);
  // Springel 2005, eqs. 13 to 16.
  const double viscosity =
      -0.5 * gas.viscosity * signal * approach / (i.density + j.density) * (i.balsara + j.balsara) * mean;
  double push, work;
  if (gas.formulation == GasFormulation::grad_h) {
    push = i.pressure_term * slope_i + j.pressure_term * slope_j;
    work = i.pressure_term * slope_i;
  } else {
    push = (i.pressure_term + j.pressure_term) * mean;
    work = 0.5 * push;
  }
  sum.acceleration += (j.mass * (push + viscosity) / r) * d;
  sum.heating += j.mass * (work + 0.5 * viscosity) * receding;
}

}  // namespace grove
