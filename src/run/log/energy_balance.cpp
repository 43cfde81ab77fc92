#include "energy_balance.hpp"

#include <algorithm>
#include <cmath>

namespace grove {
namespace {

/// The energy that is balanced in expanding space, and the integrand beside it.
struct Balanced {
  double total, integrand;
  Balanced(const Totals& now, const ExpandedSpace& space)
      : total(now.total_energy()), integrand(now.kinetic_energy) {
    if (space.power > 0)
      integrand += (space.power - 1) * now.internal_energy -
                   (now.hydro_power + now.heating) / (space.scale_factor * space.hubble);
    else
      total -= now.internal_energy;
  }
};

}  // namespace

Totals peculiar(Totals totals, double scale_factor, double power) {
  totals.kinetic_energy /= scale_factor * scale_factor;
  totals.potential_energy /= scale_factor;
  totals.external_energy /= scale_factor;
  totals.hydro_power /= scale_factor * scale_factor;
  totals.internal_energy *= std::pow(scale_factor, -power);
  totals.heating *= std::pow(scale_factor, -power);
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

void EnergyBalance::begin(const Totals& first, const ExpandedSpace& space) {
  *this = {};
  const Balanced balanced(first, space);
  first_ = space.scale_factor * balanced.total;
  last_scale_factor_ = space.scale_factor;
  last_integrand_ = balanced.integrand;
}

void EnergyBalance::change_to(double energy) {
  change_ = energy - first_;
  largest_change_ = std::max(largest_change_, std::abs(change_));
}

void EnergyBalance::add(const Totals& now) { change_to(now.total_energy()); }

void EnergyBalance::add(const Totals& now, const ExpandedSpace& space, double to_grow) {
  const Balanced balanced(now, space);
  const double scale_factor = space.scale_factor;
  work_ += 0.5 * (balanced.integrand + last_integrand_) * (scale_factor - last_scale_factor_);
  last_scale_factor_ = scale_factor;
  last_integrand_ = balanced.integrand;
  change_to(scale_factor * balanced.total + work_);
  const double turned = to_grow * (scale_factor * now.kinetic_energy + std::abs(work_));
  scale_ = turned > 0 ? turned : 1;
}

}  // namespace grove
