#include "kernels/math/softening.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace grove {
namespace {

constexpr double h = 0.7, eps = h / spline_radius_over_softening;

SoftenedSeries<double> spline(double r) { return spline_series(r * r, 1 / r, 1 / h); }
SoftenedSeries<double> plummer(double r) { return plummer_series(1 / std::sqrt(r * r + eps * eps)); }

double term(const SoftenedSeries<double>& s, int n) {
  const double c[] = {s.c0, s.c1, s.c2, s.c3};
  return c[n] * std::pow(s.inverse, 2 * n + 1);
}

TEST(Softening, potential_at_no_distance_is_that_of_the_plummer_length) {
  EXPECT_DOUBLE_EQ(spline_pair(0., 0., 1 / h).potential, 1 / eps);
  EXPECT_DOUBLE_EQ(spline_pair(0., 0., 1 / h).force, 32. / 3 / (h * h * h));
  EXPECT_DOUBLE_EQ(plummer_pair(0., eps).potential, 1 / eps);
  EXPECT_DOUBLE_EQ(plummer_pair(0., eps).force, 1 / (eps * eps * eps));
}

TEST(Softening, spline_is_newtonian_from_its_radius_on) {
  for (const double r : {h, 1.3 * h, 100 * h}) {
    const auto s = spline(r);
    EXPECT_EQ(s.inverse, 1 / r);
    EXPECT_EQ(s.c0, 1);
    EXPECT_EQ(s.c1, 1);
    EXPECT_EQ(s.c2, 3);
    EXPECT_EQ(s.c3, 15);
  }
  const double infinite = 1 / 0.0;
  EXPECT_DOUBLE_EQ(spline_pair(4., 0.5, infinite).potential, 0.5) << "no softening";
  EXPECT_DOUBLE_EQ(spline_pair(4., 0.5, infinite).force, 0.125);
}

TEST(Softening, spline_is_continuous_at_half_its_radius_and_at_its_radius) {
  // All four terms are continuous there; each falls no faster than r^-7, so that a relative distance of 2 x
  // 1e-9 changes none by more than 1.4e-8 of it. The formulas cancel terms up to 130 times the result.
  for (const double r : {0.5 * h, h})
    for (int n = 0; n < 4; ++n) {
      const double inside = term(spline(r * (1 - 1e-9)), n), outside = term(spline(r * (1 + 1e-9)), n);
      EXPECT_NEAR(inside, outside, 2e-8 * std::abs(outside)) << r << ' ' << n;
    }
}

TEST(Softening, terms_are_derivatives_of_each_other) {
  // Central difference of relative step 1e-5: truncation up to 1e-10 times third derivatives of r^-n, n <= 5,
  // (5 * 6 * 7 / 6 = 35, over a first derivative of 5), and rounding of 1e-16 / 1e-5 times a cancellation of
  // up to 1e3 at the small distances.
  for (const double r : {0.1 * h, 0.3 * h, 0.45 * h, 0.6 * h, 0.95 * h, 1.5 * h})
    for (const auto& kernel : {std::function(spline), std::function(plummer)})
      for (int n = 0; n < 3; ++n) {
        const double d = 1e-5 * r;
        const double slope = (term(kernel(r + d), n) - term(kernel(r - d), n)) / (2 * d);
        EXPECT_NEAR(term(kernel(r), n + 1), -slope / r, 1e-7 * term(kernel(r), n + 1)) << r << ' ' << n;
      }
}

/// Integral of 4 pi u^2 W(u) over the spline density of total mass 1 and radius 1, by Simpson's rule, between
/// points on the same side of 1/2; exact up to the fourth derivative of polynomials of degree 5.
double mass_between(double from, double to) {
  const auto shell = [](double u) {
    const double w = u < 0.5 ? 1 - 6 * u * u + 6 * u * u * u : 2 * std::pow(1 - u, 3);
    return 32 * u * u * w;
  };
  constexpr int steps = 1000;
  const double step = (to - from) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i)
    sum += shell(from + i * step) + 4 * shell(from + (i + 0.5) * step) + shell(from + (i + 1) * step);
  return sum * step / 6;
}

TEST(Softening, spline_force_is_that_of_the_mass_inside) {
  // Simpson: (1/1000)^4 / 2880 * |f''''| (at most 1e4) < 1e-11.
  for (const double u : {0.05, 0.2, 0.4, 0.5, 0.7, 0.9, 1.0}) {
    const double mass = mass_between(0, std::min(u, 0.5)) + (u > 0.5 ? mass_between(0.5, u) : 0);
    const double r = u * h;
    EXPECT_NEAR(term(spline(r), 1) * r * r * r, mass, 1e-10) << u;
  }
}

TEST(Softening, pair_and_series_are_the_same_function) {
  // The series' powers of u cancel up to 1 / (15 u^3) against themselves: 1e-16 * 70 at u = 0.1.
  for (double r = 0.1 * h; r < 2 * h; r += 0.013) {
    const auto s = spline_pair(r * r, 1 / r, 1 / h);
    EXPECT_NEAR(term(spline(r), 0), s.potential, 1e-13 * s.potential);
    EXPECT_NEAR(term(spline(r), 1), s.force, 1e-13 * s.force);
    const auto p = plummer_pair(r * r, eps);
    EXPECT_DOUBLE_EQ(term(plummer(r), 0), p.potential);
    EXPECT_DOUBLE_EQ(term(plummer(r), 1), p.force);
  }
}

TEST(Softening, single_precision_is_exact_to_its_cancellation) {
  // Terms of the force add up to 120 / h^3 in magnitude, of the potential to 40 / h; a dozen roundings each.
  for (float r = 0.01f; r < 2; r += 0.01f) {
    const auto s = spline_pair(r * r, 1 / r, static_cast<float>(1 / h));
    const double exact = r;
    const auto d = spline_pair(exact * exact, 1 / exact, 1 / h);
    EXPECT_NEAR(s.force, d.force, 120 / (h * h * h) * 12 * 6e-8 + d.force * 1e-6);
    EXPECT_NEAR(s.potential, d.potential, 40 / h * 12 * 6e-8 + d.potential * 1e-6);
  }
}

}  // namespace
}  // namespace grove
