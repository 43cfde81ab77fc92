#pragma once

#include "particles/models/spherical.hpp"

namespace grove {

/// Hernquist's sphere, rho = M a / (2 pi r (r + a)^3), made out to a truncation radius with the distribution
/// function of the endless sphere less what would escape. Source: Hernquist 1990, ApJ 356, 359, equations 2,
/// 3, 5 and 17. In equilibrium but for the edge, where particles fly out and none come in; the pressure that
/// is missing there is 4 pi r^3 rho sigma^2 of the virial (at 50 a: 0.1 %).
class HernquistModel : public SphericalModel {
 public:
  /// gm: G M of the endless sphere; a and rmax: lengths.
  HernquistModel(double gm, double a, double rmax);

  /// Fraction of the endless sphere's mass within r.
  double enclosed(double r) const { return r * r / ((r + a_) * (r + a_)); }

  double radius(double fraction) const override;
  double potential(double r) const override { return gm_ * r / (a_ * (r + a_)); }
  double distribution(double energy) const override;
  double greatest_energy() const override { return greatest_energy_; }

 private:
  double gm_, a_, rmax_;
  double greatest_energy_;
};

Model make_hernquist(const ModelParameters& parameters);

}  // namespace grove
