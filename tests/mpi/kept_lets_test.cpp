// Trees of other ranks whose selections are kept while trees keep their shape: the same bits as with new
// ones.
#include <gtest/gtest.h>

#include <string>

#include "backend/host_backend.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "support/host_forces.hpp"
#include "support/kept_lets.hpp"

namespace grove {
namespace {

using namespace testing;  // support/kept_lets.hpp

/// Gravity on a host.
struct Forces : HostForces {
  Forces(const Communicator& comm, const GravityParameters& of_forces, Particles& own)
      : HostForces(comm, of_forces, own), stored(own) {}
  void drift(double factor) {
    for (std::size_t i = 0; i < stored.size(); ++i) stored.position[i] += factor * stored.velocity[i];
  }
  const Particles& particles() const { return stored; }
  LetKeeping& keeping() { return storage.exchange().keeping(); }

  Particles& stored;
};

Outcome evolve(const Communicator& comm, const GravityParameters& parameters, double drift,
               LetKeeping::Rule keeping, int least_routed = 100, int renewing = -1, Count domain_cell = 0,
               bool renews_cells = true) {
  SharedDomain shared = share_clumps(comm, make_clumps(), domain_cell);
  if (!renews_cells) shared.domain.domain_cell = 0;  // the same cells and leaves
  Forces forces(comm, parameters, shared.particles);
  forces.storage.exchange().set_least_routed(least_routed);
  return testing::evolve(comm, shared.domain, forces, drift, keeping, renewing);
}

struct Kind {
  Criterion criterion;
  WalkKind walk;
};
class KeptLets : public ::testing::TestWithParam<Kind> {
 protected:
  const Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  const GravityParameters parameters_ = kept_lets_parameters(GetParam().criterion, GetParam().walk);

  void expect_right(const Outcome& outcome, double drift) const {
    testing::expect_right(outcome, evolve(alone_, parameters_, drift, never));
  }
};

/// With the evaluation that grows trees, which is of rung 0, there are 3, 2, 4 and 8 walks of the rungs, and
/// one more of rung 0 in the beginning, when there is no |a_old|. Groups are some 0.05 across; drifts are far
/// less.
TEST_P(KeptLets, give_the_same_bits_with_less_said) {
  constexpr double drift = 1e-6;
  const Outcome kept = evolve(comm_, parameters_, drift, always);
  expect_right(kept, drift);
  // Of each rung the first walk is exact and the second has room, for the second trees the first has. Of rung
  // 0 nothing is kept while there are three others: from the third walk through the first trees on.
  EXPECT_GE(kept.exchanges.kept, 0 + 2 + 6 + 1 + 3 + 7);
  EXPECT_LE(kept.most_messages, static_cast<std::uint64_t>(comm_.size() - 1)) << "values alone";
  EXPECT_EQ(kept.most_collectives, 2U) << "moments of covers; sums of forces";

  const Outcome none = evolve(comm_, parameters_, drift, never);
  expect_right(none, drift);
  EXPECT_EQ(none.exchanges.kept + none.exchanges.with_room, 0);
}

/// What is for far ranks goes over others.
TEST_P(KeptLets, may_be_routed) {
  constexpr double drift = 1e-6;
  for (const LetKeeping::Rule& keeping : {always, never, too_little})
    expect_right(evolve(comm_, parameters_, drift, keeping, 2), drift);
}

/// Groups leave their room.
TEST_P(KeptLets, are_renewed_where_particles_go_far) {
  const int at_rest = evolve(comm_, parameters_, 1e-6, always).exchanges.with_room;
  for (const double drift : {1e-3, 0.1}) {
    const Outcome kept = evolve(comm_, parameters_, drift, always);
    expect_right(kept, drift);
    EXPECT_GT(kept.exchanges.with_room, at_rest);
  }
}

/// Selections that lack something: those walks that need it go again, and no step ends twice.
TEST_P(KeptLets, are_sent_again_where_something_was_missing) {
  constexpr double drift = 1e-6;
  const Outcome lacking = evolve(comm_, parameters_, drift, too_little);
  expect_right(lacking, drift);
  if (comm_.size() == 1) return;
  EXPECT_GT(lacking.exchanges.with_room + lacking.exchanges.exact, 2 * static_cast<int>(std::size(ruler)) + 3)
      << "more than walks";
}

/// Between the steps that renew trees there are three of rung 3, from the second of which on selections are
/// kept.
TEST_P(KeptLets, are_dropped_where_trees_are_renewed) {
  constexpr double drift = 1e-3;
  constexpr int rung = 1, rarely = 100;
  const Outcome expected = evolve(alone_, parameters_, drift, never, rarely, rung);
  EXPECT_NE(expected.hashes, evolve(alone_, parameters_, drift, never).hashes) << "nothing was renewed";
  for (const LetKeeping::Rule& keeping : {always, never, too_little})
    testing::expect_right(evolve(comm_, parameters_, drift, keeping, rarely, rung), expected);
  EXPECT_GT(evolve(comm_, parameters_, 1e-6, always, rarely, rung).exchanges.kept, 0);
}

/// With domain cells more is cut anew than the trees in leaves.
TEST_P(KeptLets, renew_active_domain_cells_alike_on_any_number_of_ranks) {
  constexpr double drift = 1e-3;
  constexpr int rung = 1, rarely = 100;
  const auto alone = [&](int renewing, bool renews_cells) {
    return evolve(alone_, parameters_, drift, never, rarely, renewing, 500, renews_cells);
  };
  const Outcome expected = alone(rung, true);
  EXPECT_NE(expected.hashes, alone(-1, true).hashes);
  EXPECT_NE(expected.hashes, alone(rung, false).hashes) << "only trees in leaves were renewed";
  for (const LetKeeping::Rule& keeping : {always, never, too_little})
    testing::expect_right(evolve(comm_, parameters_, drift, keeping, rarely, rung, 500), expected);
}

/// Selections for walks with far cells and for such without are kept apart.
TEST(KeptLetsOfBoxes, are_right_where_far_cells_act_in_some_steps) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const Criterion criterion : {Criterion::acceleration, Criterion::opening_radius}) {
    GravityParameters parameters = periodic_parameters(1e-3);
    parameters.criterion = criterion;
    const auto evolve = [&](const Communicator& ranks) {
      SharedDomain shared = share_out(ranks, make_box_with_rungs(), 64);
      Forces forces(ranks, parameters, shared.particles);
      return evolve_far_cells(ranks, shared.domain, forces);
    };
    expect_right_far_cells(comm, evolve(comm), evolve(alone));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KeptLets,
                         ::testing::Values(Kind{Criterion::acceleration, WalkKind::groups},
                                           Kind{Criterion::opening_edge, WalkKind::groups},
                                           Kind{Criterion::relative_edge, WalkKind::groups},
                                           Kind{Criterion::acceleration, WalkKind::rope}));

/// A host that keeps selections as a test wants it.
class KeepingHost : public HostBackend {
 public:
  /// keeping (out): of its exchange.
  KeepingHost(const Communicator& comm, Particles own, const GravityParameters& gravity,
              LetKeeping::Rule rule, const LetKeeping*& keeping)
      : HostBackend(comm, std::move(own), gravity,
                    [&](const GravityParameters& parameters, Particles& particles, Array<Record>& records) {
                      auto trees = std::make_unique<HostGravity>(comm, parameters, particles, records);
                      trees->exchange().keeping().set_rule(rule);
                      keeping = &trees->exchange().keeping();
                      return trees;
                    }) {}
};

/// The particles of a small merger at the end of some block steps in which trees are old, and refitted alone.
/// space: a line of parameters; kept (out): how often selections were.
Particles merged(const Communicator& comm, LetKeeping::Rule rule, const std::string& space, int& kept) {
  const std::string text = space +
                           "units: {system: none}\n"
                           "initial_conditions: {model: merger}\n"
                           "gravity: {softening: 0.02}\n"
                           "tuning: {rebuild_above: 1000}\n"
                           "time: {begin: 0, end: 0.1, step: 0.1, eta: 0.02}\n";
  const Parameters parameters = parse_parameters(text, "test", {});
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 3000;
  const LetKeeping* keeping = nullptr;
  Simulation simulation(comm, parameters,
                        std::make_unique<KeepingHost>(comm, testing::share_of(comm, make_particles(merger)),
                                                      parameters.gravity, rule, keeping),
                        0);
  while (!simulation.is_done()) simulation.step();
  kept = keeping->counts().kept;
  return testing::gathered_by_id(comm, simulation.particles());
}

TEST(KeptLetsOfARun, leave_its_end_as_it_is) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  int kept = 0;
  const Particles expected = merged(alone, never, "", kept);
  for (const LetKeeping::Rule& rule : {never, too_little, always})
    expect_same(merged(comm, rule, "", kept), expected);
  EXPECT_GT(kept, 0) << "always";
}

/// The moments of the box are summed once, whoever walks again.
TEST(KeptLetsOfARun, leave_its_end_as_it_is_in_a_periodic_box) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const std::string space = "box: {size: 16, periodic: true}\n";
  int kept = 0;
  const Particles expected = merged(alone, never, space, kept);
  expect_same(merged(comm, too_little, space, kept), expected);
  expect_same(merged(comm, always, space, kept), expected);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace grove
