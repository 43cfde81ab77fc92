#include "particles/models/eddington.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"

namespace grove {
namespace {

/// The share of the integral of absolute values that quadrature and interpolation may leave where f vanishes.
constexpr double noise = 1e-6;

}  // namespace

EddingtonModel::EddingtonModel(std::shared_ptr<const TaperedProfile> profile,
                               std::shared_ptr<const SphericalPotential> potential, const std::string& name)
    : profile_(std::move(profile)),
      potential_(std::move(potential)),
      own_(1, potential_->grid(), [p = profile_](double r) { return p->density(r); }),
      log_f_(tabulate(name)) {
  const RadialGrid& grid = own_.grid();
  for (std::size_t i = 0; i <= grid.intervals; ++i) fractions_.push_back(own_.gm(grid.radius(i)) / mass());
}

double EddingtonModel::radius(double fraction) const {
  const RadialGrid& grid = own_.grid();
  if (fraction <= fractions_.front()) return grid.inner * std::sqrt(fraction / fractions_.front());
  const auto above = std::lower_bound(fractions_.begin(), fractions_.end(), fraction);
  if (above == fractions_.end()) return profile_->outer_radius();
  const double high = std::log(grid.radius(static_cast<std::size_t>(above - fractions_.begin())));
  const double low = high - grid.log_step();
  const auto excess = [&](double log_r) {
    const double r = std::exp(log_r);
    return std::pair(own_.gm(r) / mass() - fraction, own_.source(r) * r * r * r / mass());
  };
  const double log_r = boost::math::tools::newton_raphson_iterate(excess, 0.5 * (low + high), low, high, 30);
  return std::min(std::exp(log_r), profile_->outer_radius());
}

double EddingtonModel::coordinate(double energy) const {
  return std::log(energy / (potential_->depth() - energy));
}

double EddingtonModel::distribution(double energy) const {
  if (energy >= greatest_energy_) return 0;
  return std::exp(log_f_(std::max(coordinate(energy), least_coordinate_)));
}

double EddingtonModel::integrand(double log_r, double log_r0) const {
  const double r = std::exp(log_r), r0 = std::exp(log_r0);
  const double w = potential_->gm(r) / r;
  const double w_slope = potential_->source(r) * r * r / w - 1;
  const double g = profile_->slope(r);
  const double climb = potential_->potential(r) - potential_->potential(r0);
  if (!(climb > 0)) return 0;  // rounding at the lower end, where the weight of the substitution is 0
  return profile_->density(r) / w * (g * g + profile_->curvature(r) - g * w_slope) / std::sqrt(climb);
}

EddingtonModel::Value EddingtonModel::eddington(double r) const {
  const double start = std::log(r);
  // ln r = start + t^2 takes the inverse root at the lower end away.
  const auto substituted = [&](double t) { return 2 * t * integrand(start + t * t, start); };
  const double edge = std::sqrt(std::max(std::log(profile_->rmax()) - start, 0.0));
  const double end = std::sqrt(std::log(profile_->outer_radius()) - start);
  Value value{0, 0};
  // In two parts, because the curvature of the density jumps at the edge.
  for (const auto& [low, high] : {std::pair(0.0, edge), std::pair(edge, end)}) {
    if (low >= high) continue;
    double error = 0, scale = 0;
    value.f += boost::math::quadrature::gauss_kronrod<double, 31>::integrate(substituted, low, high, 10, 1e-8,
                                                                             &error, &scale);
    value.scale += scale;
  }
  const double factor = 1 / (std::sqrt(8.0) * std::numbers::pi * std::numbers::pi);
  return {value.f * factor, value.scale * factor};
}

std::vector<double> EddingtonModel::nodes() const {
  const RadialGrid& grid = own_.grid();
  std::vector<double> radii;
  // The last part of the taper holds nobody, and no energy to integrate over.
  for (std::size_t i = 0; i <= grid.intervals && grid.radius(i) < 0.99 * profile_->outer_radius(); i += 2)
    radii.push_back(grid.radius(i));
  // f is lowest where the density bends down, just beyond rmax, over a few tapers: closer nodes there.
  const double first = radii.front(), last = radii.back();
  for (int i = -4; i <= 16; ++i) {
    const double r = profile_->rmax() + 0.25 * i * profile_->taper();
    if (r > first && r < last) radii.push_back(r);
  }
  std::sort(radii.begin(), radii.end());
  // Two that almost coincide would make the interpolation lose its digits.
  const auto same = [](double r, double next) { return next < r * (1 + 1e-6); };
  radii.erase(std::unique(radii.begin(), radii.end(), same), radii.end());
  return radii;
}

EddingtonModel::Spline EddingtonModel::tabulate(const std::string& name) {
  std::vector<double> coordinates, log_f;
  for (const double r : nodes()) {
    const Value value = eddington(r);
    if (value.f < -noise * value.scale)
      throw InputError(fmt::format(
          "the {} has no equilibrium: its distribution function is negative for particles that turn at r = "
          "{:g}; taper = {:g} is too short for rmax = {:g}: give a longer one",
          name, r, profile_->taper(), profile_->rmax()));
    greatest_energy_ = potential_->potential(r);
    coordinates.push_back(coordinate(greatest_energy_));
    log_f.push_back(std::log(std::max(value.f, noise * noise * value.scale)));
  }
  least_coordinate_ = coordinates.front();
  return {std::move(coordinates), std::move(log_f)};
}

}  // namespace grove
