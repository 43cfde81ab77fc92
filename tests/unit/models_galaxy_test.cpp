#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "base/errors.hpp"
#include "particles/models/galaxy.hpp"
#include "particles/models/merger.hpp"
#include "support/model_measures.hpp"

namespace grove {
namespace {

using namespace test;

Particles of_type(const Particles& all, std::uint8_t type) {
  Particles part = all;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all.type[i] == type) order.push_back(i);
  part.reorder(order);
  return part;
}

/// A sphere with next to no mass, for a disk alone.
std::shared_ptr<SphericalPotential> no_sphere() {
  return std::make_shared<SphericalPotential>(1, RadialGrid{1e-6, 100},
                                              [](double r) { return r < 50 ? 1e-12 / r : 0.0; });
}

TEST(CircularMotion, of_a_thin_exponential_disk_is_freemans) {
  const DiskShape disk{1, 1, 1e-9, 1.5};
  const auto sphere = no_sphere();
  // Freeman 1970: the curve peaks at 2.15 scale lengths with v = 0.8798 sqrt(pi G Sigma_0 h), that is 0.6221
  // in units of sqrt(G M / h); far away it is Kepler's within the quadrupole, 9/4 h^2 / R^2 of v^2 (second
  // moment 6 h^2, times 3/8).
  // 0.8798 and 0.6221 are known to half their last digits; 2.15 to 0.005, with a slope of the slope below
  // 0.4.
  EXPECT_NEAR(std::sqrt(circular_motion(disk, *sphere, 2.15).speed2), 0.6221, 1e-4);
  EXPECT_NEAR(circular_motion(disk, *sphere, 2.15).slope, 0, 2e-3);
  EXPECT_NEAR(circular_motion(disk, *sphere, 40).speed2 * 40, 1, 1.5 * 2.25 * 3 / 1600);
}

/// A disk as thick as that of M31.
constexpr DiskShape thick{1, 1, 1.0 / 9, 1.8};

TEST(CircularMotion, of_a_thick_disk_is_the_mean_over_its_height) {
  // <R d phi / d R> over Freeman's, from the Hankel transform of the thick disk, int k J1(kR) W(k) / (1 + k^2
  // h^2)^(3/2) dk with W = <exp(-k |z - z'|)> of two stars. To first order it would be 0.647 at 0.3 and 0.853
  // at 1.
  const std::pair<double, double> exact[] = {
      {0.3, 0.7437}, {0.5, 0.8014}, {1, 0.8694}, {2, 0.9258}, {4, 0.9720}};
  const DiskShape thin{1, 1, 1e-9, 1.8};
  const auto sphere = no_sphere();
  for (const auto& [r, ratio] : exact)
    EXPECT_NEAR(circular_motion(thick, *sphere, r).speed2 / circular_motion(thin, *sphere, r).speed2, ratio,
                5e-3)
        << r;
}

TEST(CircularMotion, slope_is_the_derivative) {
  const SphericalPotential sphere(1, RadialGrid{1e-6, 100},
                                  [](double r) { return 0.2 / (r * std::pow(1 + r, 3)); });
  for (const double r : {0.1, 1.0, 5.0}) {
    const double h = 1e-5;
    const double numeric = std::log(circular_motion(thick, sphere, r * (1 + h)).speed2 /
                                    circular_motion(thick, sphere, r * (1 - h)).speed2) /
                           (2 * h);
    EXPECT_NEAR(circular_motion(thick, sphere, r).slope, numeric, 1e-6) << r;
  }
}

TEST(ExponentialDisk, alone_and_thin_has_the_potential_of_a_sheet_and_the_least_q_asked_for) {
  constexpr double z0 = 1e-4;
  const DiskShape shape{1, 1, z0, 1.3};
  const auto sphere = no_sphere();
  const ExponentialDisk disk(shape, sphere);
  double least_q = 1e9;
  for (double r = 0.05; r < 9; r *= 1.02) {
    const auto m = disk.moments(r);
    const CircularMotion motion = circular_motion(shape, *sphere, r);
    const double sigma = std::exp(-r) / (2 * std::numbers::pi);
    // 2 pi G Sigma z0 ln cosh; that the disk ends somewhere takes z^2 / 2R d v^2 / d R of it.
    EXPECT_NEAR(disk.climb(r, 0, 2 * z0), 2 * std::numbers::pi * sigma * z0 * std::log(std::cosh(2)),
                1e-10 * z0 + 1.1 * 2 * z0 * z0 * std::abs(motion.slope) * motion.speed2 / (r * r));
    const double kappa = 2 * std::sqrt(motion.epicyclic_ratio() * motion.speed2) / r;
    EXPECT_NEAR(disk.toomre_q(r), m.radial * kappa / (3.36 * sigma), 1e-12 * disk.toomre_q(r));
    least_q = std::min(least_q, disk.toomre_q(r));
    EXPECT_NEAR(m.azimuthal / m.radial, std::sqrt(motion.epicyclic_ratio()), 1e-12);
  }
  EXPECT_NEAR(least_q, 1.3, 1e-3) << "steps of 2 % pass the minimum by 1 %, so its square";
}

TEST(ExponentialDisk, of_finite_height_is_held_by_its_own_pull) {
  // <v_z^2> at z = 0, z0 and 2 z0 over pi G Sigma z0, from the pull of the thick disk (Hankel transform as
  // above); second order in z0 / h is left out: (1/9)^2, more in the centre and above.
  const ExponentialDisk disk(thick, no_sphere());
  const std::tuple<double, double, double> exact[] = {{0.5, 0, 0.847}, {0.5, 1, 0.814}, {1, 0, 0.907},
                                                      {1, 1, 0.886},   {1, 2, 0.835},   {2, 0, 0.981},
                                                      {2, 2, 0.962}};
  for (const auto& [r, s, ratio] : exact) {
    // int rho d phi / rho(z), over z' with rho(z') = u rho(z).
    double dispersion2 = 0;
    constexpr int n = 1000;
    for (int i = 0; i < n; ++i) {
      const double turn = std::acosh(std::cosh(s) / std::sqrt((i + 0.5) / n));
      dispersion2 += disk.climb(r, s * thick.height, turn * thick.height) / n;
    }
    EXPECT_NEAR(dispersion2 / (0.5 * std::exp(-r) * thick.height), ratio, 0.01) << r << " " << s;
  }
}

TEST(ExponentialDisk, keeps_its_height_in_a_field_that_is_not_its_own) {
  // Next to no mass in a uniform ball: heights oscillate with the frequency nu, nu^2 = 4 pi / 3. Normal
  // deviates of the right variance would make sech^2 normal after a quarter of a turn, and 0.023 off.
  const auto ball = std::make_shared<SphericalPotential>(1, RadialGrid{1e-6, 100},
                                                         [](double r) { return r < 50 ? 1.0 : 0.0; });
  constexpr double z0 = 0.1;
  const ExponentialDisk disk({1e-9, 1, z0, 1.5}, ball);
  std::vector<PhasePoint> stars;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    RandomStream random(1, i);
    stars.push_back(disk.sample(random));
  }
  const double nu = std::sqrt(4 * std::numbers::pi / 3);
  for (const double turn : {0.0, 0.125, 0.25, 0.4}) {
    const double c = std::cos(2 * std::numbers::pi * turn), s = std::sin(2 * std::numbers::pi * turn);
    std::vector<double> height;
    for (const PhasePoint& star : stars) height.push_back(c * star.position.z + s * star.velocity.z / nu);
    EXPECT_LT(distribution_distance(height, [&](double z) { return 0.5 * (1 + std::tanh(z / z0)); }),
              distribution_limit(height.size()))
        << turn;
  }
}

TEST(DiskGalaxy, disk_has_the_exponential_profile_and_the_sech2_height) {
  const Particles disk = of_type(make_particles(parameters("disk-galaxy", 50000)), 2);
  ASSERT_EQ(disk.size(), 20000u);
  std::vector<double> radius, height;
  for (const Vec3d& p : disk.position) {
    radius.push_back(std::hypot(p.x, p.y));
    height.push_back(p.z);
  }
  constexpr double h = 0.2, z0 = 0.03;
  const double all = 1 - 11 * std::exp(-10.0);
  EXPECT_LT(distribution_distance(
                radius, [&](double r) { return std::min(1.0, (1 - (1 + r / h) * std::exp(-r / h)) / all); }),
            distribution_limit(disk.size()));
  EXPECT_LT(distribution_distance(height, [&](double z) { return 0.5 * (1 + std::tanh(z / z0)); }),
            distribution_limit(disk.size()));
}

TEST(DiskGalaxy, disk_turns_with_the_circular_speed_less_the_asymmetric_drift) {
  const Particles all = make_particles(parameters("disk-galaxy", 50000));
  const Particles disk = of_type(all, 2);
  // v_c^2 of the particles made: of halo and bulge as spheres, of the disk by Freeman's formula.
  std::vector<std::pair<double, double>> sphere;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all.type[i] != 2) sphere.emplace_back(norm(all.position[i]), all.mass[i]);
  const DiskShape shape{0.05, 0.2, 0.03, 1.5};
  for (double low = 0.1; low < 0.7; low += 0.1) {
    double rotation = 0, rotation2 = 0, radial2 = 0, count = 0, inside = 0;
    for (std::size_t i = 0; i < disk.size(); ++i) {
      const Vec3d x = disk.position[i], v = disk.velocity[i];
      const double r = std::hypot(x.x, x.y);
      if (r < low || r >= low + 0.02) continue;
      const double azimuthal = (x.x * v.y - x.y * v.x) / r, outward = (x.x * v.x + x.y * v.y) / r;
      rotation += azimuthal;
      rotation2 += azimuthal * azimuthal;
      radial2 += outward * outward;
      ++count;
    }
    rotation /= count;
    const double r = low + 0.01, sigma = std::sqrt(rotation2 / count - rotation * rotation);
    for (const auto& [radius, mass] : sphere)
      if (radius < r) inside += mass;
    const CircularMotion own = circular_motion(shape, *no_sphere(), r);
    const double circular2 = own.speed2 + inside / r;
    // Jeans: <v>^2 = v_c^2 + s_R^2 (1 - 2 R/h) - s_phi^2. Noise of <v>: sigma / sqrt(count); of v_c: the mass
    // inside, counted from thousands of particles, 1/sqrt(N) of it, so half of that of v. The shell's width
    // of 10 % at most moves v by less than 1 %.
    const double s2 = radial2 / count;
    const double expected = std::sqrt(circular2 + s2 * (1 - 2 * r / 0.2) - sigma * sigma);
    const double relative_noise = 0.5 / std::sqrt(inside / (sphere.front().second));
    EXPECT_NEAR(rotation, expected, 4 * sigma / std::sqrt(count) + expected * (4 * relative_noise + 0.01))
        << r;
  }
}

TEST(DiskGalaxy, is_in_virial_balance) {
  // 2T + sum m x a = 0, forces by direct summation over few particles with a softening well below their
  // separations. The disk as spheres in the field of the halo, and epicycles to second order: 1 % or 2 %.
  constexpr Count n = 3000;
  const Particles p = make_particles(parameters("disk-galaxy", n));
  double virial = 0, square = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    double own = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (i == j) continue;
      const Vec3d d = p.position[j] - p.position[i];
      const double r2 = norm2(d) + 1e-6;
      own += p.mass[j] * dot(d, p.position[i]) / (r2 * std::sqrt(r2));
    }
    const double term = p.mass[i] * (own + norm2(p.velocity[i]));
    virial += term;
    square += term * term;
  }
  EXPECT_NEAR(virial, 0, 4 * std::sqrt(square) + 0.02 * 2 * kinetic_energy(p));
}

TEST(DiskGalaxy, splits_any_number_exactly) {
  for (const Count n : {3, 4, 7, 10, 999, 1001}) {
    const Particles p = make_particles(parameters("disk-galaxy", n));
    EXPECT_EQ(static_cast<Count>(p.size()), n);
    double mass = 0;
    for (const double m : p.mass) mass += m;
    const Model model = make_model(parameters("disk-galaxy", n));
    double expected = 0;
    for (const Component& component : model.components()) {
      EXPECT_GE(component.count, 1);
      expected += component.mass;
    }
    EXPECT_NEAR(mass, expected, 1e-12) << n;
  }
  EXPECT_THROW(make_model(parameters("disk-galaxy", 2)), InputError);
}

TEST(DiskGalaxy, parts_get_the_particles_that_they_are_given) {
  ModelParameters p = parameters("disk-galaxy", 10000);
  p.disk_particles = 6000;
  const auto counts = [&] {
    std::vector<Count> result;  // halo, disk, bulge
    const Model model = make_model(p);
    for (const Component& component : model.components()) result.push_back(component.count);
    return result;
  };
  // The rest is shared 5 : 1, and the halo gets what rounding leaves.
  EXPECT_EQ(counts(), (std::vector<Count>{3334, 6000, 666}));
  p.halo_particles = 3000;
  EXPECT_EQ(counts(), (std::vector<Count>{3000, 6000, 1000}));
  p.bulge_particles = 999;
  EXPECT_THROW(make_model(p), InputError) << "9999 are not 10000";
  p.particles = 0;
  EXPECT_EQ(counts(), (std::vector<Count>{3000, 6000, 999}));
  p.halo_particles = 0;
  EXPECT_EQ(counts(), (std::vector<Count>{50000, 6000, 999}));
  p.bulge_fraction = 0;
  EXPECT_THROW(make_model(p), InputError) << "particles of a bulge without mass";
  p = parameters("plummer", 100);
  p.disk_particles = 10;
  EXPECT_THROW(make_model(p), InputError);
}

TEST(DiskGalaxy, particles_have_the_same_mass_if_that_is_asked_for) {
  for (const char* name : {"disk-galaxy", "merger"}) {
    ModelParameters p = parameters(name, 20001);
    const Model usual = make_model(p);
    p.equal_masses = true;
    const Model equal = make_model(p);
    const auto each = [](const Component& c) { return c.mass / static_cast<double>(c.count); };
    EXPECT_GT(each(usual.components()[0]), 5 * each(usual.components()[1])) << "or the test says nothing";
    for (std::size_t c = 0; c < equal.components().size(); ++c) {
      EXPECT_DOUBLE_EQ(each(equal.components()[c]), each(equal.components()[0])) << name;
      // Rounded to whole particles; the last part of each galaxy takes what others have lost.
      EXPECT_NEAR(equal.components()[c].mass, usual.components()[c].mass, 3 * each(equal.components()[0]));
    }
    EXPECT_EQ(equal.count(), 20001);
    p.disk_particles = 10;
    EXPECT_THROW(make_model(p), InputError) << name;
  }
}

TEST(DiskGalaxy, bulge_has_the_scale_asked_for) {
  ModelParameters p = parameters("disk-galaxy", 0);
  p.halo_particles = p.disk_particles = 1;
  p.bulge_particles = 10000;
  p.bulge_scale = 0.07;
  const Particles bulge = of_type(make_particles(p), 3);
  // The taper changes the mass within 50 a of Hernquist's profile by well below the limit, 2 %: beyond there
  // are 4 % of the endless sphere, and the taper adds about 0.4 %.
  const auto hernquist = [](double r) {
    const double x = r / 0.07;
    return std::min(1.0, x * x / ((1 + x) * (1 + x)) / 0.964);
  };
  EXPECT_LT(distribution_distance(radii(bulge), hernquist), distribution_limit(bulge.size()));
}

/// J / M about the axis, in units of sqrt(2) V R at the halo's edge.
double spin_of(const Particles& halo, double v, double r) {
  double momentum = 0;
  for (std::size_t i = 0; i < halo.size(); ++i) momentum += cross(halo.position[i], halo.velocity[i]).z;
  return momentum / static_cast<double>(halo.size()) / (std::sqrt(2.0) * v * r);
}

TEST(DiskGalaxy, halo_turns_as_fast_as_asked_for_and_is_as_round_and_hot_as_ever) {
  constexpr Count n = 20000;
  ModelParameters p = parameters("disk-galaxy", 0);
  p.halo_particles = n;
  p.disk_particles = p.bulge_particles = 1;
  const Particles still = of_type(make_particles(p), 1);
  p.halo_spin = 0.04;
  const Particles turning = of_type(make_particles(p), 1);
  // The halo's 0.94 M are within rmax = 15, and all of disk and bulge but 2 % of the latter.
  const double v = std::sqrt(1 / 15.0);
  double square = 0;
  for (std::size_t i = 0; i < n; ++i)
    square += std::pow(cross(still.position[i], still.velocity[i]).z / (std::sqrt(2.0) * v * 15), 2);
  const double noise = std::sqrt(square) / n;  // of the mean of independent terms
  EXPECT_LT(4 * noise, 0.15 * 0.04) << "or the test says nothing";
  EXPECT_NEAR(spin_of(turning, v, 15), 0.04, 4 * noise + 1e-3 * 0.04);
  EXPECT_NEAR(spin_of(still, v, 15), 0, 1e-10);
  // The same draws, but for signs and for the net rotation that the one at rest has lost, 1 / sqrt(n) of it.
  EXPECT_NEAR(kinetic_energy(turning) / kinetic_energy(still), 1, 4 / static_cast<double>(n) + 1e-3);
  p.halo_spin = 0.5;
  EXPECT_THROW(make_model(p), InputError);
}

TEST(Parabola, has_no_energy_and_the_pericentre_asked_for) {
  const PhasePoint relative = parabolic_approach(2, 0.5, 10);
  EXPECT_NEAR(norm(relative.position), 10, 1e-12);
  EXPECT_NEAR(0.5 * norm2(relative.velocity) - 2 / norm(relative.position), 0, 1e-14);
  // v^2 = 2 GM / q at pericentre q, so the angular momentum is sqrt(2 GM q).
  EXPECT_NEAR(cross(relative.position, relative.velocity).z, std::sqrt(2 * 2 * 0.5), 1e-12);
  EXPECT_LT(dot(relative.position, relative.velocity), 0) << "on the way in";
}

TEST(Merger, galaxies_start_on_the_parabola_of_their_masses) {
  ModelParameters p = parameters("merger", 10001);
  p.mass_ratio = 0.5;
  const Model model = make_model(p);
  const Particles particles = make_particles(p);
  ASSERT_EQ(model.components().size(), 4u);
  std::size_t i = 0;
  PhasePoint centre[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  double mass[2] = {0, 0};
  for (std::size_t c = 0; c < 4; ++c)
    for (Count k = 0; k < model.components()[c].count; ++k, ++i) {
      const double m = particles.mass[i];
      centre[c / 2].position += particles.position[i] * m;
      centre[c / 2].velocity += particles.velocity[i] * m;
      mass[c / 2] += m;
    }
  EXPECT_EQ(i, particles.size());
  EXPECT_NEAR(mass[1] / mass[0], 0.5, 1e-6);
  const Vec3d x = centre[1].position * (1 / mass[1]) - centre[0].position * (1 / mass[0]);
  const Vec3d v = centre[1].velocity * (1 / mass[1]) - centre[0].velocity * (1 / mass[0]);
  EXPECT_NEAR(norm(x), 8, 1e-10);
  EXPECT_NEAR(0.5 * norm2(v) - (mass[0] + mass[1]) / norm(x), 0, 1e-10);
}

TEST(Merger, both_galaxies_are_sampled_with_the_same_particle_mass) {
  const Model model = make_model(parameters("merger", 100000));
  EXPECT_EQ(model.count(), 100000);
  const auto& c = model.components();
  for (const std::size_t part : {0u, 1u})
    EXPECT_DOUBLE_EQ(c[part].mass / static_cast<double>(c[part].count),
                     c[part + 2].mass / static_cast<double>(c[part + 2].count));
}

}  // namespace
}  // namespace grove
