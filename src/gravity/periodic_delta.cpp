#include "gravity/periodic_delta.hpp"

#include <algorithm>
#include <cmath>

namespace grove {

namespace {

/// How many particles there are beside so many that errors of walks are largest, or 1.
double over_few(Count particles) {
  constexpr double few = 48 * 48 * 48;
  return std::max(1., static_cast<double>(particles) / few);
}

}  // namespace

double most_delta(const GravityParameters& gravity, Count particles) {
  if (gravity.order != Order::octupole) return gravity.delta;
  return std::min(1.45, 0.62 * std::pow(over_few(particles), 0.16)) * gravity.delta;
}

double unevenness(const GravityParameters& gravity, const GravityStorage::Sums& sums) {
  const double mass = sums.largest_mass * static_cast<double>(sums.particles);
  const double scale = gravity.gravitational_constant * mass / (gravity.images.edge * gravity.images.edge);
  return scale > 0 ? sums.median_acceleration / scale : 1;
}

double periodic_delta(double unevenness, double most) {
  return std::min(most, std::pow(6 * most, 4. / 3) * std::pow(unevenness, 0.4));
}

double far_delta(double delta, double most, Count particles) {
  const double many = over_few(particles);
  const double bound = std::min(1., std::pow(many, 0.06) / 2) * most;
  return std::max(delta, std::min(bound, 1.8 * delta * std::pow(many, 0.15)));
}

double least_far_part(double unevenness) {
  constexpr double least = 1. / 128, most = 1. / 4, unevenness_of_most = 2.6;
  return std::clamp(most * std::pow(unevenness / unevenness_of_most, 0.7), least, most);
}

}  // namespace grove
