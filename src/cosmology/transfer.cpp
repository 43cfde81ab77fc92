#include "cosmology/transfer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"

namespace grove {
namespace {

using std::pow, std::sqrt;

double cube(double x) { return x * x * x; }
double fourth(double x) { return x * x * x * x; }

/// The transfer function of matter without pressure, eq. 19 and 20.
double pressureless(double q, double alpha, double beta) {
  const double c = 14.2 / alpha + 386 / (1 + 69.9 * pow(q, 1.08));
  const double l = std::log(std::numbers::e + 1.8 * beta * q);
  return l / (l + c * q * q);
}

double sine_over(double x) { return std::abs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

}  // namespace

Transfer::Transfer(const TransferParameters& p) : parameters_(p) {
  if (!(p.omega_matter > 0) || !(p.h > 0) || !(p.temperature > 0))
    throw InputError(
        fmt::format("the linear spectrum: omega_matter = {}, h = {} and the temperature {} K of the "
                    "background must be positive",
                    p.omega_matter, p.h, p.temperature));
  if (!(p.omega_baryon >= 0 && p.omega_baryon < p.omega_matter))
    throw InputError(fmt::format(
        "the linear spectrum: omega_baryon = {} must be at least 0 and less than omega_matter = {}",
        p.omega_baryon, p.omega_matter));
  matter_ = p.omega_matter * p.h * p.h;
  baryon_share_ = p.omega_baryon / p.omega_matter;
  const double theta = p.temperature / 2.7;
  equality_ = 0.0746 * matter_ / (theta * theta);
  if (p.smooth)
    fit_smooth();
  else if (baryon_share_ > 0)
    fit_oscillations(theta);
}

void Transfer::fit_smooth() {
  const double f = baryon_share_, baryons = f * matter_;
  sound_horizon_ = 44.5 * std::log(9.83 / matter_) / sqrt(1 + 10 * pow(baryons, 0.75));
  alpha_gamma_ = 1 - 0.328 * std::log(431 * matter_) * f + 0.38 * std::log(22.3 * matter_) * f * f;
}

void Transfer::fit_oscillations(double theta) {
  const double m = matter_, f = baryon_share_, baryons = f * m;
  const double equal = 2.5e4 * m / fourth(theta);  // 1 + z
  const double b1 = 0.313 * pow(m, -0.419) * (1 + 0.607 * pow(m, 0.674)), b2 = 0.238 * pow(m, 0.223);
  const double drag =
      1 + 1291 * pow(m, 0.251) / (1 + 0.659 * pow(m, 0.828)) * (1 + b1 * pow(baryons, b2));  // 1 + z
  const auto momentum_ratio = [&](double one_plus_z) {
    return 31.5 * baryons / fourth(theta) * 1e3 / one_plus_z;
  };
  const double r_drag = momentum_ratio(drag), r_equal = momentum_ratio(equal);
  sound_horizon_ = 2 / (3 * equality_) * sqrt(6 / r_equal) *
                   std::log((sqrt(1 + r_drag) + sqrt(r_drag + r_equal)) / (1 + sqrt(r_equal)));
  silk_ = 1.6 * pow(baryons, 0.52) * pow(m, 0.73) * (1 + pow(10.4 * m, -0.95));

  const double a1 = pow(46.9 * m, 0.670) * (1 + pow(32.1 * m, -0.532));
  const double a2 = pow(12.0 * m, 0.424) * (1 + pow(45.0 * m, -0.582));
  alpha_c_ = pow(a1, -f) * pow(a2, -cube(f));
  const double c1 = 0.944 / (1 + pow(458 * m, -0.708)), c2 = pow(0.395 * m, -0.0266);
  beta_c_ = 1 / (1 + c1 * (pow(1 - f, c2) - 1));

  const double y = equal / drag, root = sqrt(1 + y);
  const double g = y * (-6 * root + (2 + 3 * y) * std::log((root + 1) / (root - 1)));
  alpha_b_ = 2.07 * equality_ * sound_horizon_ * pow(1 + r_drag, -0.75) * g;
  beta_b_ = 0.5 + f + (3 - 2 * f) * sqrt(17.2 * m * (17.2 * m) + 1);
  beta_node_ = 8.41 * pow(m, 0.435);
}

double Transfer::operator()(double k) const {
  if (k == 0) return 1;
  if (!parameters_.smooth)
    return baryon_share_ > 0 ? oscillating(k) : pressureless(k / (13.41 * equality_), 1, 1);
  const double slow = alpha_gamma_ + (1 - alpha_gamma_) / (1 + fourth(0.43 * k * sound_horizon_));
  const double theta = parameters_.temperature / 2.7, effective = k * theta * theta / (matter_ * slow);
  const double l = std::log(2 * std::numbers::e + 1.8 * effective), c = 14.2 + 731 / (1 + 62.5 * effective);
  return l / (l + c * effective * effective);
}

double Transfer::oscillating(double k) const {
  const double q = k / (13.41 * equality_), ks = k * sound_horizon_;
  const double within = 1 / (1 + fourth(ks / 5.4));
  const double cold =
      within * pressureless(q, 1, beta_c_) + (1 - within) * pressureless(q, alpha_c_, beta_c_);
  const double shifted = ks / std::cbrt(1 + cube(beta_node_ / ks));
  const double baryons = (pressureless(q, 1, 1) / (1 + ks / 5.2 * (ks / 5.2)) +
                          alpha_b_ / (1 + cube(beta_b_ / ks)) * std::exp(-pow(k / silk_, 1.4))) *
                         sine_over(shifted);
  return baryon_share_ * baryons + (1 - baryon_share_) * cold;
}

}  // namespace grove
