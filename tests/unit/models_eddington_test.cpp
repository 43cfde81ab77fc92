#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "particles/models/eddington.hpp"
#include "particles/models/hernquist.hpp"
#include "support/model_measures.hpp"

namespace grove {
namespace {

using namespace test;

TEST(Profiles, slopes_are_the_derivatives_of_the_density) {
  const auto nfw = std::make_shared<NfwProfile>(1.0, 15.0, 1.0);
  const auto hernquist = std::make_shared<HernquistProfile>(1.0, 2.0);
  const TaperedProfile tapered(nfw, 15, 1.5);
  const auto check = [](const DensityProfile& p, double r) {
    constexpr double h = 1e-4;  // centred differences: h^2 / 6 of third derivatives, 25 / 1.5 of the taper at
                                // most, and 1e-16 * 32 / h^2 = 3e-7 of rounding
    const auto log_density = [&](double shift) { return std::log(p.density(r * std::exp(shift))); };
    EXPECT_NEAR((log_density(h) - log_density(-h)) / (2 * h), p.slope(r), 1e-6) << r;
    EXPECT_NEAR((log_density(h) - 2 * log_density(0) + log_density(-h)) / (h * h), p.curvature(r), 1e-6) << r;
  };
  for (const double r : {0.01, 0.5, 3.0, 14.0, 16.0, 25.0}) {
    check(*nfw, r);
    check(*hernquist, r);
    check(tapered, r);
  }
  // The curvature there is -15 / 1.5, times the shift of 1e-9; a root found to 2^-29 shifts the exponent
  // of 32.
  EXPECT_NEAR(tapered.slope(15), tapered.slope(15 * (1 + 1e-9)), 1e-7) << "continuous at rmax";
  EXPECT_NEAR(tapered.density(tapered.outer_radius()) / nfw->density(15), std::exp(-32.0),
              1e-6 * std::exp(-32.0));
}

TEST(SphericalPotential, of_an_nfw_sphere_is_analytic) {
  const auto profile = std::make_shared<NfwProfile>(1.0, 15.0, 1.0);
  const SphericalPotential sphere(2.0, {1e-6, 1e5}, [&](double r) { return profile->density(r); });
  // G = 2, M(15) = 1: phi = -G M / m(15) ln(1 + r) / r, with m(c) = ln(1 + c) - c / (1 + c).
  const double gm = 2 / (std::log(16.0) - 15.0 / 16);
  for (const double r : {1e-4, 0.03, 1.0, 15.0, 1e3}) {
    EXPECT_NEAR(sphere.gm(r) / (gm * (std::log1p(r) - r / (1 + r))), 1, 1e-6) << r;
    // r phi(0) = -r exactly; the cubic's error is 1e-8 and the innermost radius adds 1e-6 of itself.
    const double expected = gm * (r < 1e-3 ? r / 2 - r * r / 3 : 1 - std::log1p(r) / r);
    EXPECT_NEAR(sphere.potential(r) / expected, 1, 1e-6) << r;
  }
}

TEST(Eddington, gives_hernquists_analytic_distribution_function) {
  // A taper so far out that the sphere is the endless one for all particles that matter.
  const auto profile =
      std::make_shared<TaperedProfile>(std::make_shared<HernquistProfile>(1.0, 1.0), 1e4, 1e3);
  const auto potential = std::make_shared<SphericalPotential>(1.0, RadialGrid{1e-6, profile->outer_radius()},
                                                              [&](double r) { return profile->density(r); });
  const EddingtonModel model(profile, potential, "test");
  const HernquistModel analytic(1, 1, 50);
  // Equation 17 without its prefactor M / (8 sqrt(2) pi^3 a^3 v_g^3).
  const double factor = 1 / (8 * std::numbers::sqrt2 * std::pow(std::numbers::pi, 3));
  // Interpolated in 300 steps of h = 0.08 in ln r, with slopes to h^2 / 6 of third derivatives, a quarter of
  // h of that in between: h^3 / 24 where the third derivative of ln f is about one.
  for (const double energy : {1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.97})
    EXPECT_NEAR(model.distribution(energy) / (factor * analytic.distribution(energy)), 1, 2e-5) << energy;
}

/// m(x) = ln(1 + x) - x / (1 + x): the mass within x scale radii.
double nfw_mass(double x) { return std::log1p(x) - x / (1 + x); }

TEST(Nfw, mass_within_rmax_is_that_asked_for_and_follows_the_profile) {
  constexpr Count n = 40000;
  const Particles particles = make_particles(parameters("nfw", n));
  std::vector<double> inside;
  for (const double r : radii(particles))
    if (r < 15) inside.push_back(r);
  const double mass = static_cast<double>(inside.size()) * particles.mass[0];
  EXPECT_NEAR(mass, 1, 4 / std::sqrt(n)) << "binomial: less than 1 / sqrt(n)";
  const auto cumulative = [](double r) { return nfw_mass(r) / nfw_mass(15); };
  EXPECT_LT(distribution_distance(inside, cumulative), distribution_limit(inside.size()));
}

TEST(Nfw, velocity_dispersion_solves_the_jeans_equation) {
  constexpr Count n = 40000;
  const Particles particles = make_particles(parameters("nfw", n));
  const TaperedProfile profile(std::make_shared<NfwProfile>(1.0, 15.0, 1.0), 15, 1.5);
  const SphericalPotential potential(1, {1e-6, profile.outer_radius()},
                                     [&](double r) { return profile.density(r); });
  for (double low = 0.1; low < 25; low *= 1.5) {
    const double high = 1.2 * low;
    const Dispersion measured = dispersion(particles, low, high);
    if (measured.count < 100) continue;
    // rho sigma^2 = integral from r of rho G M / r d ln r, here by the midpoint rule in 1000 steps; averaged
    // over the shell with weight rho r^3, whose edges are known to half a step (the slope of sigma is below
    // 1).
    double pressure = 0, weighted = 0, weight = 0;
    const double step = std::log(profile.outer_radius() / low) / 1000;
    for (double x = std::log(profile.outer_radius()) - step / 2; x > std::log(low); x -= step) {
      const double r = std::exp(x);
      pressure += profile.density(r) * potential.gm(r) / r * step;
      if (r < high) weighted += pressure * r * r * r, weight += profile.density(r) * r * r * r;
    }
    const double expected = std::sqrt(weighted / weight);
    EXPECT_NEAR(measured.sigma, expected, expected * (4 / std::sqrt(6 * measured.count) + step / 2)) << low;
  }
}

TEST(Nfw, refuses_a_taper_too_short_for_a_positive_distribution_function) {
  // Also if f is negative only in a narrow range of energies beside rmax: it is for all tapers up to 0.6.
  ModelParameters p = parameters("nfw", 10);
  for (const double taper : {0.015, 0.1, 0.3, 0.4, 0.5, 0.6}) {
    p.taper = taper;
    try {
      make_model(p);
      FAIL() << taper << " must be refused";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("taper"), std::string::npos);
    }
  }
  for (const double taper : {0.7, 1.5, 15.0}) {
    p.taper = taper;
    EXPECT_NO_THROW(make_model(p)) << taper;
  }
}

}  // namespace
}  // namespace grove
