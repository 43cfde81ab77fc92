#pragma once

#include <math.h>  // pchip.hpp of Boost 1.74 needs isnan in the global namespace

#include <boost/math/interpolators/pchip.hpp>
#include <memory>
#include <string>

#include "particles/models/profile.hpp"
#include "particles/models/spherical.hpp"
#include "particles/models/spherical_potential.hpp"

namespace grove {

/// A tapered profile in equilibrium in a spherical potential, its own or one it shares with other components.
/// Its distribution function is Eddington's (Binney and Tremaine 2008, equation 4.46b), as an integral over
/// ln r,
///
///   f(E) = 1/(sqrt(8) pi^2) int_{r_E}^inf rho/w (g^2 + g' - g w'/w) / sqrt(phi(r) - phi(r_E)) d ln r,
///
/// where w = G M(r) / r, g is the logarithmic slope of rho, and ' is d / d ln r. It is tabulated on the
/// potential's grid.
class EddingtonModel : public SphericalModel {
 public:
  /// name: of the component, for the message of InputError when f < 0 at some energy. The potential's grid
  /// reaches from well inside the profile's scale to at least its outer radius.
  EddingtonModel(std::shared_ptr<const TaperedProfile> profile,
                 std::shared_ptr<const SphericalPotential> potential, const std::string& name);

  /// The mass of all its particles.
  double mass() const { return own_.gm(own_.grid().outer); }

  double radius(double fraction) const override;
  double potential(double r) const override { return potential_->potential(r); }
  double distribution(double energy) const override;
  double greatest_energy() const override { return greatest_energy_; }

 private:
  using Spline = boost::math::interpolators::pchip<std::vector<double>>;

  double integrand(double log_r, double log_r0) const;
  /// f at the energy of a particle that turns at r, and the integral of the integrand's absolute value.
  struct Value {
    double f, scale;
  };
  Value eddington(double r) const;
  /// Radii at whose energies f is tabulated, ascending.
  std::vector<double> nodes() const;
  Spline tabulate(const std::string& name);
  /// ln(energy / (depth - energy)): resolves both the cusp and the outskirts.
  double coordinate(double energy) const;

  std::shared_ptr<const TaperedProfile> profile_;
  std::shared_ptr<const SphericalPotential> potential_;
  SphericalPotential own_;         ///< of the profile alone with G = 1, for its mass
  std::vector<double> fractions_;  ///< of the mass, within each radius of the grid
  double least_coordinate_ = 0, greatest_energy_ = 0;
  Spline log_f_;
};

}  // namespace grove
