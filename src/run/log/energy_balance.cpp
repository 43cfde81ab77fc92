#include "energy_balance.hpp"

#include <algorithm>
#include <cmath>

namespace grove {

Totals peculiar(Totals totals, double scale_factor) {
  totals.kinetic_energy /= scale_factor * scale_factor;
  totals.potential_energy /= scale_factor;
  totals.external_energy /= scale_factor;
  return totals;
}

// A parabolic pair has no energy, a particle alone nothing at all; where the zero of an external potential is
// arbitrary, so is that of the energy.
void EnergyBalance::begin(const Totals& first, bool has_zero) {
  *this = {};
  first_ = first.total_energy();
  scale_ = has_zero ? std::abs(first_)
                    : first.kinetic_energy + first.internal_energy + std::abs(first.potential_energy);
  if (scale_ == 0) scale_ = first.kinetic_energy > 0 ? first.kinetic_energy : 1;
}

void EnergyBalance::begin(const Totals& first, double scale_factor) {
  *this = {};
  first_ = scale_factor * first.total_energy();
  last_scale_factor_ = scale_factor;
  last_kinetic_ = first.kinetic_energy;
}

void EnergyBalance::change_to(double energy) {
  change_ = energy - first_;
  largest_change_ = std::max(largest_change_, std::abs(change_));
}

void EnergyBalance::add(const Totals& now) { change_to(now.total_energy()); }

void EnergyBalance::add(const Totals& now, double scale_factor, double to_grow) {
  work_ += 0.5 * (now.kinetic_energy + last_kinetic_) * (scale_factor - last_scale_factor_);
  last_scale_factor_ = scale_factor;
  last_kinetic_ = now.kinetic_energy;
  change_to(scale_factor * now.total_energy() + work_);
  const double turned = to_grow * (scale_factor * now.kinetic_energy + work_);
  scale_ = turned > 0 ? turned : 1;
}

}  // namespace grove
