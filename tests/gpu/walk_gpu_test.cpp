// Trees and forces on the GPU against the invariants of trees, direct summation and the host's walk.
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>

#include "kernels/cuda/direct/direct_sum.hpp"
#include "support/device_checks.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

GravityParameters octrees(GravityParameters gravity) {
  gravity.tree = LocalTreeKind::octree;
  return gravity;
}

GravityParameters kd_trees(GravityParameters gravity, Count bucket) {
  gravity.tree = LocalTreeKind::kd;
  gravity.bucket = bucket;
  return gravity;
}

using GpuForest = GpuTest;

TEST_F(GpuForest, is_sound_for_all_shapes_and_sizes) {
  const GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.01);
  for (const Shape shape : all_shapes)
    for (const std::size_t count : {1U, 2U, 7U, 33U, 65U, 4097U})
      for (const Count quantum : {64, 4096}) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Particles particles = make_shape(shape, count);
        DeviceGrown grown;
        grown.host.prepare(particles);
        grown.build(particles, quantum);
        grown.update(particles, gravity, 0);
        expect_sound(grown, particles, gravity);
      }
}

TEST_F(GpuForest, is_sound_with_mixed_softening_and_massless_particles) {
  const Particles particles = make_mixed_clumps(3000);
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration}) {
    GravityParameters gravity = gravity_of(criterion, Order::quadrupole, SofteningKernel::spline, 0.01);
    gravity.softening = {0.01, 0.01, 0.05, 0, 0, 0};
    Particles own = particles;
    DeviceGrown grown;
    grown.host.prepare(own);
    grown.build(own, 1024);
    grown.update(own, gravity, 1);
    expect_sound(grown, own, gravity);
  }
}

/// Both sum in double precision, in another order: n additions and a dozen operations a pair, of 2^-53 each,
/// of terms that together are the sum of m/r^2.
TEST_F(GpuForest, direct_summation_is_that_of_the_host) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    Particles particles = make_shape(Shape::clumps, 3001);
    GravityParameters gravity = gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, 0.02);
    gravity.softening = {0.01, 0.02, 0.05, 0.01, 0.03, 0.02};
    for (std::size_t i = 0; i < particles.size(); ++i) particles.type[i] = static_cast<std::uint8_t>(i % 6);
    std::vector<std::uint32_t> targets;
    for (std::uint32_t i = 0; i < particles.size(); i += 7) targets.push_back(i);
    const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(particles.position)};
    const cuda::DeviceArray<double> mass{std::span<const double>(particles.mass)};
    const cuda::DeviceArray<std::uint8_t> type{std::span<const std::uint8_t>(particles.type)};
    const auto wanted = upload(targets);
    const cuda::DeviceArray<DirectForce> forces(targets.size());
    cuda::direct_sum(gravity, {position.data(), mass.data(), type.data(), particles.size()}, wanted.data(),
                     targets.size(), forces.data());
    const auto found = download(forces);
    const auto exact = direct_forces(particles, gravity);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const std::size_t i = targets[k];
      const double bound = rounding_bound(particles, gravity, i, 0) * 0x1p-29;
      EXPECT_LE(norm(found[k].acceleration - exact[i].acceleration), bound);
      EXPECT_NEAR(found[k].potential, exact[i].potential, bound * 10);  // distances are below 10
    }
  }
}

using GpuWalk = GpuTest;

/// The approximate root errs by 2^-22.9, 2.2 units; to the third power that is 6.5, in place of 3 of the
/// dozen units that the bound grants a pair: (n + 15.5)/(n + 12) is below 5/4 from two particles on.
void expect_direct_sums(Shape shape, std::size_t count, GravityParameters gravity, Count quantum) {
  SCOPED_TRACE(name_of(shape) + " " + std::to_string(count) + " in leaves of " + std::to_string(quantum));
  Particles particles = make_shape(shape, count);
  // No node is as far as that; kd-trees have nodes of any two neighbours, however near to each other.
  gravity.theta = gravity.tree == LocalTreeKind::kd ? 1e-18 : 1e-6;
  const WalkCounts counts = evaluate_on_device(particles, gravity, quantum);
  // A bucket of one particle may count as a cell: it has no extent. Octrees and kd-trees may have buckets or
  // nodes of a pair.
  const bool all_count = gravity.tree == LocalTreeKind::bisection || shape != Shape::pairs;
  const auto interactions = static_cast<std::int64_t>(count * count);
  EXPECT_LE(counts.cell + counts.particle, interactions);
  EXPECT_TRUE(!all_count || counts.cell + counts.particle == interactions);
  const auto exact = direct_forces(particles, gravity);
  const double extent = shape == Shape::hernquist ? 100 : 5;
  for (std::size_t i = 0; i < count; ++i) {
    const double bound = 1.25 * rounding_bound(particles, gravity, i, extent);
    ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
    ASSERT_NEAR(particles.potential[i], exact[i].potential, bound * 2 * extent) << i;
    ASSERT_TRUE(!all_count || particles.work[i] == count);
  }
}

TEST_F(GpuWalk, equals_direct_summation_when_everything_is_opened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const std::size_t count : {1U, 2U, 7U, 31U, 32U, 33U, 65U, 1500U})
        expect_direct_sums(shape, count,
                           gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, 0.02), 256);
}

TEST_F(GpuWalk, of_octrees_equals_direct_summation_when_everything_is_opened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
      for (const Count quantum : {256, 1 << 20})
        for (const std::size_t count : {1U, 2U, 7U, 31U, 32U, 33U, 65U, 1500U})
          expect_direct_sums(shape, count,
                             octrees(gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, 0.02)),
                             quantum);
}

TEST_F(GpuWalk, of_kd_trees_equals_direct_summation_when_everything_is_opened) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const Count bucket : {1, 8, 32})
      for (const Count quantum : {256, 1 << 20})
        for (const std::size_t count : {1U, 2U, 7U, 31U, 33U, 65U, 1500U})
          expect_direct_sums(shape, count,
                             kd_trees(gravity_of(Criterion::opening_radius, Order::quadrupole,
                                                 SofteningKernel::spline, 0.02),
                                      bucket),
                             quantum);
}

/// Trees of one leaf with more nodes than a leaf's bisection has, and lists of nodes to be tested that find
/// no room in shared memory.
TEST_F(GpuWalk, of_large_octrees_equals_direct_summation_when_everything_is_opened) {
  const GravityParameters gravity =
      octrees(gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.02));
  for (const Shape shape : {Shape::uniform, Shape::hernquist})
    expect_direct_sums(shape, 9000, gravity, 1 << 20);
}

/// The places are one, so nothing pulls; potentials are sums of equal terms, which n additions and a dozen
/// operations round by 2^-24 each.
TEST_F(GpuWalk, of_octrees_sums_coincident_particles) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (const std::size_t count : {2U, 9U, 33U, 65U, 600U}) {
      Particles particles = make_shape(Shape::point, count);
      const GravityParameters gravity =
          octrees(gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, 0.02));
      const WalkCounts counts = evaluate_on_device(particles, gravity, 1 << 20);
      EXPECT_EQ(counts.particle, static_cast<std::int64_t>(count * count));
      const auto exact = direct_forces(particles, gravity);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(norm(particles.acceleration[i].as<double>()), 0);
        ASSERT_NEAR(particles.potential[i], exact[i].potential,
                    static_cast<double>(count + 12) * unit_roundoff * std::abs(exact[i].potential));
      }
    }
}

/// Groups of all sizes whose particles lie at one place, at exactly a radius of softening from each other
/// (0.25 and 0.5, within rounding) and farther, of several softening lengths. Tolerances as above.
TEST_F(GpuWalk, sums_groups_of_all_sizes_under_mixed_softening) {
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (std::size_t count = 1; count <= 2 * group_size + 1; ++count) {
      SCOPED_TRACE(count);
      Particles particles = make_lattice(count);
      GravityParameters gravity = gravity_of(Criterion::opening_radius, Order::quadrupole, kernel, 0.01);
      gravity.softening = lattice_softening;
      gravity.theta = 1e-6;
      const WalkCounts counts = evaluate_on_device(particles, gravity, 4096);
      EXPECT_EQ(counts.cell + counts.particle, static_cast<std::int64_t>(count * count));
      const auto exact = direct_forces(particles, gravity);
      for (std::size_t i = 0; i < count; ++i) {
        const double bound = 1.25 * rounding_bound(particles, gravity, i, 2);
        // The error of the potential also has the terms within softening, up to the particle itself.
        const double potential = count * particles.mass[i] / 0.01 * 40 * unit_roundoff;
        ASSERT_LE(norm(particles.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
        ASSERT_NEAR(particles.potential[i], exact[i].potential, potential) << i;
        ASSERT_EQ(particles.work[i], count);
      }
    }
}

/// Softening that reaches far over nodes, of which some hold several lengths. The sums are the host's in
/// another order: n additions and, through a softened quadrupole, some 50 units a term, of which there are
/// below 1000; together the terms are below 10 times their sum for all but the particles near the middle: for
/// the median 1050 x 10 x 2^-24 = 6e-4. A shape, a scale or a moment mistaken changes whole terms.
TEST_F(GpuWalk, softens_cells_as_the_host_does) {
  for (const Order order : {Order::monopole, Order::quadrupole})
    for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
      Particles on_host = make_shape(Shape::plummer, 3000);
      for (std::size_t i = 0; i < on_host.size(); ++i) on_host.type[i] = on_host.position[i].x > 0.5 ? 2 : 1;
      GravityParameters gravity = gravity_of(Criterion::opening_radius, order, kernel, 0.3);
      gravity.softening[2] = 0.6;
      Particles particles = on_host;
      const WalkCounts host = evaluate(on_host, gravity, 512);
      const WalkCounts found = evaluate_on_device(particles, gravity, 512);
      EXPECT_NEAR(static_cast<double>(found.cell), static_cast<double>(host.cell),
                  1e-4 * static_cast<double>(host.cell));
      std::map<ParticleId, Vec3d> expected;
      for (std::size_t i = 0; i < on_host.size(); ++i)
        expected[on_host.id[i]] = on_host.acceleration[i].as<double>();
      std::vector<double> errors;
      for (std::size_t i = 0; i < particles.size(); ++i) {
        const Vec3d a = expected[particles.id[i]];
        errors.push_back(norm(particles.acceleration[i].as<double>() - a) / norm(a));
      }
      EXPECT_LT(percentile(errors, 0.5), 6e-4);
    }
}

TEST_F(GpuWalk, refuses_to_open_what_is_pruned) {
  Particles particles = make_shape(Shape::uniform, 1000);
  GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.01);
  gravity.theta = 1e-6;
  DeviceGrown grown;
  grown.host.prepare(particles);
  grown.build(particles, 256);
  grown.update(particles, gravity, 0);
  auto links = download(grown.links);
  links[grown.places[1].node + 1].child = NodeLinks::pruned;
  grown.links.upload(links);
  EXPECT_THROW(grown.walk(particles, gravity, 0), std::logic_error);
}

/// Both walks open the same nodes but where rounding decides: a test errs by some 1e-6 of its distance, and
/// within that of the limit lie about as many of the nodes. A hundred times that is allowed.
void expect_that_of_the_host(const GravityParameters& gravity, Count quantum) {
  Particles on_host = make_shape(Shape::plummer, 6000);
  const WalkCounts host = evaluate(on_host, gravity, quantum);
  Particles particles = on_host;
  double median = 0;
  if (gravity.needs_old_acceleration()) {
    evaluate_on_device(particles, gravity.first_evaluation(), quantum);
    median = remember_accelerations(particles);
  }
  const WalkCounts found = evaluate_on_device(particles, gravity, quantum, median);
  const auto near = [](std::int64_t a, std::int64_t b) {
    return std::abs(static_cast<double>(a - b)) <= 1e-4 * static_cast<double>(b);
  };
  EXPECT_TRUE(near(found.cell, host.cell)) << found.cell << " " << host.cell;
  EXPECT_TRUE(near(found.particle, host.particle)) << found.particle << " " << host.particle;
  EXPECT_TRUE(near(found.expanded, host.expanded)) << found.expanded << " " << host.expanded;
  const double p99_host = percentile(relative_errors(on_host, direct_forces(on_host, gravity)), 0.99);
  const double p99 = percentile(relative_errors(particles, direct_forces(particles, gravity)), 0.99);
  EXPECT_NEAR(p99, p99_host, 1e-2 * p99_host);
}

TEST_F(GpuWalk, does_what_the_hosts_walk_does) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        expect_that_of_the_host(gravity_of(criterion, order, kernel, 0.01), 512);
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    expect_that_of_the_host(gravity_of(criterion, Order::octupole, SofteningKernel::spline, 0.01), 512);
}

TEST_F(GpuWalk, of_octrees_and_kd_trees_does_what_the_hosts_walk_does) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
        const GravityParameters gravity = octrees(gravity_of(criterion, order, kernel, 0.01));
        expect_that_of_the_host(gravity, 512);
        expect_that_of_the_host(gravity, 1 << 20);
      }
  for (const Criterion criterion : {Criterion::acceleration, Criterion::relative_edge}) {
    const GravityParameters gravity =
        kd_trees(gravity_of(criterion, Order::quadrupole, SofteningKernel::spline, 0.01), 8);
    expect_that_of_the_host(gravity, 512);
    expect_that_of_the_host(gravity, 1 << 20);
  }
  GravityParameters octupoles =
      gravity_of(Criterion::acceleration, Order::octupole, SofteningKernel::spline, 0.01);
  for (const Count leaf_size : {512, 1 << 20}) {
    expect_that_of_the_host(octrees(octupoles), leaf_size);
    expect_that_of_the_host(kd_trees(octupoles, 8), leaf_size);
  }
  GravityParameters morton =
      octrees(gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline, 0.01));
  morton.curve = Curve::morton;
  expect_that_of_the_host(morton, 512);
}

}  // namespace
}  // namespace grove
