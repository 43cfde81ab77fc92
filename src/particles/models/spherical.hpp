#pragma once

#include <memory>
#include <vector>

#include "particles/models/model.hpp"

namespace grove {

/// A sphere whose distribution function depends on the energy alone. Energies per unit mass are counted from
/// the potential at the centre, v^2/2 + phi(r) - phi(0), so that they keep their digits in a cusp.
class SphericalModel {
 public:
  virtual ~SphericalModel() = default;
  /// Radius within which this fraction (0 .. 1) of the model's particles lie.
  virtual double radius(double fraction) const = 0;
  /// phi(r) - phi(0).
  virtual double potential(double r) const = 0;
  /// f(energy), in any normalisation.
  virtual double distribution(double energy) const = 0;
  /// No particle has more: what escapes from the model as it is made, truncated.
  virtual double greatest_energy() const = 0;
};

/// Draws radii from the mass profile and speeds from v^2 f(v^2/2 + phi) by rejection, directions at random.
/// Cost of a draw: about three evaluations of f.
class IsotropicSampler : public RandomSampler {
 public:
  explicit IsotropicSampler(std::shared_ptr<const SphericalModel> model);

  PhasePoint sample(RandomStream& random) const override;
  double reach() const override { return outer_; }
  double fastest() const override { return fastest_; }

 private:
  /// q^2 f at the speed q times the escape speed.
  double weight(double potential, double q) const;
  double greatest_weight(double potential) const;

  std::shared_ptr<const SphericalModel> model_;
  double inner_, outer_, fastest_;
  double log_step_;
  std::vector<double> bounds_;  ///< of the weight between two radii of a logarithmic grid
};

/// A component of this sphere: halo particles (PartType1) unless said otherwise.
Component spherical_component(std::shared_ptr<const SphericalModel> model, Count count, double mass);

}  // namespace grove
