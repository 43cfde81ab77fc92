#include "kernels/math/potentials.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace grove {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr Vec3d centre{0.5, -1, 2};

struct NamedPotential {
  std::string name;
  ExternalPotential potential;
};

const std::vector<NamedPotential>& named_potentials() {
  using enum PotentialKind;
  static const std::vector<NamedPotential> all = {
      {"point mass", {.kind = point_mass, .centre = centre, .strength = 2}},
      {"softened point mass", {.kind = point_mass, .centre = centre, .strength = 2, .scale = 1.4}},
      {"plummer", {.kind = plummer, .centre = centre, .strength = 2, .scale = 0.7}},
      {"hernquist", {.kind = hernquist, .centre = centre, .strength = 2, .scale = 0.7}},
      {"nfw", {.kind = nfw, .centre = centre, .strength = 2, .scale = 0.7, .second = never}},
      {"nfw that ends", {.kind = nfw, .centre = centre, .strength = 2, .scale = 0.7, .second = 1.5}},
      {"miyamoto-nagai",
       {.kind = miyamoto_nagai, .centre = centre, .strength = 2, .scale = 1, .second = 0.4}},
      {"logarithmic", {.kind = logarithmic, .centre = centre, .strength = 2, .scale = 0.5, .second = 0.8}},
      {"uniform", {.kind = uniform, .centre = centre, .acceleration = {0.3, -0.2, 0.7}}},
  };
  return all;
}

/// Differences of fourth order: h^4 / 30 of the fifth derivative, which for potentials of up to 4 that vary
/// over lengths of at least L = 0.4 is below 5! 4 / L^5 = 5e4, so 2e-9 for h = 1e-3; and rounding, 1.5 2^-52
/// 4 / h = 1e-12. The density and the second derivative jump where the density ends: places within 2 h are
/// left out.
TEST(Potentials, accelerations_are_minus_the_gradient) {
  constexpr double h = 1e-3, tolerance = 5e-9;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-3, 3);
  for (const auto& [name, potential] : named_potentials())
    for (int i = 0; i < 100; ++i) {
      const Vec3d d{uniform(random), uniform(random), uniform(random)};
      if (norm(d) < 0.4 || std::abs(norm(d) - potential.second) < 2 * h) continue;
      const Vec3d place = centre + d, acceleration = field_at(potential, place).acceleration;
      for (int axis = 0; axis < 3; ++axis) {
        const auto phi = [&, axis](double step) {
          Vec3d there = place;
          there[axis] += step;
          return field_at(potential, there).potential;
        };
        const double slope = (8 * (phi(h) - phi(-h)) - (phi(2 * h) - phi(-2 * h))) / (12 * h);
        ASSERT_NEAR(acceleration[axis], -slope, tolerance) << name << " " << norm(d) << " " << axis;
      }
    }
}

double mass_within(const std::string& name, double r) {
  const double a = 0.7, m = 2;
  const auto nfw_mass = [&](double x) { return m * (std::log(1 + x) - x / (1 + x)); };
  if (name == "point mass") return m;
  if (name == "plummer") return m * std::pow(1 + a * a / (r * r), -1.5);
  if (name == "hernquist") return m * r * r / ((r + a) * (r + a));
  return nfw_mass(std::min(r, name == "nfw" ? never : 1.5) / a);
}

/// To 2^-53 times a few; 1 + x and nfw's two terms, which cancel to x^2 / 2, lose three digits at x = 0.03.
TEST(Potentials, spheres_pull_with_the_mass_inside) {
  for (const auto& [name, potential] : named_potentials()) {
    if (name != "point mass" && name != "plummer" && name != "hernquist" && !name.starts_with("nfw"))
      continue;
    for (const double r : {0.02, 0.3, 1.0, 1.49, 1.51, 20.0}) {
      const FieldAt at = field_at(potential, centre + r * Vec3d{0.6, 0, -0.8});
      const double expected = mass_within(name, r) / (r * r);
      EXPECT_NEAR(-at.acceleration.x, 0.6 * expected, 1e-12 * expected) << name << " " << r;
      EXPECT_NEAR(at.acceleration.z, 0.8 * expected, 1e-12 * expected) << name << " " << r;
      EXPECT_EQ(at.acceleration.y, 0) << name << " " << r;
    }
  }
}

/// Beyond the spline no rounding tells them apart.
TEST(Potentials, softened_point_mass_is_the_spline) {
  const ExternalPotential hard = named_potentials()[0].potential, soft = named_potentials()[1].potential;
  const Vec3d outside = centre + Vec3d{0, 1.5, 0};
  EXPECT_DOUBLE_EQ(field_at(soft, outside).acceleration.y, field_at(hard, outside).acceleration.y);
  EXPECT_DOUBLE_EQ(field_at(soft, outside).potential, -2 / 1.5);
  EXPECT_DOUBLE_EQ(field_at(soft, centre).potential, -2 / 0.5) << "-G M / eps, h = 2.8 eps";
}

TEST(Potentials, are_finite_at_their_centres) {
  for (const auto& [name, potential] : named_potentials()) {
    if (potential.kind == PotentialKind::uniform) continue;
    const FieldAt at = field_at(potential, centre);
    EXPECT_EQ(at.acceleration, (Vec3d{0, 0, 0})) << name;
    EXPECT_TRUE(std::isfinite(at.potential)) << name;
    // phi differs by at most |a| r, and |a| is at most 4.1 there but for the unsoftened point mass.
    if (name != "point mass") {
      EXPECT_NEAR(field_at(potential, centre + Vec3d{1e-6, 0, 0}).potential, at.potential, 1e-5) << name;
    }
  }
}

TEST(Potentials, halo_that_ends_goes_on_as_a_point_mass) {
  const ExternalPotential halo = named_potentials()[5].potential;
  const double mass = mass_within("nfw that ends", 10);
  for (const double r : {1.5 * (1 + 1e-12), 4.0})
    EXPECT_NEAR(field_at(halo, centre + Vec3d{0, 0, r}).potential, -mass / r, 1e-11 * mass) << r;
  EXPECT_NEAR(field_at(halo, centre + Vec3d{0, 0, 1.5 * (1 - 1e-12)}).potential, -mass / 1.5, 1e-11 * mass);
}

/// The terms outside of the series cancel to 2^-53 2 / x = 2e-13 of the difference at x = 1e-3.
TEST(Potentials, series_of_the_halos_core_joins_the_formula) {
  EXPECT_NEAR(potentials::nfw_mass_over_x2(1e-3 * (1 - 1e-15)) / potentials::nfw_mass_over_x2(1e-3), 1,
              1e-12);
}

TEST(Potentials, disk_without_a_length_is_a_plummer_sphere) {
  ExternalPotential disk = named_potentials()[6].potential, sphere = named_potentials()[2].potential;
  disk.scale = 0;
  disk.second = sphere.scale;
  const FieldAt a = field_at(disk, {1, 2, 2.5}), b = field_at(sphere, {1, 2, 2.5});
  EXPECT_DOUBLE_EQ(a.potential, b.potential);
  for (int axis = 0; axis < 3; ++axis) EXPECT_DOUBLE_EQ(a.acceleration[axis], b.acceleration[axis]);
}

TEST(Potentials, add_up) {
  std::vector<ExternalPotential> list;
  FieldAt expected{{0, 0, 0}, 0};
  for (const auto& [name, potential] : named_potentials()) {
    list.push_back(potential);
    const FieldAt one = field_at(potential, {1, 1, 1});
    expected.acceleration += one.acceleration;
    expected.potential += one.potential;
  }
  const ExternalField field{list.data(), static_cast<int>(list.size())};
  EXPECT_EQ(field.at({1, 1, 1}).acceleration, expected.acceleration);
  EXPECT_EQ(field.at({1, 1, 1}).potential, expected.potential);
  EXPECT_EQ(ExternalField{}.added({1, 2, 3}, {1, 1, 1}), (Vec3f{1, 2, 3}));
}

}  // namespace
}  // namespace grove
