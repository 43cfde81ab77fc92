#include "particles/models/hernquist.hpp"

#include <cmath>

namespace grove {

HernquistModel::HernquistModel(double gm, double a, double rmax) : gm_(gm), a_(a), rmax_(rmax) {
  // To leave a particle must climb to the edge and out of the field of the mass within it.
  greatest_energy_ = potential(rmax) + gm * enclosed(rmax) / rmax;
}

double HernquistModel::radius(double fraction) const {
  const double s = std::sqrt(fraction * enclosed(rmax_));
  return a_ * s / (1 - s);
}

double HernquistModel::distribution(double energy) const {
  const double p2 = energy * a_ / gm_;  // 1 - q^2, where q^2 is the binding energy
  const double q2 = 1 - p2;
  if (q2 <= 0) return 0;
  const double q = std::sqrt(q2), p = std::sqrt(p2);
  const double bracket = 3 * std::atan2(q, p) + q * p * (1 - 2 * q2) * (8 * q2 * q2 - 8 * q2 - 3);
  return bracket / (p2 * p2 * p);
}

Model make_hernquist(const ModelParameters& p) {
  const double rmax = p.rmax > 0 ? p.rmax : 50 * p.scale;
  const auto sphere = std::make_shared<HernquistModel>(p.gravitational_constant * p.mass, p.scale, rmax);
  return Model({spherical_component(sphere, p.particles, p.mass * sphere->enclosed(rmax))}, p.seed);
}

}  // namespace grove
