#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/softening.hpp"

/// External potentials: fixed fields of force that act on all particles. Formulas after Binney and Tremaine
/// 2008, Galactic Dynamics, 2nd edition, chapter 2, in double precision.
namespace grove {

enum class PotentialKind : std::uint8_t {
  point_mass,  ///< softened as particles are under the spline
  plummer,
  hernquist,
  nfw,
  miyamoto_nagai,
  logarithmic,
  uniform,
  background,  ///< the missing gravity of what surrounds an open sphere in a homogeneous universe
};

/// One potential, in the units of the run. Trivially copyable.
struct ExternalPotential {
  PotentialKind kind;
  Vec3d centre;  ///< of uniform: where the potential is 0
  /// G M; nfw: 4 pi G rho_s r_s^3; logarithmic: v0^2, the squared circular velocity far out; background:
  /// 4/3 pi G rho.
  double strength = 0;
  /// Point mass: radius of the spline, 0: none; miyamoto_nagai: a; logarithmic: core radius; else scale
  /// radius.
  double scale = 0;
  /// nfw: radius where the density ends, infinite: nowhere; miyamoto_nagai: b; logarithmic: q, flattening of
  /// the equipotentials along z.
  double second = 0;
  Vec3d acceleration{};  ///< of uniform
};

/// The effect of a field at a place.
struct FieldAt {
  Vec3d acceleration;  ///< length / time^2
  double potential;    ///< velocity^2
};

namespace potentials {

/// From the force over distance towards the centre, and the potential.
GROVE_HOST_DEVICE inline FieldAt central(const Vec3d& d, double pull, double potential) {
  return {-pull * d, potential};
}

GROVE_HOST_DEVICE inline FieldAt point_mass(const ExternalPotential& p, const Vec3d& d) {
  const double r2 = norm2(d), r_inverse = r2 > 0 ? 1 / std::sqrt(r2) : 0;
  if (p.scale == 0)
    return central(d, p.strength * r_inverse * r_inverse * r_inverse, -p.strength * r_inverse);
  const SoftenedPair<double> psi = spline_pair(r2, r_inverse, 1 / p.scale);
  return central(d, p.strength * psi.force, -p.strength * psi.potential);
}

GROVE_HOST_DEVICE inline FieldAt plummer(const ExternalPotential& p, const Vec3d& d) {
  const SoftenedPair<double> psi = plummer_pair(norm2(d), p.scale);
  return central(d, p.strength * psi.force, -p.strength * psi.potential);
}

/// The force is finite at the centre, where it has no direction.
GROVE_HOST_DEVICE inline FieldAt hernquist(const ExternalPotential& p, const Vec3d& d) {
  const double r = norm(d), psi = p.strength / (r + p.scale);
  return central(d, r > 0 ? psi / ((r + p.scale) * r) : 0, -psi);
}

/// Mass of an NFW profile within x scale radii over x^2, for 4 pi rho_s r_s^3 = 1. The two terms of ln(1 + x)
/// - x / (1 + x) cancel near the centre; there its series to x^4, whose next term is below 2e-15 of it.
GROVE_HOST_DEVICE inline double nfw_mass_over_x2(double x) {
  if (x < 1e-3) return 1. / 2 - x * (2. / 3 - x * (3. / 4 - x * (4. / 5 - x * (5. / 6))));
  return (std::log1p(x) - x / (1 + x)) / (x * x);
}

/// Inside the cut-off that of the mass inside and of the shells between; outside a point mass.
GROVE_HOST_DEVICE inline FieldAt nfw(const ExternalPotential& p, const Vec3d& d) {
  const double r = norm(d), end = p.second, unit = p.strength / p.scale;
  if (r > end) {
    const double x = end / p.scale, mass = p.strength * x * x * nfw_mass_over_x2(x);
    return central(d, mass / (r * r * r), -mass / r);
  }
  const double x = r / p.scale, shells = unit / (1 + end / p.scale);
  if (r == 0) return {{0, 0, 0}, shells - unit};
  return central(d, unit / p.scale * nfw_mass_over_x2(x) / r, shells - unit * std::log1p(x) / x);
}

/// Eq. 2.69a.
GROVE_HOST_DEVICE inline FieldAt miyamoto_nagai(const ExternalPotential& p, const Vec3d& d) {
  const double depth = std::sqrt(d.z * d.z + p.second * p.second), arm = p.scale + depth;
  const double inverse = 1 / std::sqrt(d.x * d.x + d.y * d.y + arm * arm);
  const double pull = p.strength * inverse * inverse * inverse;
  return {{-pull * d.x, -pull * d.y, -pull * d.z * arm / depth}, -p.strength * inverse};
}

/// Eq. 2.71a, with lengths in the unit of the run.
GROVE_HOST_DEVICE inline FieldAt logarithmic(const ExternalPotential& p, const Vec3d& d) {
  const double q2 = p.second * p.second;
  const double size2 = p.scale * p.scale + d.x * d.x + d.y * d.y + d.z * d.z / q2;
  const double pull = p.strength / size2;
  return {{-pull * d.x, -pull * d.y, -pull * d.z / q2}, 0.5 * p.strength * std::log(size2)};
}

}  // namespace potentials

/// One potential at a place. Cost: a square root and, of nfw and logarithmic, a logarithm.
GROVE_HOST_DEVICE inline FieldAt field_at(const ExternalPotential& p, const Vec3d& position) {
  const Vec3d d = position - p.centre;
  switch (p.kind) {
    case PotentialKind::point_mass:
      return potentials::point_mass(p, d);
    case PotentialKind::plummer:
      return potentials::plummer(p, d);
    case PotentialKind::hernquist:
      return potentials::hernquist(p, d);
    case PotentialKind::nfw:
      return potentials::nfw(p, d);
    case PotentialKind::miyamoto_nagai:
      return potentials::miyamoto_nagai(p, d);
    case PotentialKind::logarithmic:
      return potentials::logarithmic(p, d);
    case PotentialKind::background:
      return {p.strength * d, -0.5 * p.strength * norm2(d)};
    case PotentialKind::uniform:
      break;
  }
  return {p.acceleration, -dot(p.acceleration, d)};
}

/// All potentials, where a kernel finds them.
struct ExternalField {
  const ExternalPotential* potentials = nullptr;
  int count = 0;

  /// Their sum, in their order.
  GROVE_HOST_DEVICE FieldAt at(const Vec3d& position) const {
    FieldAt sum{{0, 0, 0}, 0};
    for (int k = 0; k < count; ++k) {
      const FieldAt one = field_at(potentials[k], position);
      sum.acceleration += one.acceleration;
      sum.potential += one.potential;
    }
    return sum;
  }
  /// An acceleration with theirs added, rounded once.
  GROVE_HOST_DEVICE Vec3f added(const Vec3f& acceleration, const Vec3d& position) const {
    return (acceleration.as<double>() + at(position).acceleration).as<float>();
  }
};

}  // namespace grove
