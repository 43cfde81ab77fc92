#pragma once

#include <memory>

#include "particles/models/spherical.hpp"

namespace grove {

/// Mean angular momentum about an axis, per mass, of a sphere of which all particles turn the same way: (pi /
/// 8) times the mean of r |v|. For the mean of sin theta is pi / 4 where positions are isotropic, and |v_phi|
/// is |v| / 2 on average. To 1e-3.
double greatest_spin(const SphericalModel& model);

/// Gives draws of a sphere a rotation about the z axis: of a particle's azimuthal velocity the sign is drawn
/// anew, positive with probability (1 + share) / 2. Only the part of the distribution function that is odd in
/// L_z changes, so density and dispersions stay, and with them the equilibrium in any field that is symmetric
/// about the axis. Source: Lynden-Bell 1960, MNRAS 120, 204.
class SpinningSampler : public Sampler {
 public:
  /// share: from -1 to 1, of greatest_spin().
  SpinningSampler(std::shared_ptr<const Sampler> sampler, double share);

  PhasePoint particle(Count number, RandomStream& random) const override;
  double reach() const override { return sampler_->reach(); }
  double fastest() const override { return sampler_->fastest(); }

 private:
  std::shared_ptr<const Sampler> sampler_;
  double share_;
};

}  // namespace grove
