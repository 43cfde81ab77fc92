#include "tuning/growth_fit.hpp"

#include <cmath>

namespace grove {
namespace {

using Points = std::span<const GrowthPoint>;

// All laws need these first: the weighted means, and the spread of the ages about theirs.
struct Summary {
  int points = 0;
  double weight = 0, age = 0, cost = 0;
  double spread = 0;       // sum of weight * (age - mean)^2
  double age_square = 0;   // sum of weight * age^2
  double cost_square = 0;  // sum of weight * cost^2
  bool positive = true;    // all costs

  // Ages are not all the same, up to the rounding of their mean.
  bool spreads() const { return spread > 1e-24 * age_square; }
};

Summary summarize(Points points) {
  Summary s;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    ++s.points;
    s.weight += p.weight;
    s.age += p.weight * p.age;
    s.cost += p.weight * p.cost;
    s.age_square += p.weight * p.age * p.age;
    s.cost_square += p.weight * p.cost * p.cost;
    s.positive = s.positive && p.cost > 0;
  }
  s.age /= s.weight;
  s.cost /= s.weight;
  for (const GrowthPoint& p : points)
    if (p.weight > 0) s.spread += p.weight * (p.age - s.age) * (p.age - s.age);
  return s;
}

// chi-square of a fit. Residuals of 1e-12 of the cost are rounding of the sums (some 1e-16 a term, up to
// hundreds of terms): they count as none, so that exact data tie and the simplest law wins.
double chi_square(const GrowthFit& fit, Points points, const Summary& s) {
  double sum = 0;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    const double residual = p.cost - fit.cost(p.age);
    sum += p.weight * residual * residual;
  }
  return sum > 1e-24 * s.cost_square ? sum : 0;
}

GrowthFit fit_linear(Points points, const Summary& s) {
  double slope = 0;
  for (const GrowthPoint& p : points)
    if (p.weight > 0) slope += p.weight * (p.age - s.age) * (p.cost - s.cost);
  slope /= s.spread;
  return {GrowthLaw::linear, {s.cost - slope * s.age, slope, 0}, 0, s.points - 2};
}

// By the polynomials that are orthogonal on the points (Forsythe 1957): 1, u = age - mean, u^2 - shift u -
// mean of u^2. Nothing if the last one vanishes on the points, which then have two ages only.
std::optional<GrowthFit> fit_parabola(Points points, const Summary& s) {
  const GrowthFit line = fit_linear(points, s);
  const double mean = s.spread / s.weight;
  double shift = 0;
  for (const GrowthPoint& p : points) {
    const double u = p.age - s.age;
    if (p.weight > 0) shift += p.weight * u * u * u;
  }
  shift /= s.spread;
  double norm = 0, scale = 0, projection = 0;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    const double u = p.age - s.age, q = u * u - shift * u - mean;
    norm += p.weight * q * q;
    scale += p.weight * u * u * u * u;
    projection += p.weight * q * p.cost;
  }
  if (!(norm > 1e-24 * scale)) return std::nullopt;
  const double c = projection / norm;
  const double a = line.coefficients[0] + c * (s.age * (s.age + shift) - mean);
  const double b = line.coefficients[1] - c * (2 * s.age + shift);
  return GrowthFit{GrowthLaw::parabolic, {a, b, c}, 0, s.points - 3};
}

// Starting value of the power law: a line through the logarithms, whose errors are those of the costs over
// the costs.
GrowthFit fit_logarithms(Points points, const Summary& s) {
  double weight = 0, age = 0, log = 0, spread = 0, slope = 0;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    const double w = p.weight * p.cost * p.cost;
    weight += w;
    age += w * p.age;
    log += w * std::log(p.cost);
  }
  age /= weight;
  log /= weight;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    const double w = p.weight * p.cost * p.cost;
    spread += w * (p.age - age) * (p.age - age);
    slope += w * (p.age - age) * std::log(p.cost);
  }
  slope /= spread;
  return {GrowthLaw::power, {std::exp(log - slope * age), std::exp(slope), 0}, 0, s.points - 2};
}

// One step of Gauss and Newton in a and log r.
GrowthFit improved(const GrowthFit& fit, Points points) {
  const double a = fit.coefficients[0], r = fit.coefficients[1];
  double aa = 0, ak = 0, kk = 0, ay = 0, ky = 0;
  for (const GrowthPoint& p : points) {
    if (!(p.weight > 0)) continue;
    const double da = std::pow(r, p.age), dk = a * p.age * da, residual = p.cost - a * da;
    aa += p.weight * da * da;
    ak += p.weight * da * dk;
    kk += p.weight * dk * dk;
    ay += p.weight * da * residual;
    ky += p.weight * dk * residual;
  }
  const double determinant = aa * kk - ak * ak;
  GrowthFit next = fit;
  next.coefficients[0] = a + (ay * kk - ky * ak) / determinant;
  next.coefficients[1] = r * std::exp((ky * aa - ay * ak) / determinant);
  return next;
}

// Least squares in the cost itself: the weights are those of the costs, and the laws are compared by
// chi-square of the costs. A fit of the logarithms would minimise something else and lose the comparison for
// that alone.
GrowthFit fit_power(Points points, const Summary& s) {
  GrowthFit fit = fit_logarithms(points, s);
  fit.chi_square = chi_square(fit, points, s);
  for (int i = 0; i < 16; ++i) {  // 3 to 5 steps for growth by factors of a few
    GrowthFit next = improved(fit, points);
    next.chi_square = chi_square(next, points, s);
    if (!(next.chi_square < fit.chi_square)) break;
    fit = next;
  }
  return fit;
}

}  // namespace

double GrowthFit::cost(double age) const {
  const auto [a, b, c] = coefficients;
  return law == GrowthLaw::power ? a * std::pow(b, age) : a + age * (b + age * c);
}

std::optional<GrowthFit> fit_growth(GrowthLaw law, Points points) {
  const Summary s = summarize(points);
  if (s.points < (law == GrowthLaw::parabolic ? 4 : 3) || !s.spreads()) return std::nullopt;
  if (law == GrowthLaw::power) {
    if (!s.positive) return std::nullopt;
    return fit_power(points, s);
  }
  std::optional<GrowthFit> fit = law == GrowthLaw::linear ? fit_linear(points, s) : fit_parabola(points, s);
  if (fit) fit->chi_square = chi_square(*fit, points, s);
  return fit;
}

std::optional<GrowthFit> best_growth_fit(Points points) {
  std::optional<GrowthFit> best;
  for (const GrowthLaw law : {GrowthLaw::linear, GrowthLaw::power, GrowthLaw::parabolic}) {
    const std::optional<GrowthFit> fit = fit_growth(law, points);
    if (!fit || (law == GrowthLaw::parabolic && fit->coefficients[2] < 0)) continue;
    if (!best || fit->reduced_chi_square() < best->reduced_chi_square()) best = fit;
  }
  return best;
}

}  // namespace grove
