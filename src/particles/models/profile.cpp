#include "particles/models/profile.hpp"

#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>

namespace grove {

using std::numbers::pi;

namespace {

/// The factor that makes the mass within a radius as asked for.
double nfw_factor(double mass_within, double radius, double scale) {
  const double c = radius / scale;
  return mass_within / (4 * pi * scale * scale * scale * (std::log1p(c) - c / (1 + c)));
}

}  // namespace

double CuspProfile::density(double r) const {
  const double x = r / scale_;
  double divisor = x;
  for (int i = 0; i < n_; ++i) divisor *= 1 + x;
  return factor_ / divisor;
}

double CuspProfile::slope(double r) const {
  const double x = r / scale_;
  return -(1 + (n_ + 1) * x) / (1 + x);
}

double CuspProfile::curvature(double r) const {
  const double x = r / scale_;
  return -n_ * x / ((1 + x) * (1 + x));
}

NfwProfile::NfwProfile(double mass_within, double radius, double scale)
    : CuspProfile(2, scale, nfw_factor(mass_within, radius, scale)) {}

HernquistProfile::HernquistProfile(double mass, double scale)
    : CuspProfile(3, scale, mass / (2 * pi * scale * scale * scale)) {}

TaperedProfile::TaperedProfile(std::shared_ptr<const DensityProfile> inner, double rmax, double taper)
    : inner_(std::move(inner)),
      rmax_(rmax),
      taper_(taper),
      power_(inner_->slope(rmax) + rmax / taper),
      edge_density_(inner_->density(rmax)) {
  const auto log_fall = [&](double r) { return power_ * std::log(r / rmax_) - (r - rmax_) / taper_ + 32; };
  double high = rmax_ + taper_;
  while (log_fall(high) > 0) high *= 1.5;
  std::uintmax_t iterations = 100;
  outer_ = boost::math::tools::toms748_solve(log_fall, rmax_, high,
                                             boost::math::tools::eps_tolerance<double>(30), iterations)
               .first;
}

double TaperedProfile::density(double r) const {
  if (r <= rmax_) return inner_->density(r);
  return edge_density_ * std::exp(power_ * std::log(r / rmax_) - (r - rmax_) / taper_);
}

}  // namespace grove
