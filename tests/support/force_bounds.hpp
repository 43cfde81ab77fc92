#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// Bounds of the errors of a walk's forces, particle by particle.
namespace grove::testing {

inline constexpr double unit_roundoff = 1.0 / (1 << 24);  // of single precision

inline double pair_softening(const Particles& p, const GravityParameters& gravity, std::size_t i,
                             std::size_t j) {
  return std::max(gravity.softening[p.type[i]], gravity.softening[p.type[j]]);
}

/// The error of particle i's acceleration by rounding, everything opened. Each pair: offsets, shift and
/// difference are rounded, 4 units of at most the extent L each, in a separation r, of which the force is the
/// power -2, its derivative at most 3 (2 along, 1 across) times force/r, and less under softening, so r
/// counts as at least eps; the formula itself: rounded a dozen times. Sum: `additions`.
inline double rounding_bound(const Particles& p, const GravityParameters& gravity, std::size_t i,
                             double extent, std::size_t additions) {
  double bound = 0;
  const double n = static_cast<double>(additions);
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (i == j) continue;
    const double r = std::max(norm(p.position[j] - p.position[i]), pair_softening(p, gravity, i, j));
    bound += p.mass[j] / (r * r) * (n + 12 + 3 * 4 * extent / r) * unit_roundoff;
  }
  return bound;
}
/// The particles being added one by one.
inline double rounding_bound(const Particles& p, const GravityParameters& gravity, std::size_t i,
                             double extent) {
  return rounding_bound(p, gravity, i, extent, p.size());
}

/// The power of b/d that the acceleration of nodes of this order leaves out first, less the two of d.
inline int first_left_out(Order order) {
  switch (order) {
    case Order::monopole:
      return 2;
    case Order::quadrupole:
      return 3;
    case Order::octupole:
      return 4;
  }
  throw std::logic_error("no such order");
}

/// The error of particle i's acceleration by the expansion of nodes, which are accepted from the
/// distance d = b/theta on. A node's expansion to order n - 1 (n = 2: monopole, the dipole being zero; n = 3:
/// quadrupole) leaves out at most y^n/n! times the largest n-th derivative of the acceleration on the way
/// from its centre to a particle at y. That is below (n + 1)! m/R^(n+2): of Newton's force with R = r, of
/// Plummer's with R^2 = r^2 + eps^2 (1/r in a fourth dimension, eps aside), of the spline's with R = max(r,
/// 0.92 eps) (worked out numerically for n = 2 and 3; nodes with octupoles, n = 4, act by Newton's force
/// alone). A particle at r has d < r/(1 - theta), y < theta d,
/// and no point on the way is nearer than d - y > r (1 - theta)/(1 + theta).
inline double expansion_bound(const Particles& p, const GravityParameters& gravity, std::size_t i) {
  const double theta = gravity.theta, n = first_left_out(gravity.order);
  double bound = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (i == j) continue;
    const double r = norm(p.position[j] - p.position[i]), eps = pair_softening(p, gravity, i, j);
    const double y = theta * r / (1 - theta), least = r * (1 - theta) / (1 + theta);
    const double R =
        gravity.kernel == SofteningKernel::plummer ? std::hypot(least, eps) : std::max(least, 0.92 * eps);
    bound += (n + 1) * p.mass[j] * std::pow(y / R, n) / (R * R);
  }
  return bound;
}

/// Root mean square over all directions of what a node leaves out in its leading term, in units of
/// m b^n/d^(n+2): a particle at y from the centre gives sqrt(n + 1) m y^n/d^(n+2), k particles at random
/// sqrt(n + 1) sqrt(<y^2n>/k). With k = 8, the least of a bucket, in a ball whose farthest is at b
/// (b^3 = 8/9 R^3) that is 0.25 sqrt(3), 0.23 sqrt(4) and 0.22 sqrt(5). Shape adds to the quadrupole only,
/// 0.17 m b^2 for a box of sides 2:1:1: sqrt(0.25^2 + 0.17^2) = 0.30.
inline double node_error(Order order) {
  switch (order) {
    case Order::monopole:
      return std::sqrt(3) * 0.30;
    case Order::quadrupole:
      return 2 * 0.23;
    case Order::octupole:
      return std::sqrt(5) * 0.22;
  }
  throw std::logic_error("no such order");
}

/// The 99th percentile of a Gaussian in three dimensions, over its root mean square. The errors of many nodes
/// add up to one, as their directions are independent.
inline constexpr double percentile_99 = 1.95;

/// Bound of the 99th percentile of the error of particle i, nodes being accepted from b/theta on, `cells` of
/// them per particle: node_error() in the same 1/R as in expansion_bound(), of mass and distance as the
/// particles are, each of the largest b.
inline double expected_error(const Particles& p, const GravityParameters& gravity, std::size_t i,
                             double cells) {
  const double n = first_left_out(gravity.order);
  double sum = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (i == j) continue;
    const double r = norm(p.position[j] - p.position[i]), eps = pair_softening(p, gravity, i, j);
    const double R =
        gravity.kernel == SofteningKernel::plummer ? std::hypot(r, eps) : std::max(r, 0.92 * eps);
    sum += p.mass[j] * std::pow(gravity.theta * r / R, n) / (R * R);
  }
  return percentile_99 * node_error(gravity.order) * sum / std::sqrt(cells);
}

}  // namespace grove::testing
