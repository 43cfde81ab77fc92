#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gravity/force_hash.hpp"
#include "support/ewald.hpp"
#include "support/host_forces.hpp"
#include "support/periodic_boxes.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

/// Forces on what all ranks have together.
struct Variant {
  const char* name;
  GravityParameters parameters;
};
std::vector<Variant> variants() {
  const GravityParameters standard = periodic_parameters(1e-3);
  std::vector<Variant> all(7, {"", standard});
  all[0].name = "bisections";
  all[1].name = "octrees";
  all[1].parameters.tree = LocalTreeKind::octree;
  all[2].name = "kd_trees";
  all[2].parameters.tree = LocalTreeKind::kd;
  all[3].name = "ropes";
  all[3].parameters.walk = WalkKind::rope;
  all[4].name = "multipoles_of_median";
  all[4].parameters.criterion = Criterion::multipole;
  all[4].parameters.order = Order::monopole;
  all[4].parameters.delta = 0.02;
  all[5].name = "direct_sums";
  all[5].parameters.direct_below = 10000;
  all[6].name = "octupoles";
  all[6].parameters.order = Order::octupole;
  return all;
}
class PeriodicVariants : public testing::TestWithParam<Variant> {};

TEST_P(PeriodicVariants, have_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const GravityParameters& parameters = GetParam().parameters;
  const bool is_direct = parameters.direct_below > 0;
  const Particles all = clustered_box(is_direct ? 300 : 1500);
  SharedDomain shared = share_out(comm, all, 64), whole = share_out(alone, all, 64);
  HostForces on_all(comm, parameters, shared.particles), on_one(alone, parameters, whole.particles);
  for (int i = 0; i < 2; ++i) {
    on_all.evaluate(shared.domain);
    on_one.evaluate(whole.domain);
  }
  EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
}

INSTANTIATE_TEST_SUITE_P(Gravity, PeriodicVariants, testing::ValuesIn(variants()),
                         [](const auto& tried) { return std::string(tried.param.name); });

/// A box that is one leaf acts on itself through its images.
TEST(PeriodicGravity, holds_in_a_single_leaf_and_for_one_particle) {
  const Communicator alone(MPI_COMM_SELF);
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}}) {
    SharedDomain whole = share_out(alone, random_box(count), 256);
    const GravityParameters parameters = periodic_parameters(1e-5);
    HostForces forces(alone, parameters, whole.particles);
    forces.evaluate(whole.domain);
    forces.evaluate(whole.domain);
    const Ewald ewald(whole.particles.position, whole.particles.mass, box_edge);
    const double unit = parameters.gravitational_constant / (box_edge * box_edge);  // G M / L^2
    for (std::size_t i = 0; i < count; ++i) {
      const Ewald::Force exact = ewald.at(whole.particles.position[i]);
      const Vec3d a = whole.particles.acceleration[i].as<double>();
      // The far images' expansion, of moments that are not those of a homogeneous cube, errs by 1e-4 or so.
      EXPECT_LT(norm(a - parameters.gravitational_constant * exact.acceleration), 1e-3 * unit);
      EXPECT_NEAR(whole.particles.potential[i], parameters.gravitational_constant * exact.potential,
                  1e-3 * unit * box_edge);
    }
  }
}

/// Particles that have left the box since the last cuts feel what their images in it feel.
TEST(PeriodicGravity, goes_on_a_little_outside_of_the_box) {
  const Communicator alone(MPI_COMM_SELF);
  const Particles all = clustered_box(1000);
  Particles moved = all;
  for (Vec3d& p : moved.position)
    for (int axis = 0; axis < 3; ++axis)
      if (p[axis] > 31. / 32 * box_edge) p[axis] -= box_edge;
  const GravityParameters parameters = periodic_parameters(1e-5);
  std::vector<Vec3d> accelerations[2];
  for (int k = 0; k < 2; ++k) {
    SharedDomain whole = share_out(alone, k == 0 ? all : moved, 64);
    HostForces forces(alone, parameters, whole.particles);
    forces.evaluate(whole.domain);
    forces.evaluate(whole.domain);
    accelerations[k].resize(all.size());
    std::vector<std::size_t> by_id(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j)
        if (whole.particles.id[j] == all.id[i])
          accelerations[k][i] = whole.particles.acceleration[j].as<double>();
  }
  double squares = 0, errors = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    squares += norm2(accelerations[0][i]);
    errors += norm2(accelerations[0][i] - accelerations[1][i]);
  }
  // Some 1e-5 of either tree, and as much of the expansion at such places.
  EXPECT_LT(std::sqrt(errors / squares), 1e-4);
}

/// The forces of a full evaluation, of one with few active particles, and of a full one again. All have the
/// same |a_old|, so that only what nodes do can differ.
std::array<std::uint64_t, 3> forces_in_turn(const Communicator& comm, Order order) {
  Particles all = clustered_box(1500);
  Count active = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all.rung[i] = all.id[i] % 20 == 0 ? 1 : 0;
    active += all.rung[i];
  }
  SharedDomain shared = share_out(comm, all, 64);
  GravityParameters parameters = periodic_parameters(1e-2);
  parameters.order = order;
  HostForces forces(comm, parameters, shared.particles);
  const auto hash_after = [&](const EvaluationPlan& plan) {
    Particles& p = shared.particles;
    std::fill(p.old_acceleration.begin(), p.old_acceleration.end(), 0.5F);
    std::fill(p.acceleration.begin(), p.acceleration.end(), Vec3f{0, 0, 0});
    std::fill(p.potential.begin(), p.potential.end(), 0.F);
    forces.evaluate(shared.domain, plan);
    return force_hash(comm, p);
  };
  const std::uint64_t full = hash_after({});
  const std::uint64_t few = hash_after({.grows = false, .first_active = 1, .active = active});
  return {full, few, hash_after({.grows = false})};
}

TEST(PeriodicGravity, few_active_particles_meet_quadrupoles_and_all_together_octupoles) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto octupoles = forces_in_turn(comm, Order::octupole),
             quadrupoles = forces_in_turn(comm, Order::quadrupole);
  EXPECT_NE(octupoles[0], quadrupoles[0]);
  EXPECT_EQ(octupoles[1], quadrupoles[1]);
  EXPECT_EQ(octupoles[2], octupoles[0]) << "quadrupoles in between change nothing";
  EXPECT_EQ(octupoles, forces_in_turn(Communicator(MPI_COMM_SELF), Order::octupole));
}

/// Gravity remembers how many interactions walks of few particles through all boxes took, by their first
/// rung. GPUs need that in the next such walk. Evaluations with far cells change nothing of it.
TEST(PeriodicGravity, remembers_what_few_active_particles_met) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const auto remembered = [](const Communicator& ranks) {
    Particles all = clustered_box(1500);
    for (std::size_t i = 0; i < all.size(); ++i) all.rung[i] = all.id[i] % 20 == 0 ? 2 : 0;
    SharedDomain shared = share_out(ranks, all, 64);
    HostForces forces(ranks, periodic_parameters(1e-2), shared.particles);
    const auto state = [&] { return forces.gravity.state(shared.domain).agreed.near_work; };
    forces.evaluate(shared.domain);
    forces.evaluate(shared.domain, {.grows = false, .first_active = 1, .active = 1000});
    EXPECT_EQ(state(), RungCounts{});
    const ForceReport report =
        forces.evaluate(shared.domain, {.grows = false, .first_active = 2, .active = 1});
    const RungCounts near = state();
    RungCounts expected{};
    expected[2] = report.work[2] / report.active_of[2];
    EXPECT_GT(expected[2], 100);
    EXPECT_EQ(near, expected);
    forces.evaluate(shared.domain);
    EXPECT_EQ(state(), near);
    Gravity::State other = forces.gravity.state(shared.domain);
    other.agreed.near_work[3] = 7;
    forces.gravity.restore(std::move(other), shared.domain);
    EXPECT_EQ(state()[3], 7);
    return near;
  };
  EXPECT_EQ(remembered(comm), remembered(alone));
}

}  // namespace
}  // namespace grove
