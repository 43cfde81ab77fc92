#pragma once

#include <memory>

#include "particles/models/model.hpp"
#include "particles/models/spherical_potential.hpp"

namespace grove {

/// Surface density M / (2 pi h^2) exp(-R / h), vertical profile sech^2(z / z0), made out to 10 h.
struct DiskShape {
  double gm;        ///< G times the mass
  double scale;     ///< h
  double height;    ///< z0
  double toomre_q;  ///< smallest Q = sigma_R kappa / (3.36 G Sigma) over the disk
};

/// Circular motion in the disk's own field, taken as razor-thin (Freeman 1970, ApJ 160, 811, equation 10),
/// and that of a sphere.
struct CircularMotion {
  double speed2;  ///< v_c^2 = R d phi / d R
  double slope;   ///< d ln v_c^2 / d ln R

  /// (kappa / 2 Omega)^2, kappa the epicyclic frequency.
  double epicyclic_ratio() const { return 0.25 * (slope + 2); }
};
double surface_density(const DiskShape& disk, double radius);  ///< G Sigma
CircularMotion circular_motion(const DiskShape& disk, const SphericalPotential& sphere, double radius);

/// Stars of an exponential disk that turns counter-clockwise about the z axis in the field of a sphere and
/// its own. Velocities are Gaussian in each component, with moments from the Jeans equations in the epicyclic
/// approximation (Hernquist 1993, ApJS 86, 389, section 2.2; Binney and Tremaine 2008, section 4.8.2):
/// sigma_R ~ exp(-R / 2h), which with a height independent of R keeps sigma_z / sigma_R constant where the
/// disk dominates; mean rotation with the asymmetric drift; sigma_z^2 = <z dphi/dz>, the vertical virial
/// theorem.
class ExponentialDisk : public Sampler {
 public:
  /// sphere: the field of everything but the disk; its depth and the disk's bound the speeds.
  ExponentialDisk(const DiskShape& shape, std::shared_ptr<const SphericalPotential> sphere);

  /// Fraction of the endless disk's mass that the particles carry.
  static double made_fraction();

  PhasePoint sample(RandomStream& random) const override;
  double reach() const override;
  double fastest() const override { return fastest_; }

  /// Moments of the velocities at a radius.
  struct Moments {
    double rotation;  ///< mean azimuthal velocity
    double radial, azimuthal, vertical;
  };
  Moments moments(double radius) const;

 private:
  double vertical_dispersion2(double radius) const;

  DiskShape shape_;
  std::shared_ptr<const SphericalPotential> sphere_;
  double central_dispersion_ = 0;
  double fastest_;
};

}  // namespace grove
