#pragma once

#include "particles/models/spherical.hpp"

namespace grove {

/// Plummer's sphere, rho = 3 M a^2 / (4 pi (r^2 + a^2)^(5/2)), with f ~ (binding energy)^(7/2), made out to a
/// truncation radius less what would escape. Source: Plummer 1911; Aarseth, Henon and Wielen 1974, A&A 37,
/// 183.
class PlummerModel : public SphericalModel {
 public:
  /// gm: G M of the endless sphere; a and rmax: lengths.
  PlummerModel(double gm, double a, double rmax);

  /// Fraction of the endless sphere's mass within r.
  double enclosed(double r) const;
  /// The radius that holds this fraction of the endless sphere's mass.
  static double radius_of_mass(double fraction, double a);

  double radius(double fraction) const override { return radius_of_mass(fraction * enclosed(rmax_), a_); }
  double potential(double r) const override;
  double distribution(double energy) const override;
  double greatest_energy() const override { return greatest_energy_; }

 private:
  double gm_, a_, rmax_;
  double greatest_energy_;
};

Model make_plummer(const ModelParameters& parameters);

}  // namespace grove
