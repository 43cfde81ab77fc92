#include "particles/models/spin.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

namespace grove {
namespace {

/// Mean speed of the particles where the potential is this.
double mean_speed(const SphericalModel& model, double potential) {
  const double greatest = model.greatest_energy() - potential;
  if (greatest <= 0) return 0;
  const auto moment = [&](int power) {
    const auto weighted = [&](double q) {
      return std::pow(q, power) * model.distribution(potential + greatest * q * q);
    };
    return boost::math::quadrature::gauss<double, 60>::integrate(weighted, 0.0, 1.0);
  };
  return std::sqrt(2 * greatest) * moment(3) / moment(2);
}

}  // namespace

double greatest_spin(const SphericalModel& model) {
  constexpr int shells = 400;
  double sum = 0;
  for (int i = 0; i < shells; ++i) {
    const double r = model.radius((i + 0.5) / shells);
    sum += r * mean_speed(model, model.potential(r));
  }
  return std::numbers::pi / 8 * sum / shells;
}

SpinningSampler::SpinningSampler(std::shared_ptr<const Sampler> sampler, double share)
    : sampler_(std::move(sampler)), share_(share) {}

PhasePoint SpinningSampler::particle(Count number, RandomStream& random) const {
  PhasePoint point = sampler_->particle(number, random);
  const Vec3d& x = point.position;
  const double radius = std::hypot(x.x, x.y);
  const double sign = 2 * random.uniform() < 1 + share_ ? 1 : -1;
  if (radius == 0) return point;
  const Vec3d forward{-x.y / radius, x.x / radius, 0};
  const double azimuthal = dot(point.velocity, forward);
  point.velocity += forward * (sign * std::abs(azimuthal) - azimuthal);
  return point;
}

}  // namespace grove
