#pragma once

#include <optional>

#include "kernels/math/totals.hpp"

namespace grove {

/// Totals in space that has expanded to a scale factor, from those of comoving places and canonical momenta:
/// energies are of peculiar velocities p / a, of potentials over a, and of the physical u of gas, and so is
/// what gas changes of them by the integral of dt / a; momenta stay canonical. power:
/// GasParameters::expansion_power().
Totals peculiar(Totals totals, double scale_factor, double power);

/// How far space has expanded.
struct ExpandedSpace {
  double scale_factor, hubble;  ///< H(a), 1 / time
  double power;                 ///< GasParameters::expansion_power()
};

/// The change of a run's energy since its begin, and its scale. Part of checkpoints, as it is in memory.
///
/// Where space expands, a (T + W) plus the integral of T da is conserved (Irvine 1961; Layzer 1963), T and W
/// the peculiar energies; the integral is summed by trapezia. With gas, whose thermal energy U expansion
/// alone makes fall as a^-power, it is a (T + W + U) plus the integral of (T + (power - 1) U - D / a H) da, D
/// being what viscosity adds to T + U by dt / a as it works against expansion: pressure and viscosity change
/// T and U by opposite amounts but for that, so it is the sum of these changes. Isothermal gas, whose heat is
/// taken from elsewhere, is left out. Its changes are compared with a T plus the integral, to which potential
/// energy is turned until the end of the run: what it is now, times the growth to come.
class EnergyBalance {
 public:
  /// In static space. has_zero: potentials vanish far away.
  void begin(const Totals& first, bool has_zero);
  /// Where space expands. first, now: of peculiar().
  void begin(const Totals& first, const ExpandedSpace& space);
  /// to_grow: how many times as large that scale will be at the end; by linear theory it is as the square of
  /// the growth factor.
  void add(const Totals& now, const ExpandedSpace& space, double to_grow);
  void add(const Totals& now);

  /// Change so far over the scale, and the largest size that it has had.
  double error() const { return change_ / scale_; }
  double largest_error() const { return largest_change_ / scale_; }

 private:
  void change_to(double energy);

  double first_ = 0, scale_ = 1;
  double change_ = 0, largest_change_ = 0;
  double work_ = 0;  ///< the integral
  double last_scale_factor_ = 1, last_integrand_ = 0;
};

}  // namespace grove
