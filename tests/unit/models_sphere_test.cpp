#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "particles/models/hernquist.hpp"
#include "particles/models/plummer.hpp"
#include "support/model_measures.hpp"

namespace grove {
namespace {

using namespace test;

constexpr Count many = 40000;

TEST(Plummer, radii_follow_the_mass_profile_within_99_9_percent) {
  const Particles particles = make_particles(parameters("plummer", many));
  EXPECT_NEAR(particles.mass[0] * many, 0.999, 1e-12);
  const auto cumulative = [](double r) { return std::pow(1 + 1 / (r * r), -1.5) / 0.999; };
  EXPECT_LT(distribution_distance(radii(particles), cumulative), distribution_limit(many));
}

TEST(Hernquist, radii_follow_the_mass_profile_within_50_scale_lengths) {
  const Particles particles = make_particles(parameters("hernquist", many));
  const double enclosed = 2500.0 / (51 * 51);
  EXPECT_NEAR(particles.mass[0] * many, enclosed, 1e-12);
  const auto cumulative = [&](double r) { return r * r / ((r + 1) * (r + 1)) / enclosed; };
  EXPECT_LT(distribution_distance(radii(particles), cumulative), distribution_limit(many));
}

TEST(Hernquist, half_mass_radius_is_2_4142_a) {
  // The half-mass radius of the endless sphere: it holds half of M, not half of what truncation leaves.
  // The error of a quantile: sqrt(q (1 - q) / n) / (dM/dr), with dM/dr = 2 a r / (r + a)^3; four of them.
  std::vector<double> r = radii(make_particles(parameters("hernquist", many)));
  std::sort(r.begin(), r.end());
  const double q = 0.5 * 51 * 51 / 2500, half = 1 + std::numbers::sqrt2;
  const double slope = 2 * half / std::pow(1 + half, 3) * 51 * 51 / 2500;
  EXPECT_NEAR(r[static_cast<std::size_t>(q * many)], half, 4 * std::sqrt(q * (1 - q) / many) / slope);
}

TEST(Plummer, half_mass_radius_is_1_3048_a) {
  std::vector<double> r = radii(make_particles(parameters("plummer", many)));
  std::sort(r.begin(), r.end());
  const double q = 0.5 / 0.999, half = 1.3048;
  const double slope = 3 * half * half * std::pow(1 + half * half, -2.5);
  EXPECT_NEAR(r[static_cast<std::size_t>(q * many)], half, 4 * std::sqrt(q * (1 - q) / many) / slope);
}

/// Hernquist 1990, equation 10, with G = M = a = 1.
double hernquist_dispersion(double r) {
  const double s2 =
      12 * r * std::pow(1 + r, 3) * std::log1p(1 / r) - r / (1 + r) * (25 + r * (52 + r * (42 + r * 12)));
  return std::sqrt(s2 / 12);
}

TEST(Hernquist, velocity_dispersion_solves_the_jeans_equation) {
  const Particles particles = make_particles(parameters("hernquist", many));
  for (double low = 0.05; low < 10; low *= 1.5) {
    const double high = 1.2 * low;
    const Dispersion measured = dispersion(particles, low, high);
    // Sampling: 3 count components, of kurtosis at most 3 (the truncated tails are lighter than a
    // Gaussian's): sigma is known to 1/sqrt(6 count); four of these. The dispersion changes by less than 1 %
    // across half a shell of this width, and truncation at 50 a takes less than 1 % inside 10 a.
    const double expected = hernquist_dispersion(std::sqrt(low * high));
    EXPECT_NEAR(measured.sigma, expected, expected * (4 / std::sqrt(6 * measured.count) + 0.01)) << low;
  }
}

TEST(Plummer, velocity_dispersion_is_a_sixth_of_the_potential) {
  const Particles particles = make_particles(parameters("plummer", many));
  for (double low = 0.1; low < 5; low *= 1.5) {
    const double high = 1.2 * low;
    const Dispersion measured = dispersion(particles, low, high);
    const double expected = std::sqrt(1 / std::sqrt(1 + low * high) / 6);
    // As above; the dispersion's slope d ln sigma / d ln r is above -1/4, so half a shell is 2.5 %, and the
    // density's slope of up to -5 moves the mean radius by less than that.
    EXPECT_NEAR(measured.sigma, expected, expected * (4 / std::sqrt(6 * measured.count) + 0.01)) << low;
  }
}

TEST(Hernquist, is_in_virial_balance_but_for_the_missing_pressure_at_the_edge) {
  // W = -G M^2/(6 a) less what the truncated part would add: integral from 50 a of M(r) rho 4 pi r dr
  //   = 2 int r^2/(r+1)^5 dr = 2 [1/(2 s^2) - 2/(3 s^3) + 1/(4 s^4)] at s = 51.
  const double s = 51;
  const double potential = 1.0 / 6 - 2 * (1 / (2 * s * s) - 2 / (3 * s * s * s) + 1 / (4 * s * s * s * s));
  const Particles particles = make_particles(parameters("hernquist", many));
  // Noise of W: its terms have a variance of about W^2 / 2 (1/r is heavy-tailed at the centre, <1/r^2> is
  // finite to a logarithm); of T: chi^2, smaller. Four standard errors of 1 / sqrt(n), and 0.1 % of the edge.
  const double tolerance = 4 / std::sqrt(many) + 0.001;
  EXPECT_NEAR(spherical_potential_energy(particles) / -potential, 1, tolerance);
  EXPECT_NEAR(2 * kinetic_energy(particles) / potential, 1, tolerance);
}

TEST(Plummer, is_in_virial_balance) {
  const double potential = 3 * std::numbers::pi / 32;
  const Particles particles = make_particles(parameters("plummer", many));
  // One particle in 1000 of the mass is missing, twice in W; pressure at the edge is of that order too.
  const double tolerance = 4 / std::sqrt(many) + 0.003;
  EXPECT_NEAR(spherical_potential_energy(particles) / -potential, 1, tolerance);
  EXPECT_NEAR(2 * kinetic_energy(particles) / potential, 1, tolerance);
}

TEST(Hernquist, no_particle_escapes) {
  const HernquistModel sphere(1, 1, 50);
  for (const Count seed : {1, 2, 3}) {
    ModelParameters p = parameters("hernquist", 5000);
    p.seed = static_cast<std::uint64_t>(seed);
    const Model model = make_model(p);  // draws as they are: centring adds a mean of 1/sqrt(n)
    Particles particles;
    model.make(0, model.count(), particles);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      const double energy =
          0.5 * norm2(particles.velocity[i]) + sphere.potential(norm(particles.position[i]));
      EXPECT_LE(energy, sphere.greatest_energy() * (1 + 1e-12));
    }
  }
}

TEST(Spheres, scale_with_mass_length_and_the_constant_of_gravitation) {
  for (const char* name : {"plummer", "hernquist", "uniform-sphere"}) {
    ModelParameters p = parameters(name, 100);
    const Particles unit = make_particles(p);
    p.mass = 3;
    p.scale = 5;
    p.gravitational_constant = 7;
    const Particles scaled = make_particles(p);
    const double speed = std::sqrt(7.0 * 3 / 5);
    // A radius of up to s/(1 - s) = 50 amplifies the rounding of 1e-16 by as much; the sums that centre a
    // model are rounded to 2^-62 n of the reach. A speed is the root of a difference of energies rounded to
    // 1e-16.
    for (std::size_t i = 0; i < unit.size(); ++i) {
      EXPECT_NEAR(norm(scaled.position[i] - unit.position[i] * 5), 0, 1e-13 * norm(scaled.position[i]))
          << name;
      EXPECT_NEAR(norm(scaled.velocity[i] - unit.velocity[i] * speed), 0, 1e-8 * speed) << name;
      EXPECT_NEAR(scaled.mass[i], 3 * unit.mass[i], 1e-14) << name;
    }
  }
}

}  // namespace
}  // namespace grove
