#include "kernels/direct/direct_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace grove {
namespace {

constexpr auto plummer = SofteningKernel::plummer, spline = SofteningKernel::spline;

struct Bodies {
  std::vector<Vec3d> position;
  std::vector<double> mass, softening;
  std::vector<ParticleId> id;

  void add(const Vec3d& p, double m, double eps) {
    id.push_back(10 + position.size());
    position.push_back(p);
    mass.push_back(m);
    softening.push_back(eps);
  }
  DirectSources sources() const {
    return {position.data(), mass.data(), softening.data(), id.data(), position.size()};
  }
  DirectTarget target(std::size_t i) const { return {position[i], softening[i], id[i]}; }
};

DirectForce force(SofteningKernel kernel, const Bodies& bodies, const DirectTarget& target) {
  DirectForce f;
  direct_sum(kernel, bodies.sources(), {&target, 1}, {&f, 1});
  return f;
}

Bodies random_bodies(std::size_t count) {
  Bodies bodies;
  std::mt19937_64 random(count);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::size_t i = 0; i < count; ++i)
    bodies.add({uniform(random), uniform(random), uniform(random)}, uniform(random), 0.1 * uniform(random));
  return bodies;
}

TEST(DirectSum, two_bodies_attract_as_the_formulas_say) {
  Bodies b;
  b.add({0, 0, 0}, 2, 0.25);
  b.add({3, 0, 4}, 5, 0.5);  // the larger length counts, for either
  const double R = std::sqrt(25 + 0.25);
  const DirectForce p = force(plummer, b, b.target(0));
  EXPECT_DOUBLE_EQ(p.potential, -5 / R);
  EXPECT_DOUBLE_EQ(p.acceleration.x, 5 * 3 / (R * R * R));
  EXPECT_EQ(p.acceleration.y, 0);
  EXPECT_DOUBLE_EQ(p.acceleration.z, 5 * 4 / (R * R * R));
  const DirectForce q = force(plummer, b, b.target(1));
  EXPECT_DOUBLE_EQ(q.potential, -2 / R);
  EXPECT_DOUBLE_EQ(q.acceleration.x, -2 * 3 / (R * R * R));
  const DirectForce s = force(spline, b, b.target(0));  // beyond 1.4: Newtonian
  EXPECT_DOUBLE_EQ(s.potential, -1);
  EXPECT_DOUBLE_EQ(s.acceleration.x, 3. / 25);
  EXPECT_DOUBLE_EQ(s.acceleration.z, 4. / 25);
}

TEST(DirectSum, leaves_out_the_particle_itself_but_not_another_at_its_place) {
  for (const auto kernel : {plummer, spline}) {
    Bodies b;
    b.add({1, 2, 3}, 7, 0.5);
    EXPECT_EQ(force(kernel, b, b.target(0)).potential, 0);
    b.add({1, 2, 3}, 3, 0.5);
    const DirectForce f = force(kernel, b, b.target(0));
    EXPECT_DOUBLE_EQ(f.potential, -3 / 0.5) << "phi(0) = -Gm/eps for both kernels";
    EXPECT_EQ(f.acceleration, (Vec3d{0, 0, 0}));
  }
}

TEST(DirectSum, without_softening_is_newtonian_and_excludes_the_particle_itself) {
  for (const auto kernel : {plummer, spline}) {
    Bodies b;
    b.add({0, 0, 0}, 1, 0);
    b.add({2, 0, 0}, 1, 0);
    EXPECT_DOUBLE_EQ(force(kernel, b, b.target(0)).acceleration.x, 0.25);
    EXPECT_DOUBLE_EQ(force(kernel, b, b.target(0)).potential, -0.5);
  }
}

TEST(DirectSum, agrees_with_a_plain_loop_at_every_number_of_sources) {
  for (const std::size_t count : {1, 2, 7, 8, 9, 511, 512, 513, 1300}) {
    const Bodies b = random_bodies(count);
    const DirectTarget target{{0.3, 0.4, 0.5}, 0.05, 0};
    const DirectForce f = force(plummer, b, target);
    Vec3<long double> a{0, 0, 0};
    long double potential = 0, size = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const auto d = (b.position[j] - target.position).as<long double>();
      const long double eps = std::max(b.softening[j], target.softening), R = std::sqrt(norm2(d) + eps * eps);
      a += d * (b.mass[j] / (R * R * R));
      potential -= b.mass[j] / R;
      size += b.mass[j] / (R * R);
    }
    // Ten roundings a term, and at most 64 + 3 + 3 additions above any of them.
    const auto bound = static_cast<double>(80 * 1.2e-16L * size);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_NEAR(f.acceleration[axis], static_cast<double>(a[axis]), bound);
    EXPECT_NEAR(f.potential, static_cast<double>(potential), static_cast<double>(-80 * 1.2e-16L * potential));
  }
}

TEST(DirectSum, of_a_target_does_not_depend_on_the_other_targets_and_adds_to_what_is_there) {
  const Bodies b = random_bodies(1300);
  std::vector<DirectTarget> targets;
  for (std::size_t i = 0; i < 20; ++i) targets.push_back(b.target(i));
  std::vector<DirectForce> together(targets.size());
  direct_sum(spline, b.sources(), targets, together);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const DirectForce alone = force(spline, b, targets[i]);
    EXPECT_EQ(alone.acceleration, together[i].acceleration);
    EXPECT_EQ(alone.potential, together[i].potential);
  }
  DirectForce sum{{1, 2, 3}, 4};
  direct_sum(spline, {nullptr, nullptr, nullptr, nullptr, 0}, {targets.data(), 1}, {&sum, 1});
  EXPECT_EQ(sum.acceleration, (Vec3d{1, 2, 3})) << "no sources";
  direct_sum(spline, b.sources(), {targets.data(), 1}, {&sum, 1});
  // The potential, -1300 * 0.5 / 0.5 or so, is rounded three times more.
  EXPECT_NEAR(sum.potential - together[0].potential, 4, 3 * 2e-16 * std::abs(together[0].potential));
}

TEST(DirectSum, acceleration_is_the_negative_gradient_of_the_potential) {
  const Bodies b = random_bodies(300);
  for (const auto kernel : {plummer, spline}) {
    // Softening of 0.2 bounds the third derivative of the potential by M / eps^4 times a number below 10:
    // with a step of 1e-5 the truncation is 1e-10 / 6 * 10 * 150 / 0.0016 = 1.6e-5; rounding 1e-16 * 800 /
    // 1e-5 = 1e-8.
    const DirectTarget target{{0.4, 0.6, 0.5}, 0.2, 0};
    const DirectForce f = force(kernel, b, target);
    for (int axis = 0; axis < 3; ++axis) {
      DirectTarget up = target, down = target;
      up.position[axis] += 1e-5;
      down.position[axis] -= 1e-5;
      const double slope = (force(kernel, b, up).potential - force(kernel, b, down).potential) / 2e-5;
      EXPECT_NEAR(f.acceleration[axis], -slope, 2e-5);
    }
  }
}

TEST(DirectSum, of_a_sampled_plummer_sphere_is_its_mean_field) {
  // Plummer sphere of G = M = a = 1: m(r) = r^3 / (1 + r^2)^(3/2), radial acceleration -m(r) / r^2.
  constexpr std::size_t count = 20000;
  Bodies b;
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto direction = [&] {
    const double z = 2 * uniform(random) - 1, phi = 2 * M_PI * uniform(random), s = std::sqrt(1 - z * z);
    return Vec3d{s * std::cos(phi), s * std::sin(phi), z};
  };
  for (std::size_t i = 0; i < count; ++i)
    b.add(direction() * (1 / std::sqrt(std::pow(uniform(random), -2. / 3) - 1)), 1. / count, 0.02);
  for (int i = 0; i < 20; ++i) {
    const Vec3d n = direction();
    const double r = 0.5 + 0.25 * i;
    const DirectTarget target{n * r, 0.02, 0};
    const double found = -dot(force(spline, b, target).acceleration, n);
    // The standard error is that of a mean of independent terms; 5 of them fail once in 10^5 tests. Softening
    // adds less than eps^2 |grad rho| ~ 4e-4 * 0.3, a hundredth of the standard error.
    double squares = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const Vec3d d = b.position[j] - target.position;
      const double term = dot(d, n) * std::pow(norm2(d) + 4e-4, -1.5);
      squares += (term + found) * (term + found);
    }
    const double error = std::sqrt(squares) / count;
    EXPECT_NEAR(found, r * std::pow(1 + r * r, -1.5), 5 * error) << r;
  }
}

}  // namespace
}  // namespace grove
