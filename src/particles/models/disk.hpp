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

/// Circular motion in the field of the disk and of a sphere, the mean over the disk's height; what the radial
/// Jeans equation, integrated over z, asks for. The disk's own part is that of a razor-thin one (Freeman
/// 1970, ApJ 160, 811, equation 10), v^2, less what its thickness takes: 2 pi G Sigma R z0 / h to first order
/// in z0 / h (the mean |z - z'| of two stars is z0), as v^2 / (1 + 2 pi G Sigma R z0 / (h v^2)). For z0 = h /
/// 9 that is within 0.7 % of the exact value from R = 0.3 h on.
struct CircularMotion {
  double speed2;  ///< v_c^2 = <R d phi / d R>
  double slope;   ///< d ln v_c^2 / d ln R

  /// (kappa / 2 Omega)^2, kappa the epicyclic frequency.
  double epicyclic_ratio() const { return 0.25 * (slope + 2); }
};
double surface_density(const DiskShape& disk, double radius);  ///< G Sigma
CircularMotion circular_motion(const DiskShape& disk, const SphericalPotential& sphere, double radius);

/// Stars of an exponential disk that turns counter-clockwise about the z axis in the field of a sphere and
/// its own. Velocities in the plane are Gaussian in each component, with moments from the Jeans equations in
/// the epicyclic approximation (Hernquist 1993, ApJS 86, 389, section 2.2; Binney and Tremaine 2008, section
/// 4.8.2): sigma_R ~ exp(-R / 2h), which with a height independent of R keeps sigma_z / sigma_R constant
/// where the disk dominates; mean rotation with the asymmetric drift. Along z the stars at a radius R are in
/// equilibrium in phi(z) there. Their distribution function is an Abel integral,
/// f(E) = int_E^inf -d rho / d phi / sqrt(2 (phi - E)) d phi / pi (as Eddington's; in one dimension), which
/// need not be solved: draw z' from rho(z') = u rho(z) with a uniform u, then v_z = sqrt(2 (phi(z') -
/// phi(z))) cos(angle) with a uniform angle; of the isothermal phi = -sigma^2 ln rho this makes Box and
/// Muller's normal deviates. The disk pulls down with 2 pi G Sigma tanh(z / z0) - z / R d v_c^2 / d R
/// (Poisson's equation; v_c of the disk's own field).
class ExponentialDisk : public RandomSampler {
 public:
  /// sphere: the field of everything but the disk; its depth and the disk's bound the speeds.
  ExponentialDisk(const DiskShape& shape, std::shared_ptr<const SphericalPotential> sphere);

  /// Fraction of the endless disk's mass that the particles carry.
  static double made_fraction();

  PhasePoint sample(RandomStream& random) const override;
  double reach() const override;
  double fastest() const override { return fastest_; }

  const DiskShape& shape() const { return shape_; }
  double circular_speed(double radius) const;
  /// sigma_R kappa / (3.36 G Sigma).
  double toomre_q(double radius) const;

  /// Moments of the velocities in the plane at a radius.
  struct Moments {
    double rotation;  ///< mean azimuthal velocity
    double radial, azimuthal;
  };
  Moments moments(double radius) const;

  /// phi(R, higher) - phi(R, z), |z| <= higher.
  double climb(double radius, double z, double higher) const;

 private:
  double vertical_speed(double radius, double z, RandomStream& random) const;

  DiskShape shape_;
  std::shared_ptr<const SphericalPotential> sphere_;
  double central_dispersion_ = 0;
  double fastest_;
};

}  // namespace grove
