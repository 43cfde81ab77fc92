#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/distributions.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

Particles mixed_particles() {
  Particles particles = make_shape(Shape::plummer, 4000);
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.type[i] = static_cast<std::uint8_t>(particles.id[i] % 3);
  return particles;
}

GravityParameters mixed(SofteningKernel kernel, Order order) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.kernel = kernel;
  gravity.order = order;
  gravity.softening = {0, 0.03, 0.5, 0, 0, 0};
  return gravity;
}

/// A pair uses the larger softening, whichever side it is on. The bound is that of one softening: the
/// expansion's, theta^3 (4 - 3 theta)/(1 - theta)^2 = 0.13 for 0.3, of which random signs of hundreds of
/// nodes leave a tenth; Plummer's mean softening adds 5e-4 per node. A wrong pair softening errs by 10 % and
/// more for particles within 0.5 of a third of the others.
TEST(MixedSoftening, agreesWithDirectSummation) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (const Order order : {Order::monopole, Order::quadrupole}) {
      Particles particles = mixed_particles();
      GravityParameters gravity = mixed(kernel, order);
      gravity.theta = 0.3;
      evaluate(particles, gravity, 512);
      const auto errors = relative_errors(particles, direct_forces(particles, gravity));
      EXPECT_LT(percentile(errors, 0.99), order == Order::quadrupole ? 0.002 : 0.01);
      EXPECT_LT(errors.back(), 0.02);
    }
}

TEST(MixedSoftening, isExactWhenEverythingIsOpened) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    Particles particles = mixed_particles();
    GravityParameters gravity = mixed(kernel, Order::quadrupole);
    gravity.theta = 1e-6;
    evaluate(particles, gravity, 512);
    // Offsets of up to 100 in single precision: 100 x 6e-8 of distances, the least of which is 1e-3.
    EXPECT_LT(percentile(relative_errors(particles, direct_forces(particles, gravity)), 0.99), 1e-4);
  }
}

/// Coincident particles pull with no force and count in the potential with -m/eps.
TEST(Softening, takesCoincidentParticles) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    Particles particles = make_shape(Shape::point, 100);
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.kernel = kernel;
    gravity.softening.fill(0.01);
    evaluate(particles, gravity, 64);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      EXPECT_EQ(norm(particles.acceleration[i]), 0);
      EXPECT_NEAR(particles.potential[i], -0.99 / 0.01, 99 * 2e-6);
    }
  }
}

/// The trace of the second moments enters under Plummer softening: nodes inside the softening radius.
TEST(Softening, expandsNodesDeepInsideTheSofteningRadius) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    Particles particles = make_shape(Shape::uniform, 4000);
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.kernel = kernel;
    gravity.theta = 0.5;
    gravity.softening.fill(0.7);
    const WalkCounts counts = evaluate(particles, gravity, 512);
    EXPECT_GT(counts.cell, 0);
    EXPECT_LT(counts.particle, 4000 * 2000);
    const auto exact = direct_forces(particles, gravity);
    // The kernel's third derivative is of order 1/eps^4 = 4, a node's octupole m b^3 with b < 0.5 d: nodes
    // matter less than by theta^3 / 4 of a force of order 1; without the trace it would be b^2/eps^2 = 0.1.
    for (std::size_t i = 0; i < particles.size(); ++i) {
      ASSERT_LT(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), 3e-3);
      ASSERT_NEAR(particles.potential[i], exact[i].potential, 3e-3);
    }
  }
}

/// The potential's gradient along a line of massless particles, by central differences, against their
/// acceleration. Everything opened, the softening 0.3, so that third derivatives are below 60/0.3^4 M = 7400:
/// h^2/6 of that is 0.012 for h = 0.0032, and rounding 3e-7 phi/h = 2e-4.
TEST(Potential, hasTheAccelerationForItsGradient) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    Particles particles = make_shape(Shape::uniform, 1000);
    constexpr double h = 1.0 / 312;
    for (std::size_t i = 0; i < 300; ++i) {
      particles.position[i] = {0.1 + h * static_cast<double>(i), 0.4, 0.6};
      particles.mass[i] = 0;
      particles.id[i] = i;
    }
    for (std::size_t i = 300; i < particles.size(); ++i) particles.id[i] = i;
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.kernel = kernel;
    gravity.theta = 0.25;
    gravity.softening.fill(0.3);
    evaluate(particles, gravity, 256);
    std::vector<std::size_t> index(particles.size());
    for (std::size_t i = 0; i < particles.size(); ++i) index[particles.id[i]] = i;
    for (std::size_t i = 1; i + 1 < 300; ++i) {
      const double gradient =
          (double{particles.potential[index[i + 1]]} - particles.potential[index[i - 1]]) / (2 * h);
      EXPECT_NEAR(-gradient, particles.acceleration[index[i]].x, 0.012);
    }
  }
}

}  // namespace
}  // namespace grove
