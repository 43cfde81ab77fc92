#include "cosmology/expansion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Between two anchors, in ln a. Over so short a way 15 points of Gauss leave nothing but rounding:
/// integrands are powers of a of at most 4, exp(4 y), and the error of 15 points on an interval h is below (4
/// h)^30 / (2 30!) = 1e-27 of it.
constexpr double anchor_step = 1. / 16;

/// Scale factors of anchors begin here.
constexpr double least_scale_factor = 1e-12;

/// The integral over ln a of a function of a.
template <class Integrand>
double over_logarithm(double a, double growth, const Integrand& integrand) {
  const int parts = std::max(1, static_cast<int>(std::ceil(std::abs(growth) / anchor_step)));
  const double part = growth / parts;
  double sum = 0;
  for (int i = 0; i < parts; ++i)
    sum += boost::math::quadrature::gauss<double, 15>::integrate(
        [&](double x) { return integrand(a * std::exp(part * (i + x))); }, 0.0, 1.0);
  return part * sum;
}

}  // namespace

double matter_density(const Cosmology& cosmology, double gravitational_constant) {
  const double critical =
      3 * cosmology.hubble * cosmology.hubble / (8 * std::numbers::pi * gravitational_constant);
  return cosmology.omega_matter * critical;
}

Expansion::Expansion(const Cosmology& cosmology, double largest) : cosmology_(cosmology) {
  const Cosmology& c = cosmology_;
  if (!(c.omega_matter > 0))
    throw InputError(fmt::format("cosmology.omega_matter = {} must be positive", c.omega_matter));
  if (!(c.omega_radiation >= 0))
    throw InputError(fmt::format("cosmology.omega_radiation = {} must not be negative", c.omega_radiation));
  if (!(c.hubble > 0)) throw InputError("cosmology: the Hubble constant must be positive");
  first_anchor_ = std::log(least_scale_factor);
  const double last = std::log(std::max(largest, 1.0)) + anchor_step;
  const double first = std::sqrt(least_scale_factor);
  // With a = u^2 the integrand has no pole at 0.
  anchors_ = {boost::math::quadrature::gauss_kronrod<double, 31>::integrate(
      [&](double u) { return u == 0 ? 0 : 2 / (u * hubble(u * u)); }, 0.0, first, 5, 1e-15)};
  for (double y = first_anchor_; y < last;
       y = first_anchor_ + static_cast<double>(anchors_.size() - 1) * anchor_step) {
    const double a = std::exp(y + anchor_step);
    if (!(e2(a) > 0))
      throw InputError(
          fmt::format("cosmology: with omega_matter = {}, omega_lambda = {}, omega_radiation = {}, w0 = {}, "
                      "wa = {} space does "
                      "not expand at a scale factor of {:.3g}",
                      c.omega_matter, c.omega_lambda, c.omega_radiation, c.w0, c.wa, a));
    anchors_.push_back(anchors_.back() + time_in(std::exp(y), anchor_step));
  }
}

double Expansion::dark_energy(double a) const {
  const Cosmology& c = cosmology_;
  if (c.w0 == -1 && c.wa == 0) return c.omega_lambda;
  return c.omega_lambda * std::pow(a, -3 * (1 + c.w0 + c.wa)) * std::exp(-3 * c.wa * (1 - a));
}

double Expansion::e2(double a) const {
  const Cosmology& c = cosmology_;
  return ((c.omega_radiation / a + c.omega_matter) / a + c.omega_curvature()) / (a * a) + dark_energy(a);
}

/// d E^2 / d ln a.
double Expansion::e2_slope(double a) const {
  const Cosmology& c = cosmology_;
  return -((4 * c.omega_radiation / a + 3 * c.omega_matter) / a + 2 * c.omega_curvature()) / (a * a) -
         3 * (1 + c.w0 + c.wa * (1 - a)) * dark_energy(a);
}

double Expansion::hubble(double a) const { return cosmology_.hubble * std::sqrt(e2(a)); }
double Expansion::hubble_slope(double a) const { return 0.5 * e2_slope(a) / e2(a); }
double Expansion::omega_matter(double a) const { return cosmology_.omega_matter / (a * a * a * e2(a)); }

double Expansion::time_in(double a, double growth) const {
  return over_logarithm(a, growth, [&](double x) { return 1 / hubble(x); });
}

double Expansion::time(double a) const {
  const auto last = static_cast<double>(anchors_.size() - 1);
  const double number = std::clamp(std::floor((std::log(a) - first_anchor_) / anchor_step), 0.0, last);
  const double anchor = std::exp(first_anchor_ + number * anchor_step);
  return anchors_[static_cast<std::size_t>(number)] + time_in(anchor, std::log(a / anchor));
}

double Expansion::scale_factor(double time) const {
  const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), time);
  const auto number = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - anchors_.begin() - 1, 0));
  const double anchor = std::exp(first_anchor_ + static_cast<double>(number) * anchor_step);
  const double rest = time - anchors_[number];
  return anchor * std::exp(growth_near(rest * hubble(anchor), anchor, rest));
}

double Expansion::growth(double a, double time) const {
  const double short_guess = time * hubble(a);
  if (std::abs(short_guess) < anchor_step) return growth_near(short_guess, a, time);
  return growth_near(std::log(scale_factor(this->time(a) + time) / a), a, time);
}

/// By Newton's method, in which a step brings twice as many digits: the last one is not measured.
double Expansion::growth_near(double guess, double a, double time) const {
  for (int i = 0; i < 30; ++i) {
    const double change = (time - time_in(a, guess)) * hubble(a * std::exp(guess));
    guess += change;
    if (std::abs(change) <= 1e-9 * std::abs(guess)) break;
  }
  return guess;
}

Expansion::Factors Expansion::factors(double a, double growth) const {
  const auto integral = [&](auto&& power) {
    return over_logarithm(a, growth, [&](double x) { return power(x) / hubble(x); });
  };
  return {integral([](double) { return 1; }), integral([](double x) { return 1 / x; }),
          integral([](double x) { return 1 / (x * x); })};
}

}  // namespace grove
