#include "gravity/periodic_delta.hpp"

#include <algorithm>
#include <cmath>

namespace grove {

double periodic_delta(const GravityParameters& gravity, const GravityStorage::Sums& sums) {
  const double mass = sums.largest_mass * static_cast<double>(sums.particles);
  const double scale = gravity.gravitational_constant * mass / (gravity.images.edge * gravity.images.edge);
  const double homogeneity = scale > 0 ? sums.median_acceleration / scale : 1;
  return std::min(gravity.delta, std::pow(6 * gravity.delta, 4. / 3) * std::pow(homogeneity, 0.4));
}

double far_delta(double delta, double most, Count particles) {
  constexpr double few = 48 * 48 * 48;
  const double many = std::max(1., static_cast<double>(particles) / few);
  const double bound = std::min(1., std::pow(many, 0.06) / 2) * most;
  return std::max(delta, std::min(bound, 1.8 * delta * std::pow(many, 0.15)));
}

}  // namespace grove
