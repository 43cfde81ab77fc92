#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/nearest_image.hpp"
#include "kernels/math/scalars.hpp"
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
  /// u of homogeneous gas falls as the scale factor to the minus this: 3 (gamma - 1), isothermal 0.
  double expansion_power() const {
    return equation_of_state == EquationOfState::ideal ? 3 * (adiabatic_index - 1) : 0;
  }
};

/// Space at a scale factor a, for gas whose places x, H and densities are comoving, whose velocities are p =
/// a^2 dx/dt, and whose stored energies are a^power u, power that of GasParameters::expansion_power().
/// Beside p stands a^2 u, as u beside v: with these two the formulas of static space give rates by the
/// integral of dt / a^2 (docs/gas.md). The rates of a run go with that of dt / a, as those of gravity.
struct GasSpace {
  double energy = 1;   ///< a^2 u over the stored energy
  double force = 1;    ///< dp by dt / a over that by dt / a^2
  double heating = 1;  ///< the stored energy by dt / a over a^2 u by dt / a^2
  double hubble = 0;   ///< a^2 H(a): velocity over comoving length of what expands with space, 1 / time

  /// hubble: H(a), 1 / time.
  static GasSpace expanding(const GasParameters& gas, double a, double hubble) {
    const double power = gas.expansion_power();
    return {std::pow(a, 2 - power), 1 / a, std::pow(a, power - 3), a * a * hubble};
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

/// The flow at a place, from sums over neighbours, with the expansion of space.
struct GasFlow {
  double divergence, curl;

  /// Balsara 1995, J. Comput. Phys. 121, 357, as in Springel 2005, MNRAS 364, 1105, eq. 17: viscosity acts
  /// where flows converge, not where they shear.
  GROVE_HOST_DEVICE double balsara(double sound_speed, double H) const {
    const double converges = std::abs(divergence), all = converges + curl + 1e-4 * sound_speed / H;
    return all > 0 ? converges / all : 0;
  }
};

/// A particle of gas as its neighbours see it; units of the run, where space expands with a^2 u for u, or
/// others that go together. Aligned so that a GPU reads two numbers at once.
template <class Real>
struct alignas(2 * sizeof(Real)) GasSourceOf {
  Vec3<Real> velocity;
  Real mass, density;
  Real pressure_term;  ///< P / rho^2, with grad_h times f
  Real sound_speed, balsara;
  Real per_support;  ///< 1 / H
};
using GasSource = GasSourceOf<double>;

/// Rates of change that a particle owes to neighbours.
template <class Real>
struct GasRatesOf {
  Vec3<Real> acceleration{0, 0, 0};
  Real heating = 0;  ///< du/dt
  Real signal_speed = 0;
};
using GasRates = GasRatesOf<double>;

/// Adds the action of gas j on gas i. d: from i to j; distance: its length; hubble: GasSpace::hubble.
/// Momentum is exchanged between the two, m_i a_i = -m_j a_j, and so is energy, m_i (v_i . a_i + du_i) =
/// -(that of j), to rounding, but for the heat of viscosity that the expansion of space takes or gives.
template <class Real>
GROVE_HOST_DEVICE void add_pair(GasRatesOf<Real>& sum, const GasParameters& gas, const GasSourceOf<Real>& i,
                                const GasSourceOf<Real>& j, const Vec3<Real>& d,
                                const DistanceOf<Real>& distance, Real hubble) {
  constexpr Real half = 0.5;
  const Vec3<Real> v = i.velocity - j.velocity;
  const Real r = distance.r, per_r = distance.per_r, receding = -dot(v, d) * per_r,
             with_space = receding + hubble * r, approach = with_space < 0 ? with_space : 0;
  const Real signal = i.sound_speed + j.sound_speed - 3 * approach;
  if (signal > sum.signal_speed) sum.signal_speed = signal;
  const Real slope_i = kernel_slope(gas.kernel, r, i.per_support),
             slope_j = kernel_slope(gas.kernel, r, j.per_support);
  const Real mean = half * (slope_i + slope_j);
  // Springel 2005, eqs. 13 to 16.
  const Real alpha = static_cast<Real>(gas.viscosity),
             viscosity = quotient(-half * alpha * signal * approach, i.density + j.density) *
                         (i.balsara + j.balsara) * mean;
  Real push, work;
  if (gas.formulation == GasFormulation::grad_h) {
    push = i.pressure_term * slope_i + j.pressure_term * slope_j;
    work = i.pressure_term * slope_i;
  } else {
    push = (i.pressure_term + j.pressure_term) * mean;
    work = half * push;
  }
  sum.acceleration += (j.mass * (push + viscosity) * per_r) * d;
  sum.heating += j.mass * (work * receding + half * viscosity * approach);
}

}  // namespace grove
