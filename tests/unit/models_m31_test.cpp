#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/units.hpp"
#include "particles/models/galaxy.hpp"
#include "support/model_measures.hpp"

namespace grove {
namespace {

using namespace test;

// 1e10 Msun and kpc: Miki and Umemura 2017.
constexpr double halo_mass = 81.1, halo_scale = 7.63, bulge_mass = 3.24, bulge_scale = 0.61;
constexpr double disk_mass = 3.66, disk_scale = 5.4, disk_height = 0.6;
constexpr double total_mass = halo_mass + bulge_mass + disk_mass;

/// rho ~ 1 / (x (1 + x)^n) out to x = edge, beyond which it falls off over edge / 10 with a continuous slope;
/// masses by the midpoint rule.
class Sphere {
 public:
  Sphere(double mass, double scale, int n, double edge) : scale_(scale), n_(n), edge_(edge) {
    for (double log_x = first; log_x < std::log(8 * edge); log_x += step) {
      const double x = std::exp(log_x + 0.5 * step);
      within_.push_back((within_.empty() ? 0 : within_.back()) + step * x * x * x * shape(x));
    }
    factor_ = mass / within_.back();
  }
  double within(double r) const {
    const auto i = static_cast<std::size_t>((std::log(r / scale_) - first) / step + 0.5);
    return factor_ * within_[std::min(i, within_.size()) - 1];
  }
  double density(double r) const {
    return factor_ * shape(r / scale_) / (4 * std::numbers::pi * std::pow(scale_, 3));
  }

 private:
  static constexpr double first = -14, step = 1e-3;
  double shape(double x) const {
    if (x > edge_) {
      const double slope = -(1 + (n_ + 1) * edge_) / (1 + edge_);
      return shape(edge_) * std::pow(x / edge_, slope + 10) * std::exp(-10 * (x / edge_ - 1));
    }
    return 1 / (x * std::pow(1 + x, n_));
  }
  double scale_;
  int n_;
  double edge_, factor_ = 0;
  std::vector<double> within_;
};

const Sphere& halo() {
  static const Sphere sphere(halo_mass, halo_scale, 2, 20);
  return sphere;
}
const Sphere& bulge() {
  static const Sphere sphere(bulge_mass, bulge_scale, 3, 50);
  return sphere;
}

double spread_disk_within(double r) {
  const double x = r / disk_scale;
  return disk_mass * (1 - (1 + x) * std::exp(-x));
}

/// In galactic units.
ModelParameters m31(Count n) {
  ModelParameters p = parameters("m31", n);
  p.gravitational_constant = Units::galactic().gravitational_constant;
  return p;
}

/// 200,000 particles in galactic units: 184,319 of the halo, 8,318 of the disk, 7,363 of the bulge.
const Particles& galaxy() {
  static const Particles particles = make_particles(m31(200000));
  return particles;
}

std::vector<std::size_t> indices_of_type(const Particles& all, std::uint8_t type) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all.type[i] == type) result.push_back(i);
  return result;
}

/// Around halo, bulge and disk, the mean over the disk's height.
CircularMotion rotation_at(double radius) {
  const double g = Units::galactic().gravitational_constant;
  static const SphericalPotential spheres(g, RadialGrid{1e-6, 500},
                                          [](double r) { return halo().density(r) + bulge().density(r); });
  return circular_motion({g * disk_mass, disk_scale, disk_height, 1.8}, spheres, radius);
}

TEST(M31, parts_have_their_masses_and_all_particles_the_same) {
  for (const Count n : {101, 1001, 200000}) {
    const Particles p = n == 200000 ? galaxy() : make_particles(m31(n));
    ASSERT_EQ(static_cast<Count>(p.size()), n);
    double mass[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_DOUBLE_EQ(p.mass[i], p.mass[0]) << i;
      mass[p.type[i]] += p.mass[i];
    }
    EXPECT_NEAR(mass[1] + mass[2] + mass[3], total_mass, 1e-9);
    // The disk's and the bulge's are rounded down to whole particles, the halo has what is left.
    EXPECT_NEAR(mass[1], halo_mass, 2 * p.mass[0]) << n;
    EXPECT_NEAR(mass[2], disk_mass, p.mass[0]) << n;
    EXPECT_NEAR(mass[3], bulge_mass, p.mass[0]) << n;
  }
}

TEST(M31, mass_and_scale_are_the_units_of_the_whole_galaxy) {
  ModelParameters p = m31(1001);
  const Particles galactic = make_particles(p);
  p.gravitational_constant = 1;
  p.mass = 4;
  p.scale = 0.25;
  const Particles other = make_particles(p);
  const double speed = std::sqrt(16 / Units::galactic().gravitational_constant);
  for (std::size_t i = 0; i < other.size(); ++i) {
    EXPECT_NEAR(other.mass[i] / (4 * galactic.mass[i]), 1, 1e-12);
    // The same draws; roots and tables are found to 1e-9 or better.
    EXPECT_LT(norm(other.position[i] - galactic.position[i] * 0.25), 1e-8 * norm(other.position[i]));
    EXPECT_LT(norm(other.velocity[i] - galactic.velocity[i] * speed), 1e-6 * norm(other.velocity[i]));
  }
}

/// Counts particles within some radii; 4 standard deviations of Poisson's distribution.
void expect_within(std::uint8_t type, const Sphere& sphere, std::initializer_list<double> radii) {
  const Particles& p = galaxy();
  for (const double r : radii) {
    double inside = 0;
    for (const std::size_t i : indices_of_type(p, type)) inside += norm(p.position[i]) < r;
    const double expected = sphere.within(r) / p.mass[0];
    EXPECT_NEAR(inside, expected, 4 * std::sqrt(expected)) << "within " << r;
  }
}

TEST(M31, halo_is_nfw_and_bulge_hernquist) {
  expect_within(1, halo(), {1, 3, 7.63, 20, 50, 100, 150, 200});
  expect_within(3, bulge(), {0.1, 0.3, 0.61, 2, 5, 20, 30});
}

TEST(M31, disk_is_exponential_with_a_sech2_height) {
  const Particles& p = galaxy();
  std::vector<double> radius, height;
  for (const std::size_t i : indices_of_type(p, 2)) {
    radius.push_back(std::hypot(p.position[i].x, p.position[i].y));
    height.push_back(p.position[i].z);
  }
  const double all = spread_disk_within(10 * disk_scale);
  EXPECT_LT(
      distribution_distance(radius, [&](double r) { return std::min(1.0, spread_disk_within(r) / all); }),
      distribution_limit(radius.size()));
  EXPECT_LT(distribution_distance(height, [](double z) { return 0.5 * (1 + std::tanh(z / disk_height)); }),
            distribution_limit(height.size()));
}

TEST(M31, every_part_is_in_virial_balance) {
  // <v^2> = <x . grad phi> in the field that each part was made for: the disk spread over spheres for halo
  // and bulge; for the disk, in its plane, its own field and that of the spheres. Terms of single particles
  // are independent: 4 standard deviations of their sum.
  const Particles& p = galaxy();
  const double g = Units::galactic().gravitational_constant;
  const auto expect_balance = [&](std::uint8_t type, double noise, const auto& kinetic, const auto& virial) {
    double sum = 0, square = 0, energy = 0;
    for (const std::size_t i : indices_of_type(p, type)) {
      const double term = kinetic(p.velocity[i]) - virial(p.position[i]);
      sum += term;
      square += term * term;
      energy += kinetic(p.velocity[i]);
    }
    EXPECT_LT(4 * std::sqrt(square), noise * energy) << type << ": or the test says nothing";
    EXPECT_NEAR(sum, 0, 4 * std::sqrt(square)) << type << ": 2T/|W| - 1 = " << sum / energy;
  };
  const auto in_spheres = [&](const Vec3d& x) {
    const double r = norm(x);
    return g * (halo().within(r) + bulge().within(r) + spread_disk_within(r)) / r;
  };
  const auto in_plane = [](const Vec3d& x) { return rotation_at(std::hypot(x.x, x.y)).speed2; };
  expect_balance(
      1, 0.01, [](const Vec3d& v) { return norm2(v); }, in_spheres);
  expect_balance(
      3, 0.05, [](const Vec3d& v) { return norm2(v); }, in_spheres);
  expect_balance(
      2, 0.03, [](const Vec3d& v) { return v.x * v.x + v.y * v.y; }, in_plane);
}

TEST(M31, disk_has_a_toomre_q_of_at_least_1_8_everywhere) {
  const Particles& p = galaxy();
  const double g = Units::galactic().gravitational_constant;
  double least = 1e9, least_noise = 0;
  for (double low = 0.5; low < 30; low *= 1.25) {
    double square = 0, count = 0;
    for (const std::size_t i : indices_of_type(p, 2)) {
      const Vec3d x = p.position[i], v = p.velocity[i];
      const double r = std::hypot(x.x, x.y), outward = (x.x * v.x + x.y * v.y) / r;
      if (r < low || r >= 1.25 * low) continue;
      const CircularMotion motion = rotation_at(r);
      const double kappa = 2 * std::sqrt(motion.epicyclic_ratio() * motion.speed2) / r;
      const double sigma =
          disk_mass * std::exp(-r / disk_scale) / (2 * std::numbers::pi * disk_scale * disk_scale);
      const double q = outward * kappa / (3.36 * g * sigma);  // of one star: Q = sqrt(<q^2>)
      square += q * q;
      ++count;
    }
    // <q^2> of Gaussian velocities has a relative error of sqrt(2 / n), its root half of that.
    const double q = std::sqrt(square / count), noise = 4 * q / std::sqrt(2 * count);
    EXPECT_GT(q, 1.8 - noise) << "at " << low;
    if (q < least) least = q, least_noise = noise;
  }
  EXPECT_LT(least, 1.8 + least_noise) << "hotter than it need be";
}

}  // namespace
}  // namespace grove
