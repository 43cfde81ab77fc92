#include "particles/models/plummer.hpp"

#include <cmath>

namespace grove {

PlummerModel::PlummerModel(double gm, double a, double rmax) : gm_(gm), a_(a), rmax_(rmax) {
  greatest_energy_ = potential(rmax) + gm * enclosed(rmax) / rmax;
}

double PlummerModel::enclosed(double r) const {
  const double x = r / std::hypot(r, a_);
  return x * x * x;
}

double PlummerModel::radius_of_mass(double fraction, double a) {
  const double x = std::cbrt(fraction);
  return a * x / std::sqrt((1 - x) * (1 + x));
}

double PlummerModel::potential(double r) const {
  // 1/a - 1/s with s^2 = r^2 + a^2, free of cancellation near the centre.
  const double s = std::hypot(r, a_);
  return gm_ * r * r / (a_ * s * (s + a_));
}

double PlummerModel::distribution(double energy) const {
  const double binding = 1 - energy * a_ / gm_;
  return binding > 0 ? binding * binding * binding * std::sqrt(binding) : 0.0;
}

Model make_plummer(const ModelParameters& p) {
  const double rmax = p.rmax > 0 ? p.rmax : PlummerModel::radius_of_mass(0.999, p.scale);
  const auto sphere = std::make_shared<PlummerModel>(p.gravitational_constant * p.mass, p.scale, rmax);
  return Model({spherical_component(sphere, p.particles, p.mass * sphere->enclosed(rmax))}, p.seed);
}

}  // namespace grove
