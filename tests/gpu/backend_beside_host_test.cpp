// Whole steps on GPUs beside those of the host: what rounding leaves.
#include <gtest/gtest.h>

#include <cmath>

#include "backend/host_backend.hpp"
#include "io/parameters.hpp"
#include "support/gpu_backend.hpp"
#include "support/periodic_boxes.hpp"

namespace grove {
namespace {

using namespace testing;

void expect_near(double a, double b, double relative) { EXPECT_NEAR(a, b, relative * std::abs(b)); }

/// Nodes are opened alike but where rounding decides (see walk_gpu_test.cpp), for some 1e-6 of the tests; a
/// hundred times that is allowed. Energies are sums of as many terms as there are particles: potentials that
/// differ by the criterion's error of those few nodes, 2e-3 of 1e-4, and by roundings of 1e-6.
void expect_totals_of_the_host(const Outcome& found, const Outcome& expected) {
  expect_near(static_cast<double>(found.report.interactions.cell),
              static_cast<double>(expected.report.interactions.cell), 1e-4);
  expect_near(static_cast<double>(found.report.interactions.particle),
              static_cast<double>(expected.report.interactions.particle), 1e-4);
  expect_near(static_cast<double>(found.report.interactions.expanded),
              static_cast<double>(expected.report.interactions.expanded), 1e-4);
  expect_near(found.report.median_acceleration, expected.report.median_acceleration, 1e-5);
  expect_near(found.totals.potential_energy, expected.totals.potential_energy, 2e-6);
  expect_near(found.totals.kinetic_energy, expected.totals.kinetic_energy, 2e-6);
}

void expect_that_of_the_host(const Outcome& found, const Outcome& expected) {
  expect_totals_of_the_host(found, expected);
  expect_near(found.audit.p99, expected.audit.p99, 1e-2);
  EXPECT_EQ(found.audit.sample, expected.audit.sample);
}

/// At the same places: cells inside of leaves are cut where a hash of their bounds says, so what rounding has
/// moved has other nodes.
TEST_F(GpuBackend, does_what_the_host_does) {
  const GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  HostBackend host(comm_, make_cloud(comm_, 6000), gravity);
  const Outcome expected = steps(comm_, host, 256, 0);
  expect_that_of_the_host(together(6000, gravity, 256, 0, {}), expected);
}

/// The 27 images of the box have potentials of 20 G M / L, which cancel but for a tenth: roundings of 1e-6 of
/// them are 1e-5 of the energy at most.
TEST_F(GpuBackend, does_in_periodic_boxes_what_the_host_does) {
  GravityParameters gravity = gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  gravity.images = {4};
  GravityParameters octupoles = gravity;
  octupoles.order = Order::octupole;
  for (const GravityParameters& tried : {gravity, octrees(gravity), kd_trees(gravity), octupoles}) {
    HostBackend host(comm_, make_cloud(comm_, 6000), tried);
    const Outcome expected = steps(comm_, host, 256, 0, tried.images),
                  found = together(6000, tried, 256, 0, {});
    expect_near(static_cast<double>(found.report.interactions.cell),
                static_cast<double>(expected.report.interactions.cell), 1e-4);
    expect_near(static_cast<double>(found.report.interactions.particle),
                static_cast<double>(expected.report.interactions.particle), 1e-4);
    expect_near(found.report.median_acceleration, expected.report.median_acceleration, 1e-5);
    expect_near(found.totals.potential_energy, expected.totals.potential_energy, 1e-5);
    expect_near(found.audit.p99, expected.audit.p99, 1e-2);
  }
}

/// In a lattice that waves displace by a tenth of a spacing forces cancel but for a thousandth, and plain
/// sums in single precision err by several times what the criterion leaves at high accuracy. Roundings of
/// what is kept exactly between blocks of 512 sources are some sqrt(512) x 2^-24 of terms a hundred times as
/// large as what is left, 1e-4: beside 2e-4 they add a quarter at most.
TEST_F(GpuBackend, sums_what_nearly_cancels_as_exactly_as_the_host) {
  const Communicator self(MPI_COMM_SELF);
  const GravityParameters gravity = periodic_parameters(accuracy_of(Accuracy::high, true).periodic_delta);
  const Particles particles = displaced_lattice(32, 0.1);
  HostBackend host(self, Particles(particles), gravity);
  const double expected = steps(self, host, 512, 0, gravity.images).audit.p99;
  const auto backend = make_backend(self, {"cuda", true, {}}, Particles(particles), gravity);
  EXPECT_LT(steps(self, *backend, 512, 0, gravity.images).audit.p99, 1.25 * expected);
}

/// Codes of nodes have numbers for 2^21 cells in all images together; leaves of 32 make some 80,000 of them
/// or more in each. Errors are those that docs/cosmology.md promises of the default.
TEST_F(GpuBackend, walks_periodic_boxes_of_more_cells_than_there_are_numbers_for_in_27_images) {
  const Communicator self(MPI_COMM_SELF);
  if (comm_.size() > 1) GTEST_SKIP() << "one rank alone knows so many cells";
  const GravityParameters gravity = periodic_parameters(accuracy_of(Accuracy::standard, true).periodic_delta);
  const auto backend = make_backend(self, {"cuda", true, {}}, random_box(1500000), gravity);
  DecompositionParameters parameters;
  parameters.leaf_size = 32;
  parameters.period = gravity.images.edge;
  DecompositionReport report;
  const Domain domain = backend->decompose(parameters, {}, report);
  ASSERT_GT(27 * domain.cells.size(), std::size_t{1} << 21);
  EXPECT_LT(steps(self, *backend, 32, 0, gravity.images).audit.p99, 1e-3);
}

/// Everything is opened, so that nodes do not matter.
TEST_F(GpuBackend, steps_as_the_host_does) {
  GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline);
  gravity.theta = 1e-6;
  HostBackend host(comm_, make_cloud(comm_, 2000), gravity);
  const Outcome expected = steps(comm_, host, 256, 3);
  expect_totals_of_the_host(together(2000, gravity, 256, 3, {}), expected);
}

/// At the same places: a particle that rounding has moved over a side of a cell changes the groups that
/// follow along the curve.
TEST_F(GpuBackend, does_with_octrees_what_the_host_does) {
  for (const Curve curve : {Curve::hilbert, Curve::morton})
    for (const Count leaf_size : {256, 6000}) {
      GravityParameters gravity =
          octrees(gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline), curve);
      gravity.critical_separation = leaf_size == 256 ? 100 : 0.05;  // none is split, or most are
      HostBackend host(comm_, make_cloud(comm_, 6000), gravity);
      const Outcome expected = steps(comm_, host, leaf_size, 0);
      expect_that_of_the_host(together(6000, gravity, leaf_size, 0, {}), expected);
    }
}

TEST_F(GpuBackend, does_with_kd_trees_what_the_host_does) {
  for (const Criterion criterion : {Criterion::acceleration, Criterion::relative_edge})
    for (const WalkKind walk : {WalkKind::groups, WalkKind::rope})
      for (const Count leaf_size : {256, 6000}) {
        GravityParameters gravity =
            kd_trees(gravity_of(criterion, Order::quadrupole, SofteningKernel::spline), 4);
        gravity.walk = walk;
        HostBackend host(comm_, make_cloud(comm_, 6000), gravity);
        const Outcome expected = steps(comm_, host, leaf_size, 0);
        expect_that_of_the_host(together(6000, gravity, leaf_size, 0, {}), expected);
      }
}

}  // namespace
}  // namespace grove
