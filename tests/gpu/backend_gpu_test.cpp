// Whole steps on GPUs: the same bits on any number of ranks by every way of exchange. Ranks share GPUs if
// there are fewer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "backend/host_backend.hpp"
#include "backend/memory_needs.hpp"
#include "base/errors.hpp"
#include "kernels/cuda/device/device.hpp"
#include "support/gpu_backend.hpp"

namespace grove {
namespace {

using namespace testing;

TEST_F(GpuBackend, takes_the_census_that_the_host_takes) {
  const GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  const auto backend = make_backend(comm_, {"cuda", true, {}}, make_cloud(comm_, 30011), gravity);
  EXPECT_EQ(backend->census()(), HostBackend(comm_, make_cloud(comm_, 30011), gravity).census()());
}

TEST_F(GpuBackend, has_the_same_bits_on_any_number_of_ranks) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
        SCOPED_TRACE(static_cast<int>(criterion) * 4 + static_cast<int>(order) * 2 +
                     static_cast<int>(kernel));
        const GravityParameters gravity = gravity_of(criterion, order, kernel);
        const Outcome one = alone(3000, gravity, 96, 2);
        const Outcome all = together(3000, gravity, 96, 2, {});
        EXPECT_EQ(all.forces_hash, one.forces_hash);
        EXPECT_EQ(all.report.interactions.cell, one.report.interactions.cell);
        EXPECT_EQ(all.report.interactions.particle, one.report.interactions.particle);
        EXPECT_EQ(all.report.median_acceleration, one.report.median_acceleration);
        EXPECT_EQ(all.totals.total_energy(), one.totals.total_energy());
        EXPECT_EQ(all.totals.momentum, one.totals.momentum);
        EXPECT_EQ(all.audit.p99, one.audit.p99);
        EXPECT_EQ(one.report.let.nodes + one.report.let.particles, 0);
        EXPECT_EQ(all.report.let.nodes > 0, comm_.size() > 1);
      }
}

/// In leaves of 96; of 3000, so that ranks have one each or none; of so many that lists of nodes of a tree
/// find no room in a block of the selection (kernels/cuda/let/let_selection.cu); and of so many that it packs
/// trees in pieces.
TEST_F(GpuBackend, has_the_same_bits_with_octrees_on_any_number_of_ranks) {
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration,
        Criterion::opening_cell, Criterion::relative_edge})
    for (const Curve curve : {Curve::hilbert, Curve::morton}) {
      const GravityParameters gravity =
          octrees(gravity_of(criterion, Order::quadrupole, SofteningKernel::spline), curve);
      compare_with_one_rank(gravity, 3000, 96);
      compare_with_one_rank(gravity, 3000, 3000);
      GravityParameters split = gravity;
      split.critical_separation = 0.1;
      compare_with_one_rank(split, 3000, 3000);
    }
  for (const Count bucket : {1, 32})
    for (const WalkKind walk : {WalkKind::groups, WalkKind::rope}) {
      GravityParameters gravity =
          octrees(gravity_of(Criterion::opening_cell, Order::monopole, SofteningKernel::spline));
      gravity.bucket = bucket;
      gravity.walk = walk;
      compare_with_one_rank(gravity, 3000, 500);
    }
  compare_with_one_rank(
      octrees(gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline)), 30000, 12000);
  compare_with_one_rank(
      octrees(gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline)), 90000, 45000);
}

TEST_F(GpuBackend, has_the_same_bits_with_octupoles_on_any_number_of_ranks) {
  GravityParameters gravity = gravity_of(Criterion::acceleration, Order::octupole, SofteningKernel::spline);
  for (const GravityParameters& tried : {gravity, octrees(gravity), kd_trees(gravity)}) {
    compare_with_one_rank(tried, 3000, 96);
    compare_with_one_rank(tried, 30000, 2000);
  }
  gravity.images = {4};
  compare_with_one_rank(gravity, 3000, 96);
}

TEST_F(GpuBackend, has_the_same_bits_with_kd_trees_on_any_number_of_ranks) {
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole,
                                    Criterion::acceleration, Criterion::relative_edge})
    for (const WalkKind walk : {WalkKind::groups, WalkKind::rope}) {
      GravityParameters gravity = gravity_of(criterion, Order::quadrupole, SofteningKernel::spline);
      gravity.walk = walk;
      compare_with_one_rank(kd_trees(gravity), 3000, 96);
      compare_with_one_rank(kd_trees(gravity, 1), 3000, 3000);
    }
  GravityParameters gravity = gravity_of(Criterion::acceleration, Order::monopole, SofteningKernel::spline);
  gravity.split = KdSplit::median;
  compare_with_one_rank(kd_trees(gravity, 32), 30000, 12000);
  gravity.split = KdSplit::middle;
  compare_with_one_rank(kd_trees(gravity, 1), 30000, 12000);
}

/// The concentration is about a corner of the box, half of the cloud beyond its other side. In leaves of 96,
/// and in one, whose images act on it.
TEST_F(GpuBackend, has_the_same_bits_in_periodic_boxes_on_any_number_of_ranks) {
  for (const Criterion criterion :
       {Criterion::opening_radius, Criterion::multipole, Criterion::acceleration}) {
    GravityParameters gravity = gravity_of(criterion, Order::quadrupole, SofteningKernel::spline);
    gravity.images = {4};
    compare_with_one_rank(gravity, 3000, 96);
    compare_with_one_rank(gravity, 3000, 3000);
    compare_with_one_rank(octrees(gravity), 3000, 96);
    compare_with_one_rank(kd_trees(gravity), 3000, 96);
  }
}

TEST_F(GpuBackend, brings_particles_back_into_periodic_boxes_as_the_host_does) {
  const Box box = Box::periodic(1.5);
  const Particles cloud = make_cloud(comm_, 3000);
  const auto host = make_backend(comm_, {"kokkos", false, {}}, cloud, {});
  const auto device = make_backend(comm_, {"cuda", true, {}}, cloud, {});
  const double strayed = host->drift({}, &box);
  EXPECT_EQ(device->drift({}, &box), strayed);
  EXPECT_GT(comm_.max(strayed), 0);
  device->wrap(box);
  host->wrap(box);
  device->show(nullptr, [&](const Particles& found) {
    host->show(nullptr, [&](const Particles& expected) { EXPECT_EQ(found.position, expected.position); });
  });
  EXPECT_LT(device->drift({}, &box), 0);
}

TEST_F(GpuBackend, refuses_walks_that_know_no_periodic_boxes) {
  GravityParameters periodic =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  periodic.images = {4};
  GravityParameters ropes = periodic, direct = periodic, first = periodic;
  ropes.walk = WalkKind::rope;
  direct.direct_below = 4000;
  first.first = FirstForces::direct;
  for (const GravityParameters& gravity : {ropes, direct, first})
    EXPECT_THROW(make_backend(comm_, {"cuda", true, {}}, make_cloud(comm_, 100), gravity), InputError);
}

/// So many particles that a rank's own groups would be split among more warps than those of all ranks are.
TEST_F(GpuBackend, has_the_same_bits_by_every_way_of_exchange) {
  const GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  const Outcome one = alone(20000, gravity, 512, 3);
  std::vector<PayloadPath> paths;
  for (const auto& exchange : exchanges()) paths.push_back(exchange->path());
  for (const PayloadPath path : paths) {
    const Outcome all = together(20000, gravity, 512, 3, path);
    EXPECT_EQ(all.forces_hash, one.forces_hash) << static_cast<int>(path);
  }
}

/// There are so many particles that one warp walks a group.
TEST_F(GpuBackend, has_the_same_bits_with_groups_of_64) {
  const GravityParameters gravity =
      gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  constexpr std::size_t count = 300000;
  const auto evaluate = [&](const Communicator& comm, int targets_per_warp) {
    const auto backend =
        make_backend(comm, {"cuda", true, {}, targets_per_warp}, make_cloud(comm, count), gravity);
    return steps(comm, *backend, 1000, 1);
  };
  const Outcome one = evaluate(Communicator(MPI_COMM_SELF), 64), all = evaluate(comm_, 64);
  EXPECT_EQ(all.forces_hash, one.forces_hash);
  EXPECT_EQ(all.report.interactions.cell, one.report.interactions.cell);
  EXPECT_EQ(all.audit.p99, one.audit.p99);
  EXPECT_GT(one.report.interactions.expanded, 0);
  // Forces of groups of 32 err more, of all by 12 % less without expansions.
  EXPECT_LT(one.audit.p99, 1.12 * alone(count, gravity, 1000, 1).audit.p99);
  EXPECT_LT(all.report.interactions.tests, alone(count, gravity, 1000, 1).report.interactions.tests);
}

/// A sum errs by 512 x 2^-24 of the sizes of its terms at most (kernels/cuda/direct/direct_force.hpp); they
/// cancel by a factor of 10 at most in nearly all particles of the sample of the audit.
TEST_F(GpuBackend, sums_directly_if_there_are_fewer_particles_than_asked_for) {
  GravityParameters gravity = gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline);
  gravity.direct_below = 3001;
  const Outcome one = alone(3000, gravity, 96, 1);
  const Outcome all = together(3000, gravity, 96, 1, {});
  EXPECT_EQ(all.forces_hash, one.forces_hash);
  EXPECT_EQ(all.report.interactions.particle, 3000 * 3000);
  EXPECT_EQ(all.report.interactions.cell, 0);
  EXPECT_LT(all.audit.median, 10 * 512 * 0x1p-24);
}

/// A particle opens no more than its group does (rope_gpu_test.cpp), and tests for itself alone.
TEST_F(GpuBackend, walks_along_ropes_with_the_same_bits_on_any_number_of_ranks) {
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole,
                                    Criterion::acceleration, Criterion::relative_edge})
    for (const Order order : {Order::monopole, Order::quadrupole}) {
      SCOPED_TRACE(static_cast<int>(criterion) * 2 + static_cast<int>(order));
      GravityParameters gravity = gravity_of(criterion, order, SofteningKernel::spline);
      const Outcome groups = together(3000, gravity, 96, 2, {});
      gravity.walk = WalkKind::rope;
      const Outcome one = alone(3000, gravity, 96, 2);
      const Outcome all = together(3000, gravity, 96, 2, {});
      EXPECT_EQ(all.forces_hash, one.forces_hash);
      const auto sum = [](const Outcome& o) {
        return o.report.interactions.cell + o.report.interactions.particle;
      };
      EXPECT_EQ(sum(all), sum(one));
      EXPECT_LT(sum(all), sum(groups));
      EXPECT_GT(all.report.interactions.tests, 2 * groups.report.interactions.tests);
      EXPECT_EQ(all.report.let.nodes > 0, comm_.size() > 1);
    }
  GravityParameters gravity =
      octrees(gravity_of(Criterion::acceleration, Order::quadrupole, SofteningKernel::spline));
  gravity.walk = WalkKind::rope;
  EXPECT_EQ(together(3000, gravity, 96, 2, {}).forces_hash, alone(3000, gravity, 96, 2).forces_hash);
}

/// Both sums are as far from the true one as rounding makes them: 1000 additions and the dozen of a pair, of
/// 2^-24 each, of terms that cancel by a factor of 10 at most in nearly all particles of the sample.
TEST_F(GpuBackend, walks_along_ropes_to_every_particle_if_everything_is_opened) {
  GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::spline);
  gravity.theta = 1e-6;
  gravity.walk = WalkKind::rope;
  const Outcome all = together(1000, gravity, 96, 0, {});
  EXPECT_EQ(all.report.interactions.cell + all.report.interactions.particle, 1000 * 1000);
  EXPECT_LT(all.audit.median, 10 * 1012 * 0x1p-24);
}

TEST_F(GpuBackend, serves_ranks_without_particles) {
  GravityParameters bisections =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::plummer);
  bisections.theta = 1e-6;  // everything is opened
  for (const GravityParameters& gravity : {bisections, octrees(bisections), kd_trees(bisections)})
    for (const std::size_t count : {1U, 2U, 31U, 33U, 65U}) {
      const Outcome one = alone(count, gravity, 64, 1);
      const Outcome all = together(count, gravity, 64, 1, {});
      EXPECT_EQ(all.forces_hash, one.forces_hash);
      // A particle alone in its bucket is a cell without extent.
      EXPECT_EQ(all.report.interactions.cell + all.report.interactions.particle,
                static_cast<Count>(count * count));
    }
}

TEST_F(GpuBackend, refuses_leaves_that_a_gpu_does_not_take) {
  const GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::plummer);
  EXPECT_THROW(together(6000, gravity, 8192, 0, {}), InputError);
}

TEST_F(GpuBackend, names_two_particles_whose_separation_is_lost) {
  GravityParameters gravity =
      gravity_of(Criterion::opening_radius, Order::quadrupole, SofteningKernel::plummer);
  gravity.softening.fill(1e-9);
  Particles particles = make_cloud(comm_, 100);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (particles.id[i] == mixed(1)) particles.position[i] = {1000, 0, 0};
    if (particles.id[i] == mixed(2)) particles.position[i] = {1000 + 1e-6, 0, 0};
  }
  const auto message = [&](Backend& backend) {
    try {
      steps(comm_, backend, 256, 0);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  HostBackend host(comm_, particles, gravity);
  const std::string expected = message(host);
  EXPECT_NE(expected.find("1e-06 apart"), std::string::npos) << expected;
  EXPECT_EQ(message(*make_backend(comm_, {"cuda", true, {}}, particles, gravity)), expected);
}

TEST_F(GpuBackend, hands_out_the_fields_that_are_asked_for) {
  const auto backend = make_backend(comm_, {"cuda", true, {}}, make_cloud(comm_, 1000), {});
  Particles all;
  backend->show(nullptr, [&](const Particles& particles) { all = particles; });
  const auto is_mass = [](const FieldInfo& info) { return info.name == fields::mass.info.name; };
  const auto expect_masses = [&](const Particles& particles) {
    EXPECT_EQ(particles.position, all.position);
    EXPECT_EQ(particles.mass, all.mass);
    EXPECT_TRUE(particles.id.empty() && particles.type.empty() && particles.work.empty());
  };
  backend->show(nullptr, expect_masses, is_mass);
  // To the present: the prediction changes nothing, but reads what it needs.
  const Prediction present{};
  const auto expect_more = [&](const Particles& particles) {
    EXPECT_EQ(particles.velocity, all.velocity);
    EXPECT_EQ(particles.mass, all.mass);
    EXPECT_TRUE(particles.id.empty() && particles.work.empty());
  };
  backend->show(&present, expect_more, is_mass);
}

/// All memory of the GPU but little.
std::vector<cuda::DeviceArray<std::byte>> take_all_memory() {
  std::vector<cuda::DeviceArray<std::byte>> taken;
  for (std::size_t size = std::size_t{1} << 38; size >= std::size_t{1} << 20;) {
    try {
      taken.emplace_back(size);
    } catch (const std::runtime_error&) {
      size /= 2;
    }
  }
  return taken;
}

TEST_F(GpuBackend, says_how_many_particles_fit) {
  if (comm_.size() > 1) GTEST_SKIP() << "other ranks may share the GPU";
  const auto taken = take_all_memory();
  try {
    together(100000, {}, 4096, 0, {});
    ADD_FAILURE() << "there is no room for this";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("out of memory for the fields of 100000 particles"), std::string::npos) << text;
    const auto each = static_cast<int>(device_bytes_per_particle(1, {}));
    EXPECT_NE(text.find(fmt::format("particles fit, at {} bytes each", each)), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace grove
