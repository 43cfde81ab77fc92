// Trees of other ranks whose selections are kept while trees keep their shape, on GPUs: the same bits as with
// new ones. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include "gravity/gpu/device_gravity.hpp"
#include "gravity/gravity.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "support/gpu_ranks.hpp"
#include "support/kept_lets.hpp"

namespace grove {
namespace {

using namespace testing;  // support/kept_lets.hpp

/// Gravity on a GPU.
class Forces {
 public:
  Forces(const Communicator& comm, const DeviceExchange& exchange, const GravityParameters& gravity,
         const Particles& own)
      : parameters_(gravity),
        stored_(own),
        storage_(comm, exchange, parameters_, stored_, records_, phases_, std::nullopt),
        gravity_(comm, parameters_, storage_) {}

  ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan) {
    return gravity_.evaluate(domain, plan, timers_);
  }
  void drift(double factor) {
    Drift drift{};
    drift.factor = factor;
    cuda::drift(stored_.size(), drift, step_fields(stored_));
  }
  Particles particles() const { return stored_.download(); }
  LetKeeping& keeping() { return storage_.exchange().keeping(); }
  Count shares() const { return storage_.shares(); }

 private:
  GravityParameters parameters_;
  DeviceParticles stored_;
  cuda::DeviceRecords records_;
  cuda::PhaseEnds phases_;
  DeviceGravity storage_;
  Gravity gravity_;
  PhaseTimers timers_;
};

struct Kind {
  Criterion criterion;
  WalkKind walk;
  LocalTreeKind tree;
};

class KeptLetsOfBoxesOnGpu : public GpuRanks {};

/// Selections for walks with far cells and for such without are kept apart.
TEST_F(KeptLetsOfBoxesOnGpu, are_right_where_far_cells_act_in_some_steps) {
  const Communicator alone(MPI_COMM_SELF);
  for (const Criterion criterion : {Criterion::acceleration, Criterion::opening_radius}) {
    GravityParameters parameters = periodic_parameters(1e-3);
    parameters.criterion = criterion;
    const auto evolve = [&](const Communicator& comm) {
      const SharedDomain shared = share_out(comm, make_box_with_rungs(), 64);
      const DeviceExchange exchange(comm, comm.size() > 1 && devices_.shared, std::nullopt);
      Forces forces(comm, exchange, parameters, shared.particles);
      return evolve_far_cells(comm, shared.domain, forces);
    };
    expect_right_far_cells(comm_, evolve(comm_), evolve(alone));
  }
}

/// Steps of few particles, in which no far cells act, meet many times what those with far cells do. They have
/// as many shares behind these as behind another of their own kind, but for groups that are at the limit:
/// places are the same, and |a_old| differs by the errors of forces, 1e-3, which changes interactions by half
/// of that. A twentieth of the shares is a hundred times as much; a limit by the work of the step before
/// would give several times as many. Groups of a lattice are alike, but there are 1500 of them for 16384
/// warps, so that the limit is below their mean (share_limit()).
TEST_F(KeptLetsOfBoxesOnGpu, leave_as_many_shares_to_others_behind_steps_with_far_cells) {
  const Communicator alone(MPI_COMM_SELF);
  Particles all = displaced_lattice(36, 0.1);
  for (std::size_t i = 0; i < all.size(); ++i) all.rung[i] = i % 8 == 0 ? 1 : 0;
  const auto shares_in_turn = [&](const Communicator& comm) {
    SharedDomain shared = share_out(comm, all, 512);
    const DeviceExchange exchange(comm, comm.size() > 1 && devices_.shared, std::nullopt);
    Forces forces(comm, exchange, periodic_parameters(2.5e-4), shared.particles);
    std::vector<Count> shares;
    std::vector<std::uint64_t> hashes;
    const EvaluationPlan full{.grows = false}, few{.grows = false, .first_active = 1, .active = 1};
    forces.evaluate(shared.domain, {});
    for (const EvaluationPlan& plan : {full, few, few, full, few}) {
      const Count before = forces.shares();
      forces.evaluate(shared.domain, plan);
      shares.push_back(comm.sum(forces.shares() - before));
      hashes.push_back(force_hash(comm, forces.particles()));
    }
    return std::pair(shares, hashes);
  };
  const auto [shares, hashes] = shares_in_turn(alone);
  EXPECT_EQ(shares[0], 0) << "all are active";
  EXPECT_EQ(shares[1], 0) << "nothing is known";
  EXPECT_GT(shares[2], 0);
  EXPECT_NEAR(static_cast<double>(shares[4]), static_cast<double>(shares[2]), 0.05 * shares[2]);
  EXPECT_EQ(shares_in_turn(comm_), std::pair(shares, hashes));
}

class KeptLetsOnGpu : public GpuRanks, public ::testing::WithParamInterface<Kind> {
 protected:
  Outcome evolve(const Communicator& comm, double drift, LetKeeping::Rule keeping,
                 std::size_t particles = 2000, Count* shares = nullptr, int renewing = -1,
                 Count domain_cell = 0, bool renews_cells = true) const {
    SharedDomain shared = share_clumps(comm, make_clumps(particles), domain_cell);
    if (!renews_cells) shared.domain.domain_cell = 0;  // the same cells and leaves
    GravityParameters parameters = kept_lets_parameters(GetParam().criterion, GetParam().walk);
    parameters.tree = GetParam().tree;
    const bool is_shared = comm.size() > 1 && devices_.shared;
    const DeviceExchange exchange(comm, is_shared, std::nullopt);
    Forces forces(comm, exchange, parameters, shared.particles);
    const Outcome outcome = testing::evolve(comm, shared.domain, forces, drift, keeping, renewing);
    if (shares != nullptr) *shares = forces.shares();
    return outcome;
  }
  void expect_right(const Outcome& outcome, double drift) const {
    testing::expect_right(outcome, evolve(alone_, drift, never));
  }

  const Communicator alone_{MPI_COMM_SELF};
};

/// Kept exchanges, and drifts, are those of kept_lets_test.cpp.
TEST_P(KeptLetsOnGpu, give_the_same_bits_with_less_said) {
  constexpr double drift = 1e-6;
  const Outcome kept = evolve(comm_, drift, always);
  expect_right(kept, drift);
  if (comm_.size() == 1) return;
  EXPECT_GE(kept.exchanges.kept, 0 + 2 + 6 + 1 + 3 + 7);
  EXPECT_EQ(kept.most_collectives, 2U) << "what covers tell; sums of forces";
  expect_right(evolve(comm_, drift, never), drift);
}

TEST_P(KeptLetsOnGpu, are_renewed_where_particles_go_far) {
  if (comm_.size() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const int at_rest = evolve(comm_, 1e-6, always).exchanges.with_room;
  for (const double drift : {1e-3, 0.1}) {
    const Outcome kept = evolve(comm_, drift, always);
    expect_right(kept, drift);
    EXPECT_GT(kept.exchanges.with_room, at_rest);
  }
}

/// Selections that lack something: those walks that need it go again, and no step ends twice.
TEST_P(KeptLetsOnGpu, are_sent_again_where_something_was_missing) {
  if (comm_.size() == 1) GTEST_SKIP() << "one rank exchanges nothing";
  constexpr double drift = 1e-6;
  const Outcome lacking = evolve(comm_, drift, too_little);
  expect_right(lacking, drift);
  EXPECT_GT(lacking.exchanges.with_room + lacking.exchanges.exact, 2 * static_cast<int>(std::size(ruler)) + 3)
      << "more than walks";
}

/// Trees of active leaves are cut anew, or active domain cells.
TEST_P(KeptLetsOnGpu, are_dropped_where_trees_are_renewed) {
  if (!follows_from_counts(GetParam().tree)) GTEST_SKIP() << "only bisections are renewed";
  constexpr double drift = 1e-3;
  constexpr int rung = 1;
  for (const Count domain_cell : {0, 500}) {
    const auto run = [&](const Communicator& comm, LetKeeping::Rule keeping, int renewing,
                         bool renews_cells = true) {
      return evolve(comm, drift, keeping, 2000, nullptr, renewing, domain_cell, renews_cells);
    };
    const Outcome expected = run(alone_, never, rung);
    EXPECT_NE(expected.hashes, run(alone_, never, -1).hashes) << "nothing was renewed";
    if (domain_cell > 0) {
      EXPECT_NE(expected.hashes, run(alone_, never, rung, false).hashes)
          << "only trees in leaves were renewed";
    }
    for (const LetKeeping::Rule& keeping : {always, never, too_little})
      testing::expect_right(run(comm_, keeping, rung), expected);
  }
}

/// There are enough particles for walks of one warp a group (walk_parts()), which split long groups. The
/// limit follows from the work of all ranks, and is the same when a rank walks again.
TEST_P(KeptLetsOnGpu, split_the_same_groups) {
  constexpr std::size_t count = 200000;
  ASSERT_EQ(cuda::walk_parts(3 * count / 4 / group_size), 1);
  Count shares = 0;
  const Outcome alone = evolve(alone_, 1e-6, never, count, &shares);
  if (GetParam().walk == WalkKind::groups) {
    EXPECT_GT(shares, 0);
  }
  for (const LetKeeping::Rule& rule : {always, too_little})
    testing::expect_right(evolve(comm_, 1e-6, rule, count), alone);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, KeptLetsOnGpu,
    ::testing::Values(Kind{Criterion::acceleration, WalkKind::groups, LocalTreeKind::bisection},
                      Kind{Criterion::acceleration, WalkKind::groups, LocalTreeKind::octree},
                      Kind{Criterion::relative_edge, WalkKind::groups, LocalTreeKind::kd},
                      Kind{Criterion::acceleration, WalkKind::rope, LocalTreeKind::bisection}));

}  // namespace
}  // namespace grove
