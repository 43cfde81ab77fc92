// The expansion of space and the growth of perturbations, beside closed forms.
#include "cosmology/expansion.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "cosmology/growth.hpp"

namespace grove {
namespace {

Cosmology with_lambda() { return {.omega_matter = 0.3, .omega_lambda = 0.7, .hubble = 0.07}; }
Cosmology with_radiation() {
  return {.omega_matter = 0.31,
          .omega_lambda = 0.68,
          .omega_radiation = 9e-5,
          .w0 = -0.9,
          .wa = 0.2,
          .hubble = 2};
}

void expect_near_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value / expected, 1, tolerance) << value << " instead of " << expected;
}

// Quadrature and sums of some hundred terms: relative roundings of 1e-14, and less than 1e-13 with those of
// the differences that are compared.
constexpr double rounding = 1e-13;

TEST(Expansion, of_matter_alone_has_closed_forms) {
  const double h0 = 0.1;
  const Expansion expansion({.hubble = h0});
  for (const double a : {1e-3, 0.02, 0.5, 1.0}) {
    expect_near_relative(expansion.hubble(a), h0 * std::pow(a, -1.5), rounding);
    expect_near_relative(expansion.time(a), 2. / 3 * std::pow(a, 1.5) / h0, rounding);
    expect_near_relative(expansion.scale_factor(2. / 3 * std::pow(a, 1.5) / h0), a, rounding);
    const double end = 1.7 * a;
    const Expansion::Factors all = expansion.factors(a, std::log(1.7));
    expect_near_relative(expansion.growth(a, all.time), std::log(1.7), rounding);
    expect_near_relative(expansion.growth(end, -all.time), -std::log(1.7), rounding);
    expect_near_relative(all.time, 2. / 3 * (std::pow(end, 1.5) - std::pow(a, 1.5)) / h0, rounding);
    expect_near_relative(all.kick, 2 * (std::sqrt(end) - std::sqrt(a)) / h0, rounding);
    expect_near_relative(all.drift, -2 * (1 / std::sqrt(end) - 1 / std::sqrt(a)) / h0, rounding);
  }
}

TEST(Expansion, of_matter_and_lambda_has_a_closed_age) {
  const Cosmology c = with_lambda();
  const Expansion expansion(c, 3);
  for (const double a : {1e-6, 1e-2, 0.3, 1.0, 3.0}) {
    const double root = std::sqrt(c.omega_lambda / c.omega_matter);
    const double age = 2 / (3 * c.hubble * std::sqrt(c.omega_lambda)) * std::asinh(root * std::pow(a, 1.5));
    expect_near_relative(expansion.time(a), age, rounding);
    expect_near_relative(expansion.scale_factor(age), a, rounding);
  }
}

TEST(Expansion, of_matter_and_radiation_has_a_closed_age) {
  const Cosmology c{.omega_matter = 0.9, .omega_radiation = 0.1, .hubble = 1};
  const Expansion expansion(c);
  for (const double a : {1e-9, 1e-4, 0.1, 1.0}) {
    // t = 2/3 ((x - 2) sqrt(1 + x) + 2) in units of a_eq^1.5 / (H0 sqrt(Omega_m)), x = a / a_eq. For small x
    // the terms cancel: the series x^2/2 - x^3/6 + 3 x^4/32 there.
    const double equal = c.omega_radiation / c.omega_matter, x = a / equal;
    const double closed = x < 0.01 ? x * x * (0.5 - x * (1. / 6 - x * (3. / 32 - x / 16)))
                                   : 2. / 3 * ((x - 2) * std::sqrt(1 + x) + 2);
    // The next term of the series is 0.05 x^6 at x = 0.0009 and less.
    expect_near_relative(expansion.time(a), closed * std::pow(equal, 1.5) / std::sqrt(c.omega_matter), 1e-11);
  }
}

TEST(Expansion, factors_of_the_shortest_steps_are_exact) {
  const Expansion expansion(with_lambda());
  const double a = 0.3, age = expansion.time(a), slope = expansion.hubble_slope(a), h = expansion.hubble(a);
  for (const int power : {10, 20, 40}) {
    const double step = std::ldexp(age, -power), growth = expansion.growth(a, step), x = step * h;
    // Series in x = H dt, of which the next term is x^3 times a number of order 1.
    const double rest = std::pow(x, 2) + rounding;
    expect_near_relative(growth, x * (1 + slope * x / 2), rest);
    const Expansion::Factors all = expansion.factors(a, growth);
    expect_near_relative(all.time, step, rounding);
    expect_near_relative(all.kick, step / a * (1 - x / 2), rest);
    expect_near_relative(all.drift, step / (a * a) * (1 - x), 2 * rest);
  }
}

TEST(Expansion, slope_is_that_of_hubble) {
  for (const Cosmology& c : {with_lambda(), with_radiation(), Cosmology{.omega_matter = 0.2, .hubble = 3}}) {
    const Expansion expansion(c);
    for (const double a : {1e-5, 1e-3, 0.2, 1.0}) {
      // Central differences err by h^2 / 6 times the third derivative, which is of order 1 to 10, and by
      // 1e-16 / h.
      const double h = 1e-4;
      const double difference =
          (std::log(expansion.hubble(a * std::exp(h))) - std::log(expansion.hubble(a * std::exp(-h)))) /
          (2 * h);
      EXPECT_NEAR(expansion.hubble_slope(a), difference, 1e-7);
    }
    expect_near_relative(expansion.hubble(1), c.hubble, 1e-15);
  }
}

TEST(Expansion, refuses_universes_that_do_not_come_from_a_big_bang) {
  EXPECT_THROW(Expansion({.omega_matter = 0}), InputError);
  EXPECT_THROW(Expansion({.omega_matter = 0.3, .omega_lambda = 2.5}), InputError);  // it bounces
  EXPECT_THROW(Expansion({.omega_matter = 2}, 3), InputError);                      // it collapses at a = 2
  EXPECT_NO_THROW(Expansion({.omega_matter = 2}, 1.8));
  EXPECT_THROW(Expansion({.omega_radiation = -1e-5}), InputError);
  EXPECT_THROW(Expansion({.hubble = 0}), InputError);
}

/// D1 by quadrature, where dark energy is constant and there is no radiation (Heath 1977, MNRAS 179, 351).
Growth by_quadrature(const Expansion& expansion, double a) {
  const Cosmology& c = expansion.cosmology();
  const auto e = [&](double x) { return expansion.hubble(x) / c.hubble; };
  const double integral = boost::math::quadrature::tanh_sinh<double>().integrate(
      [&](double x) { return x == 0 ? 0 : std::pow(x * e(x), -3); }, 0.0, a, 1e-13);
  const double first = 2.5 * c.omega_matter * e(a) * integral;
  return {first, expansion.hubble_slope(a) + 2.5 * c.omega_matter / (a * a * e(a) * e(a)) / first, 0, 0};
}

TEST(Growth, is_that_of_quadrature) {
  for (const Cosmology& c : {with_lambda(), Cosmology{.omega_matter = 0.3, .hubble = 5}, Cosmology{}}) {
    const Expansion expansion(c);
    for (const double a : {1e-3, 0.02, 0.5, 1.0}) {
      const Growth growth = growth_at(expansion, a), expected = by_quadrature(expansion, a);
      expect_near_relative(growth.first, expected.first, 1e-8);
      expect_near_relative(growth.first_rate, expected.first_rate, 1e-8);
    }
  }
}

TEST(Growth, of_matter_alone_is_a_power) {
  const Growth growth = growth_at(Expansion({}), 0.3);
  expect_near_relative(growth.first, 0.3, 1e-9);
  expect_near_relative(growth.first_rate, 1, 1e-9);
  expect_near_relative(growth.second, -3. / 7 * 0.09, 1e-9);
  expect_near_relative(growth.second_rate, 2, 1e-9);
}

// Near a = 1 of a flat universe D2 = -3/7 D1^2 Omega_m(a)^(-1/143), to 0.3 % (Bouchet et al. 1995).
TEST(Growth, of_second_order_follows_the_fit) {
  const Expansion expansion(with_lambda());
  for (const double a : {0.3, 1.0}) {
    const Growth growth = growth_at(expansion, a);
    expect_near_relative(
        growth.second, -3. / 7 * growth.first * growth.first * std::pow(expansion.omega_matter(a), -1. / 143),
        3e-3);
    // d ln D2 / d ln a = 2 Omega_m^(6/11), to 1 %.
    expect_near_relative(growth.second_rate, 2 * std::pow(expansion.omega_matter(a), 6. / 11), 1e-2);
  }
}

// Where there are only matter and radiation D1 is 2/3 a_eq + a, with constant rate (Meszaros 1974).
TEST(Growth, with_radiation_begins_late) {
  const Cosmology c{.omega_matter = 1 - 3e-4, .omega_radiation = 3e-4, .hubble = 1};
  const Expansion expansion(c);
  const double equal = c.omega_radiation / c.omega_matter;
  for (const double a : {1e-4, 1e-2, 1.0}) {
    const Growth growth = growth_at(expansion, a);
    expect_near_relative(growth.first, a + 2. / 3 * equal, 1e-8);
    expect_near_relative(growth.first_rate, a / (a + 2. / 3 * equal), 1e-8);
  }
}

}  // namespace
}  // namespace grove
