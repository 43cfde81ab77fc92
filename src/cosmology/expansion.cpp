#include "cosmology/expansion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
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

template <class Integrand>
double over_logarithm(double from, double to, const Integrand& integrand) {
  const int parts = std::max(1, static_cast<int>(std::ceil((to - from) / anchor_step)));
  double sum = 0;
  for (int i = 0; i < parts; ++i) {
    const double left = from + (to - from) * i / parts, right = from + (to - from) * (i + 1) / parts;
    sum += boost::math::quadrature::gauss<double, 15>::integrate(
        [&](double y) { return integrand(std::exp(y)); }, left, right);
  }
  return sum;
}

}  // namespace

Expansion::Expansion(const Cosmology& cosmology, double largest_scale_factor) : cosmology_(cosmology) {
  const Cosmology& c = cosmology_;
  if (!(c.omega_matter > 0))
    throw InputError(fmt::format("cosmology.omega_matter = {} must be positive", c.omega_matter));
  if (!(c.omega_radiation >= 0))
    throw InputError(fmt::format("cosmology.omega_radiation = {} must not be negative", c.omega_radiation));
  if (!(c.hubble > 0)) throw InputError("cosmology: the Hubble constant must be positive");
  first_anchor_ = std::log(least_scale_factor);
  const double last = std::log(std::max(largest_scale_factor, 1.0)) + anchor_step;
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
    anchors_.push_back(anchors_.back() +
                       over_logarithm(y, y + anchor_step, [&](double x) { return 1 / hubble(x); }));
  }
}

double Expansion::e2(double a) const {
  const Cosmology& c = cosmology_;
  const double dark = c.omega_lambda * std::pow(a, -3 * (1 + c.w0 + c.wa)) * std::exp(-3 * c.wa * (1 - a));
  return ((c.omega_radiation / a + c.omega_matter) / a + c.omega_curvature()) / (a * a) + dark;
}

/// d E^2 / d ln a.
double Expansion::e2_slope(double a) const {
  const Cosmology& c = cosmology_;
  const double dark = c.omega_lambda * std::pow(a, -3 * (1 + c.w0 + c.wa)) * std::exp(-3 * c.wa * (1 - a));
  return -((4 * c.omega_radiation / a + 3 * c.omega_matter) / a + 2 * c.omega_curvature()) / (a * a) -
         3 * (1 + c.w0 + c.wa * (1 - a)) * dark;
}

double Expansion::hubble(double a) const { return cosmology_.hubble * std::sqrt(e2(a)); }
double Expansion::hubble_slope(double a) const { return 0.5 * e2_slope(a) / e2(a); }
double Expansion::omega_matter(double a) const { return cosmology_.omega_matter / (a * a * a * e2(a)); }

double Expansion::time(double a) const {
  const double y = std::log(a);
  const auto last = static_cast<double>(anchors_.size() - 1);
  const double number = std::clamp(std::floor((y - first_anchor_) / anchor_step), 0.0, last);
  const double from = first_anchor_ + number * anchor_step;
  return anchors_[static_cast<std::size_t>(number)] +
         over_logarithm(from, y, [&](double x) { return 1 / hubble(x); });
}

/// By Newton's method, from the last anchor before that time.
double Expansion::scale_factor(double time) const {
  const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), time);
  const auto number = static_cast<double>(std::max<std::ptrdiff_t>(after - anchors_.begin() - 1, 0));
  double y = first_anchor_ + number * anchor_step;
  for (int i = 0; i < 50; ++i) {
    const double a = std::exp(y), change = (time - this->time(a)) * hubble(a);
    y += std::clamp(change, -1.0, 1.0);
    if (std::abs(change) < 1e-15 * std::max(1.0, std::abs(y))) break;
  }
  return std::exp(y);
}

Expansion::Factors Expansion::factors(double begin, double end) const {
  const double from = std::log(begin), to = std::log(end);
  const auto integral = [&](int power) {
    return over_logarithm(from, to, [&](double a) { return std::pow(a, -power) / hubble(a); });
  };
  return {integral(0), integral(1), integral(2)};
}

/// Where both ends are rounded, so is what lies between, but the means of 1 / a and 1 / a^2 there hardly are.
Expansion::Factors Expansion::factors(double begin, double end, double time) const {
  const Factors rounded = factors(begin, end);
  if (!(rounded.time > 0)) return {time, time / begin, time / (begin * begin)};
  return {time, time * (rounded.kick / rounded.time), time * (rounded.drift / rounded.time)};
}

}  // namespace grove
