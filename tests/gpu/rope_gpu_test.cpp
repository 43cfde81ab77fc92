// The walk along ropes on the GPU against direct summation and the walk of groups.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/cuda/walk/rope_walk.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

/// Walks for the particles in tree order whose numbers are in `targets`, which sets their acceleration,
/// potential and work.
WalkCounts follow_ropes(const DeviceGrown& grown, Particles& particles, const GravityParameters& gravity,
                        double median_acceleration, const std::vector<std::uint32_t>& targets) {
  const DeviceSources sources(grown, gravity, median_acceleration);
  const cuda::TopCells cells = sources.top.cells();
  const auto ropes = cuda::top_ropes(sources.top.sources(), cells);
  const auto wanted = upload(targets);
  const cuda::DeviceArray<Vec3f> acceleration{std::span<const Vec3f>(particles.acceleration)};
  const cuda::DeviceArray<float> potential{std::span<const float>(particles.potential)};
  const cuda::DeviceArray<std::uint32_t> work{std::span<const std::uint32_t>(particles.work)};
  const WalkCounts counts = cuda::rope_walk(
      gravity, grown.host.units, median_acceleration, sources.view(grown), {cells, ropes.data()},
      {grown.trees, grown.old_acceleration.data(), wanted.data(), static_cast<std::uint32_t>(targets.size())},
      {acceleration.data(), potential.data(), work.data()});
  acceleration.download(particles.acceleration);
  potential.download(particles.potential);
  work.download(particles.work);
  return counts;
}

std::vector<std::uint32_t> all_of(const Particles& particles) {
  std::vector<std::uint32_t> targets(particles.size());
  std::iota(targets.begin(), targets.end(), 0U);
  return targets;
}

DeviceGrown grow(Particles& particles, const GravityParameters& gravity, Count quantum) {
  DeviceGrown grown;
  grown.host.prepare(particles, *std::max_element(gravity.softening.begin(), gravity.softening.end()));
  grown.build(particles, quantum);
  return grown;
}

/// Every node opened: as direct summation, to rounding.
void expect_direct(Particles particles, GravityParameters gravity, double extent) {
  gravity.criterion = Criterion::opening_radius;
  gravity.theta = 1e-6;  // no node is as far as that
  DeviceGrown grown = grow(particles, gravity, 256);
  grown.update(particles, gravity, 0);
  const WalkCounts counts = follow_ropes(grown, particles, gravity, 0, all_of(particles));
  const std::size_t count = particles.size();
  EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
  const auto exact = direct_forces(particles, gravity);
  for (std::size_t i = 0; i < count; ++i) {
    // 5/4 for the sake of the approximate root, as in GpuWalk.
    const double bound = 1.25 * rounding_bound(particles, gravity, i, extent);
    ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
    ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * extent) << i;
    ASSERT_EQ(particles.work[i], count);
  }
}

using GpuRopeWalk = GpuTest;

TEST_F(GpuRopeWalk, equals_direct_summation_when_everything_is_opened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const std::size_t count : {1U, 2U, 31U, 33U, 65U, 1000U, 4097U}) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        GravityParameters gravity;
        gravity.kernel = kernel;
        gravity.softening.fill(0.02);
        expect_direct(make_shape(shape, count), gravity, shape == Shape::hernquist ? 100 : 5);
      }
}

TEST_F(GpuRopeWalk, knows_softening_by_type_and_particles_without_mass) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    GravityParameters gravity;
    gravity.kernel = kernel;
    gravity.softening = {0.01, 0, 0.05, 0.002, 0.2, 0.02};
    Particles particles = make_shape(Shape::clumps, 1500);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      particles.type[i] = static_cast<std::uint8_t>(i % particle_types);
      if (i % 5 == 2 || particles.position[i].x > 2.5) particles.mass[i] = 0;
    }
    expect_direct(particles, gravity, 5);
  }
}

/// 99th percentile of the errors over what expansion and rounding are expected to leave at most.
double excess(const Particles& particles, const GravityParameters& gravity, const WalkCounts& counts,
              double extent) {
  const auto exact = direct_forces(particles, gravity);
  const double cells = static_cast<double>(counts.cell) / static_cast<double>(particles.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < particles.size(); i += 3)
    ratios.push_back(norm(particles.acceleration[i].as<double>() - exact[i].acceleration) /
                     (expected_error(particles, gravity, i, cells) +
                      1.25 * rounding_bound(particles, gravity, i, extent)));
  std::sort(ratios.begin(), ratios.end());
  return percentile(ratios, 0.99);
}

/// The large softening covers many accepted nodes; of quadrupoles alone, since softened monopoles leave out
/// the traces of second moments, all of which pull the same way and do not add up like errors at random.
TEST_F(GpuRopeWalk, errs_as_the_opening_angle_allows) {
  for (const Order order : {Order::monopole, Order::quadrupole, Order::octupole})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const double softening : {0.02, 0.7}) {
        if (order != Order::quadrupole && softening > 0.1) continue;
        if (order == Order::octupole && kernel == SofteningKernel::plummer) continue;
        GravityParameters gravity;
        gravity.criterion = Criterion::opening_radius;
        gravity.theta = 0.5;
        gravity.order = order;
        gravity.kernel = kernel;
        gravity.softening.fill(softening);
        Particles particles = make_shape(Shape::plummer, 4000);
        DeviceGrown grown = grow(particles, gravity, 512);
        grown.update(particles, gravity, 0);
        const WalkCounts counts = follow_ropes(grown, particles, gravity, 0, all_of(particles));
        EXPECT_LT(counts.cell + counts.particle, 4000 * 4000 / 2) << "half of all pairs";
        EXPECT_LT(excess(particles, gravity, counts, 100), 1) << softening;
      }
}

/// The criterion lets a node err by node_error() delta |a| at most, and the errors of many nodes add up as
/// those of expected_error() do. The |a| are of a first evaluation, which errs by far less than they.
TEST_F(GpuRopeWalk, errs_as_the_criterion_of_acceleration_allows) {
  for (const Order order : {Order::monopole, Order::quadrupole, Order::octupole}) {
    GravityParameters gravity;
    gravity.order = order;
    gravity.softening.fill(0.01);
    Particles particles = make_shape(Shape::plummer, 4000);
    evaluate_on_device(particles, gravity.first_evaluation(), 512);
    const double median = remember_accelerations(particles);
    DeviceGrown grown = grow(particles, gravity, 512);
    grown.update(particles, gravity, median);
    const WalkCounts counts = follow_ropes(grown, particles, gravity, median, all_of(particles));
    EXPECT_LT(counts.cell + counts.particle, 4000 * 4000 / 2) << "half of all pairs";
    const double cells = static_cast<double>(counts.cell) / 4000;
    EXPECT_LT(percentile(relative_errors(particles, direct_forces(particles, gravity)), 0.99),
              percentile_99 * node_error(order) * gravity.delta * std::sqrt(cells));
  }
}

/// A group's box is as near as its nearest particle and its tolerance is the least of theirs, and the tests
/// are rounded alike, so it never accepts what one of its particles opens.
TEST_F(GpuRopeWalk, opens_no_more_than_groups_do) {
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole,
                                    Criterion::acceleration, Criterion::relative_edge}) {
    GravityParameters gravity;
    gravity.criterion = criterion;
    gravity.softening.fill(0.01);
    Particles particles = make_shape(Shape::plummer, 4000);
    double median = 0;
    if (gravity.needs_old_acceleration()) {
      evaluate_on_device(particles, gravity.first_evaluation(), 512);
      median = remember_accelerations(particles);
    }
    DeviceGrown grown = grow(particles, gravity, 512);
    grown.update(particles, gravity, median);
    grown.walk(particles, gravity, median);
    const std::vector<std::uint32_t> of_groups(particles.work.begin(), particles.work.end());
    const WalkCounts counts = follow_ropes(grown, particles, gravity, median, all_of(particles));
    EXPECT_GT(counts.cell, 0);
    for (std::size_t i = 0; i < particles.size(); ++i) ASSERT_LE(particles.work[i], of_groups[i]) << i;
  }
}

TEST_F(GpuRopeWalk, has_the_same_bits_in_any_order_of_targets) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.softening.fill(0.01);
  Particles particles = make_shape(Shape::clumps, 2000);
  DeviceGrown grown = grow(particles, gravity, 256);
  grown.update(particles, gravity, 0);
  follow_ropes(grown, particles, gravity, 0, all_of(particles));
  Particles again = particles;
  std::vector<std::uint32_t> some;  // in no order, and only half of them; 7919 is prime
  for (std::uint32_t i = 0; i < 1000; ++i) some.push_back(i * 7919 % 2000);
  for (const std::uint32_t i : some) again.acceleration[i] = {0, 0, 0}, again.potential[i] = 0;
  follow_ropes(grown, again, gravity, 0, some);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    ASSERT_EQ(again.acceleration[i], particles.acceleration[i]) << i;
    ASSERT_EQ(again.potential[i], particles.potential[i]) << i;
    ASSERT_EQ(again.work[i], particles.work[i]) << i;
  }
}

}  // namespace
}  // namespace grove
