#include "particles/models/spherical.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

namespace grove {
namespace {

constexpr int grid_intervals = 512;
/// Nobody draws from the innermost part of this mass: 10^9 particles have a chance of 1 in 1000.
constexpr double least_fraction = 1e-12;
/// The factor by which a maximum between two radii of the grid may exceed those found at them.
constexpr double margin = 1.1;

}  // namespace

IsotropicSampler::IsotropicSampler(std::shared_ptr<const SphericalModel> model)
    : model_(std::move(model)), inner_(model_->radius(least_fraction)), outer_(model_->radius(1)) {
  log_step_ = std::log(outer_ / inner_) / grid_intervals;
  fastest_ = std::sqrt(2 * model_->greatest_energy());
  std::vector<double> greatest;
  for (int i = 0; i <= grid_intervals; ++i)
    greatest.push_back(greatest_weight(model_->potential(inner_ * std::exp(i * log_step_))));
  for (std::size_t i = 0; i + 1 < greatest.size(); ++i)
    bounds_.push_back(margin * std::max(greatest[i], greatest[i + 1]));
}

double IsotropicSampler::weight(double potential, double q) const {
  const double kinetic = (model_->greatest_energy() - potential) * q * q;
  return q * q * model_->distribution(potential + kinetic);
}

double IsotropicSampler::greatest_weight(double potential) const {
  // In a cusp the maximum lies at small q, so it is looked for in log q; near the edge of a tapered model
  // there may be two, so a coarse search comes first.
  constexpr double lowest = -16, step = 0.25;
  const auto negative = [&](double log_q) { return -weight(potential, std::exp(log_q)); };
  double best = 0;
  for (double log_q = lowest; log_q < 0; log_q += step)
    if (negative(log_q) < negative(best)) best = log_q;
  return -boost::math::tools::brent_find_minima(negative, best - step, std::min(best + step, 0.0), 24).second;
}

PhasePoint IsotropicSampler::sample(RandomStream& random) const {
  const double r = std::clamp(model_->radius(random.uniform()), inner_, outer_);
  const Vec3d position = random.isotropic(r);
  const double potential = model_->potential(r);
  // At the very edge only rest is bound.
  if (potential >= model_->greatest_energy()) return {position, {0, 0, 0}};
  const auto interval = static_cast<std::size_t>(std::log(r / inner_) / log_step_);
  const double bound = bounds_[std::min(interval, bounds_.size() - 1)];
  double q;
  do {
    q = random.uniform();
  } while (random.uniform() * bound > weight(potential, q));
  const double speed = q * std::sqrt(2 * (model_->greatest_energy() - potential));
  return {position, random.isotropic(speed)};
}

Component spherical_component(std::shared_ptr<const SphericalModel> model, Count count, double mass) {
  Component component;
  component.sampler = std::make_shared<IsotropicSampler>(std::move(model));
  component.count = count;
  component.mass = mass;
  return component;
}

}  // namespace grove
