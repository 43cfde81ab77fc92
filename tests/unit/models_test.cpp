#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "particles/models/model.hpp"
#include "support/model_measures.hpp"

namespace grove {
namespace {

using namespace test;

/// Sizes that every model but kepler and those on lattices can have: odd ones, so that shares of components
/// do not divide.
Count small_count(std::string_view name) {
  if (name == "kepler") return 2;
  if (name == "sedov") return 10 * 10 * 10;
  return name == "sod" ? 9 * 16 * 16 : 1001;
}

bool is_gas(std::string_view name) { return name == "evrard" || name == "sedov" || name == "sod"; }

/// Models that fill a cube and keep the places that they are given.
bool fills_cube(std::string_view name) { return name == "uniform-cube" || name == "sedov" || name == "sod"; }

TEST(Models, make_exactly_the_particles_asked_for_with_ids_from_1) {
  for (const ModelInfo& info : model_infos()) {
    const Count n = small_count(info.name);
    const Particles particles = make_particles(parameters(std::string(info.name), n));
    ASSERT_EQ(static_cast<Count>(particles.size()), n) << info.name;
    for (Count i = 0; i < n; ++i) {
      EXPECT_EQ(particles.id[static_cast<std::size_t>(i)], static_cast<ParticleId>(i + 1)) << info.name;
      EXPECT_GT(particles.mass[static_cast<std::size_t>(i)], 0) << info.name;
    }
  }
}

TEST(Models, depend_on_what_they_say_they_take_and_on_nothing_else) {
  // Values unlike the defaults, but ones that every model can have.
  const std::pair<double ModelParameters::*, double> values[] = {
      {&ModelParameters::mass, 2},
      {&ModelParameters::scale, 1.25},
      {&ModelParameters::rmax, 6},
      {&ModelParameters::concentration, 12},
      {&ModelParameters::taper, 3},
      {&ModelParameters::eccentricity, 0.25},
      {&ModelParameters::mass_ratio, 0.5},
      {&ModelParameters::disk_fraction, 0.0625},
      {&ModelParameters::bulge_fraction, 0.02},
      {&ModelParameters::bulge_scale, 0.06},
      {&ModelParameters::halo_spin, 0.02},
      {&ModelParameters::disk_scale, 0.25},
      {&ModelParameters::disk_height, 0.05},
      {&ModelParameters::toomre_q, 1.25},
      {&ModelParameters::pericentre, 0.5},
      {&ModelParameters::separation, 10},
  };
  for (const ModelInfo& info : model_infos()) {
    const ModelParameters usual = parameters(std::string(info.name), info.name == "kepler" ? 2 : 101);
    const Particles before = make_particles(usual);
    std::size_t taken = 0;
    for (const auto& [value, other] : values) {
      ModelParameters changed = usual;
      changed.*value = other;
      const Particles after = make_particles(changed);
      const bool depends = after.position != before.position || after.velocity != before.velocity ||
                           after.mass != before.mass || after.type != before.type;
      const bool takes = std::find(info.takes.begin(), info.takes.end(), value) != info.takes.end();
      EXPECT_EQ(depends, takes) << info.name << " with " << other;
      taken += takes;
    }
    EXPECT_EQ(taken, info.takes.size()) << info.name;
  }
}

TEST(Models, any_range_of_particles_is_that_part_of_the_whole) {
  for (const ModelInfo& info : model_infos()) {
    Model model = make_model(parameters(std::string(info.name), small_count(info.name)));
    const Count n = model.count();
    // The sums too may be taken in parts.
    std::vector<std::int64_t> sums = model.sums(0, n / 3);
    const std::vector<std::int64_t> rest = model.sums(n / 3, n);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += rest[i];
    EXPECT_EQ(sums, model.sums(0, n)) << info.name;
    model.centre(sums);

    Particles whole, part;
    model.make(0, n, whole);
    model.make(n / 2, n, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t k = i + static_cast<std::size_t>(n / 2);
      EXPECT_EQ(part.position[i], whole.position[k]) << info.name;
      EXPECT_EQ(part.velocity[i], whole.velocity[k]) << info.name;
      EXPECT_EQ(part.mass[i], whole.mass[k]) << info.name;
      EXPECT_EQ(part.type[i], whole.type[k]) << info.name;
    }
  }
}

TEST(Models, centre_of_mass_rests_in_the_origin) {
  for (const ModelInfo& info : model_infos()) {
    if (fills_cube(info.name)) continue;
    const Particles particles = make_particles(parameters(std::string(info.name), small_count(info.name)));
    Vec3d position{0, 0, 0}, momentum{0, 0, 0};
    double moment = 0, speed = 0;
    for (std::size_t i = 0; i < particles.size(); ++i) {
      position += particles.position[i] * particles.mass[i];
      momentum += particles.velocity[i] * particles.mass[i];
      moment += norm(particles.position[i]) * particles.mass[i];
      speed += norm(particles.velocity[i]) * particles.mass[i];
    }
    // Rounding: n terms of relative error 2^-53, and the fixed-point sums of 2^-52 of the reach.
    EXPECT_LE(norm(position), 1e-12 * moment) << info.name;
    EXPECT_LE(norm(momentum), 1e-12 * speed) << info.name;
  }
}

TEST(Models, what_does_not_rotate_has_no_angular_momentum) {
  for (const ModelInfo& info : model_infos()) {
    if (fills_cube(info.name) || info.name == "kepler") continue;  // they keep their draws
    const ModelParameters p = parameters(std::string(info.name), 1001);
    const Model model = make_model(p);
    const Particles particles = make_particles(p);
    for (std::size_t c = 0; c < model.components().size(); ++c) {
      const Component& component = model.components()[c];
      Vec3d momentum{0, 0, 0};
      double size = 0, greatest = 0;
      for (auto i = static_cast<std::size_t>(model.first_of(c));
           i < static_cast<std::size_t>(model.first_of(c + 1)); ++i) {
        const Vec3d x = particles.position[i] - component.origin.position;
        const Vec3d v = particles.velocity[i] - component.origin.velocity;
        momentum += cross(x, v);
        size += norm(x) * norm(v);
        greatest = component.sampler->reach() * component.sampler->fastest();
      }
      const auto n = static_cast<double>(component.count);
      if (component.rotates)
        EXPECT_GT(norm(momentum), 0.1 * size) << info.name << " " << component.name;
      else  // rounding of n terms, and fixed-point sums in units of n 2^-61 of the greatest term
        EXPECT_LE(norm(momentum), 1e-12 * size + n * n * 0x1p-60 * greatest)
            << info.name << " " << component.name;
    }
  }
}

TEST(Models, particles_that_lose_the_rotation_keep_their_energies) {
  // v loses omega x position: of the order of 1 / sqrt(n) of the speeds. Its square is n / 2 of the part that
  // three of 3 n degrees of freedom have, 1 / n of the kinetic energy; draws that keep it are 4 deviations
  // off at most: (3 + 4 sqrt(6)) / 3 n.
  constexpr Count n = 5000;
  const Model model = make_model(parameters("plummer", n));
  Component turning = model.components()[0];
  turning.rotates = true;
  Model kept({turning}, 1);
  kept.centre(kept.sums(0, n));
  Particles with;
  kept.make(0, n, with);
  const Particles without = make_particles(parameters("plummer", n));
  const double change = 1 - kinetic_energy(without) / kinetic_energy(with);
  EXPECT_GT(change, 0);
  EXPECT_LT(change, (3 + 4 * std::sqrt(6.0)) / (3 * n));
  EXPECT_EQ(with.position, without.position);
}

TEST(Models, seeds_differ) {
  for (const ModelInfo& info : model_infos()) {
    if (info.name == "kepler" || is_gas(info.name)) continue;  // nothing random
    ModelParameters p = parameters(std::string(info.name), 101);
    const Particles one = make_particles(p);
    p.seed = 2;
    const Particles two = make_particles(p);
    std::set<double> seen;
    for (const Vec3d& x : one.position) seen.insert(x.x);
    for (const Vec3d& x : two.position) EXPECT_FALSE(seen.contains(x.x)) << info.name;
  }
}

TEST(Models, of_gas_have_the_energies_and_densities_of_their_problems) {
  const auto total = [](const Particles& particles) {
    double sum = 0;
    for (std::size_t i = 0; i < particles.size(); ++i)
      sum += particles.mass[i] * particles.internal_energy[i];
    return sum;
  };
  for (const ModelInfo& info : model_infos())
    EXPECT_EQ(make_particles(parameters(std::string(info.name), small_count(info.name))).has_gas,
              is_gas(info.name));
  const Particles sphere = make_particles(parameters("evrard", 5000));
  EXPECT_NEAR(total(sphere), 0.05, 1e-12);
  // A quarter of the mass is within half the radius, but for what the surface cuts of the lattice: 4 pi s^2
  // sites are there, s = 6.7 the radius of those that come to lie within, and chance decides on their square
  // root.
  const auto inside = std::count_if(sphere.position.begin(), sphere.position.end(),
                                    [](const Vec3d& x) { return norm(x) < 0.5; });
  EXPECT_NEAR(static_cast<double>(inside) / 5000, 0.25, 3 * std::sqrt(4 * M_PI) * 6.7 / 5000);
  // All that is cold has 1e-6.
  EXPECT_NEAR(total(make_particles(parameters("sedov", 4096))), 1, 2e-6);
  const Particles tube = make_particles(parameters("sod", 2304));
  double mass = 0;
  for (std::size_t i = 0; i < tube.size(); ++i) {
    mass += tube.mass[i];
    EXPECT_NEAR(tube.mass[i], tube.mass[0], 1e-15);
    EXPECT_NEAR(tube.internal_energy[i], std::abs(tube.position[i].x - 0.5) < 0.25 ? 2.5 : 2, 1e-12);
  }
  EXPECT_NEAR(mass, 0.5 + 0.125 * 0.5, 1e-12);
}

TEST(Models, shock_tubes_are_even_and_have_no_planes) {
  const Particles tube = make_particles(parameters("sod", 2304));
  std::vector<Vec3d> dense;
  std::set<double> planes;
  for (const Vec3d& x : tube.position) {
    planes.insert(x.x);
    if (std::abs(x.x - 0.5) < 0.25) dense.push_back(x);
  }
  EXPECT_EQ(planes.size(), tube.size());
  ASSERT_EQ(dense.size(), 2048u);
  const auto across = [](double d) { return d - std::rint(d); };
  double nearest = 1;
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3d d = dense[i] - dense[j];
      nearest = std::min(nearest, norm(Vec3d{d.x, across(d.y), across(d.z)}));
    }
  // Of a cubic lattice the mean spacing, of the closest packing 1.12 of that.
  EXPECT_GT(nearest, 0.9 * std::cbrt(0.5 / 2048));
}

TEST(Models, refuse_what_is_out_of_range) {
  EXPECT_THROW(make_model(parameters("blob")), InputError);
  ModelParameters p = parameters("plummer");
  p.particles = -1;
  EXPECT_THROW(make_model(p), InputError);
  p = parameters("plummer");
  p.mass = 0;
  EXPECT_THROW(make_model(p), InputError);
  p = parameters("plummer");
  p.scale = std::nan("");
  EXPECT_THROW(make_model(p), InputError);
  EXPECT_THROW(make_model(parameters("kepler", 3)), InputError);
  p = parameters("kepler");
  p.eccentricity = 1;
  EXPECT_THROW(make_model(p), InputError);
}

TEST(UniformSphere, has_uniform_density_and_virial_balance) {
  constexpr Count n = 20000;
  const Particles particles = make_particles(parameters("uniform-sphere", n));
  const auto cumulative = [](double r) { return std::min(r * r * r, 1.0); };
  EXPECT_LT(distribution_distance(radii(particles), cumulative), distribution_limit(n));
  // v^2 has mean 3/5 and variance 3/7 - 9/25 of GM/R: relative error 0.44 / sqrt(n); four of these.
  EXPECT_NEAR(kinetic_energy(particles), 0.3, 0.3 * 4 * 0.44 / std::sqrt(n));
}

TEST(ColdSphere, is_uniform_and_at_rest) {
  constexpr Count n = 20000;
  const Particles particles = make_particles(parameters("cold-sphere", n));
  EXPECT_EQ(kinetic_energy(particles), 0);
  const auto cumulative = [](double r) { return std::min(r * r * r, 1.0); };
  EXPECT_LT(distribution_distance(radii(particles), cumulative), distribution_limit(n));
}

TEST(UniformCube, fills_the_cube_evenly_and_nothing_else) {
  constexpr Count n = 20000;
  const Particles particles = make_particles(parameters("uniform-cube", n));
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> x;
    for (const Vec3d& position : particles.position) x.push_back(position[axis]);
    EXPECT_LT(distribution_distance(x, [](double c) { return std::clamp(c + 0.5, 0.0, 1.0); }),
              distribution_limit(n));
  }
}

TEST(Kepler, orbit_has_the_semi_major_axis_and_eccentricity_asked_for) {
  ModelParameters p = parameters("kepler");
  p.mass = 2;
  p.scale = 3;
  p.eccentricity = 0.6;
  p.mass_ratio = 0.25;
  const Particles bodies = make_particles(p);
  EXPECT_DOUBLE_EQ(bodies.mass[1], 0.25 * bodies.mass[0]);
  EXPECT_DOUBLE_EQ(bodies.mass[0] + bodies.mass[1], 2);
  const Vec3d x = bodies.position[1] - bodies.position[0], v = bodies.velocity[1] - bodies.velocity[0];
  EXPECT_NEAR(0.5 * norm2(v) - 2 / norm(x), -2 / (2 * 3.0), 1e-14) << "energy -GM/2a, so the period is right";
  const Vec3d laplace = cross(v, cross(x, v)) * (1.0 / 2) - x * (1 / norm(x));
  EXPECT_NEAR(norm(laplace), 0.6, 1e-14);
  EXPECT_NEAR(norm(x), 3 * 1.6, 1e-14) << "starts at apocentre";
}

}  // namespace
}  // namespace grove
