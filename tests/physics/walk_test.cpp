#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/distributions.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr double unit_roundoff = 1.0 / (1 << 24);

GravityParameters gravity_of(Criterion criterion, Order order, SofteningKernel kernel, double softening) {
  GravityParameters gravity;
  gravity.criterion = criterion;
  gravity.order = order;
  gravity.kernel = kernel;
  gravity.softening.fill(softening);
  return gravity;
}

/// Every node is opened: nothing is farther than b/theta = 1e6 b, and no b is as small as 1e-6 of the box.
GravityParameters everything_opened(SofteningKernel kernel, double softening) {
  GravityParameters gravity = gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, softening);
  gravity.theta = 1e-6;
  return gravity;
}

/// What rounding may do to the acceleration of particle i, everything opened. Each pair: offsets, shift and
/// difference are rounded, 4 units of at most the extent L each, in a separation r, of which the force is the
/// power -2, its derivative at most 3 (2 along, 1 across) times force/r, and less under softening, so r
/// counts as at least eps; the formula itself: rounded a dozen times. Sum: n additions.
double rounding_bound(const Particles& p, std::size_t i, double softening, double extent) {
  double bound = 0;
  const double n = static_cast<double>(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (i == j) continue;
    const double r = std::max(norm(p.position[j] - p.position[i]), softening);
    bound += p.mass[j] / (r * r) * (n + 12 + 3 * 4 * extent / r) * unit_roundoff;
  }
  return bound;
}

TEST(Walk, equalsDirectSummationWhenEverythingIsOpened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const std::size_t count : {1U, 2U, 7U, 33U, 1500U}) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Particles particles = make_shape(shape, count);
        const GravityParameters gravity = everything_opened(kernel, 0.02);
        const WalkCounts counts = evaluate(particles, gravity, 256);
        // A bucket of one particle may count as a cell: it has no extent.
        EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
        const auto exact = direct_forces(particles, gravity);
        const double extent = shape == Shape::hernquist ? 100 : 5;
        for (std::size_t i = 0; i < count; ++i) {
          const double bound = rounding_bound(particles, i, 0.02, extent);
          ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound);
          // The potential is a sum of the same pairs, its relative error smaller, in units of m/r.
          ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * extent);
          ASSERT_EQ(particles.work[i], count);
        }
      }
}

/// Momentum is conserved pair by pair when everything is opened, so what remains is rounding.
TEST(Walk, hasNoNetForceWhenEverythingIsOpened) {
  Particles particles = make_shape(Shape::plummer, 2000);
  const GravityParameters gravity = everything_opened(SofteningKernel::spline, 0.05);
  evaluate(particles, gravity, 256);
  Vec3d net{0, 0, 0};
  double bound = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    net += particles.acceleration[i].as<double>() * particles.mass[i];
    bound += rounding_bound(particles, i, 0.05, 100) * particles.mass[i];
  }
  EXPECT_LE(norm(net), bound);
}

/// A node at distance d >= b/theta leaves out the terms n >= 3 (quadrupole) or n >= 2 (monopole) of the
/// expansion, (n+1) m b^n/d^(n+2) each: with x = theta a part
///   x^3 (4 - 3x)/(1-x)^2 or x^2 (3 - 2x)/(1-x)^2
/// of m/d^2, and the particles' own pulls are at least m/(d + b)^2. So the error of a force is at most that
/// times (1+x)^2 times the sum of the pulls' sizes.
double expansion_bound(Order order, double x) {
  const double part = order == Order::quadrupole ? x * x * x * (4 - 3 * x) : x * x * (3 - 2 * x);
  return part / ((1 - x) * (1 - x)) * (1 + x) * (1 + x);
}

TEST(Walk, errorsStayBelowTheBoundOfTheOpeningAngle) {
  Particles particles = make_shape(Shape::hernquist, 3000);
  for (const Order order : {Order::monopole, Order::quadrupole}) {
    double before = 1;
    for (const double theta : {0.6, 0.4, 0.25}) {
      GravityParameters gravity = gravity_of(Criterion::opening_radius, order, SofteningKernel::spline, 1e-3);
      gravity.theta = theta;
      evaluate(particles, gravity, 512);
      const auto exact = direct_forces(particles, gravity);
      for (std::size_t i = 0; i < particles.size(); ++i) {
        double pulls = 0;
        for (std::size_t j = 0; j < particles.size(); ++j)
          if (i != j) pulls += particles.mass[j] / norm2(particles.position[j] - particles.position[i]);
        ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration),
                  expansion_bound(order, theta) * pulls + rounding_bound(particles, i, 1e-3, 100));
      }
      // At least as theta^2, the slower of the two.
      const double p99 = percentile(relative_errors(particles, exact), 0.99);
      EXPECT_LT(p99, before);
      before = p99 * (theta == 0.6 ? 0.45 : 0.4);
    }
  }
}

struct Case {
  Criterion criterion;
  Order order;
  SofteningKernel kernel;
};

class WalkCase : public ::testing::TestWithParam<Case> {};

double accuracy_of(Criterion criterion, bool fine) {
  switch (criterion) {
    case Criterion::opening_edge:
    case Criterion::opening_radius:
      return fine ? 0.3 : 0.6;
    case Criterion::multipole:
      return fine ? 1e-4 : 1e-3;
    case Criterion::acceleration:
      return fine ? 1e-3 : 1e-2;
  }
  return 0;
}

/// Bounds of the 99th percentile. A node accepted by Delta leaves out at most a few Delta |a| of the force
/// (the next term has the factor n + 1 = 3 or 4), less where its particles lie inside b on all sides: the
/// octupole of at least 8 particles at random is 0.07 m b^3, their quadrupole 0.15 m b^2. With 300 to 1000
/// nodes of random sign, and a p99 of 2.5 standard deviations, 4 x 0.07 x 17 x 2.5 = 12 Delta at most were
/// every node at its limit; a fifth of that is what nodes that are not leave. The multipole criterion bounds
/// each node's error by Delta times the median of |a|, which is up to 20 times the least |a| here. For the
/// angles: expansion_bound with the same reduction, 0.1, and pulls that add up to 3 |a|.
double percentile_bound(const Case& c, double accuracy) {
  switch (c.criterion) {
    case Criterion::opening_edge:
    case Criterion::opening_radius:
      return 0.3 * expansion_bound(c.order, accuracy);
    case Criterion::multipole:
      return 40 * accuracy;
    case Criterion::acceleration:
      return (c.order == Order::quadrupole ? 2.5 : 10) * accuracy;
  }
  return 0;
}

TEST_P(WalkCase, errorsFallWithTheAccuracyParameter) {
  const Case c = GetParam();
  double p99[2];
  WalkCounts counts[2];
  for (const bool fine : {false, true}) {
    Particles particles = make_shape(Shape::hernquist, 6000);
    GravityParameters gravity = gravity_of(c.criterion, c.order, c.kernel, 0.02);
    gravity.theta = gravity.delta = accuracy_of(c.criterion, fine);
    if (gravity.needs_old_acceleration()) gravity.theta = 0.6;
    counts[fine] = evaluate(particles, gravity, 1024);
    p99[fine] = percentile(relative_errors(particles, direct_forces(particles, gravity)), 0.99);
    EXPECT_LT(p99[fine], percentile_bound(c, accuracy_of(c.criterion, fine)));
    RecordProperty(fine ? "fine" : "coarse", std::to_string(p99[fine]));
  }
  // Half the angle, or a tenth of Delta: the error falls at least as theta^2 or Delta^(1/2).
  EXPECT_LT(p99[1], 0.32 * p99[0]);
  EXPECT_GT(counts[1].cell + counts[1].particle, counts[0].cell + counts[0].particle);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        cases.push_back({criterion, order, kernel});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, WalkCase, ::testing::ValuesIn(all_cases()));

/// The same physics in other units gives the same bits: lengths times 2^80, masses times 2^100.
TEST(Walk, doesNotDependOnUnits) {
  Particles particles = make_shape(Shape::hernquist, 2000), scaled = particles;
  GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline, 1e-3);
  evaluate(particles, gravity, 256);
  const double length = std::ldexp(1.0, 80), mass = std::ldexp(1.0, 100);
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    scaled.position[i] *= length;
    scaled.mass[i] *= mass;
  }
  gravity.softening.fill(1e-3 * length);
  evaluate(scaled, gravity, 256);
  const auto factor = static_cast<float>(mass / length / length);
  for (std::size_t i = 0; i < particles.size(); ++i)
    ASSERT_EQ(scaled.acceleration[i], particles.acceleration[i] * factor);
}

}  // namespace
}  // namespace grove
