// Trees of other ranks whose selections are kept while trees keep their shape: the same bits as with new
// ones.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "backend/host_backend.hpp"
#include "base/activity.hpp"
#include "gravity/force_hash.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "support/host_forces.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

/// Clumps of stars that move, with rungs by their clump.
Particles make_clumps() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  Particles particles;
  particles.reset(2000);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double clump = static_cast<double>(i % 4), size = 0.1 * (1 + clump);
    particles.position[i] = {clump + size * normal(random), size * normal(random), size * normal(random)};
    particles.velocity[i] = {normal(random), normal(random), normal(random)};
    particles.mass[i] = 1.0 / 2000;
    particles.id[i] = i;
    particles.rung[i] = static_cast<std::uint8_t>(3 - i % 4);
  }
  return particles;
}

/// The rungs that steps begin with, in the order of block steps.
constexpr int ruler[] = {0, 3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3, 0};

constexpr LetKeeping::Rule never{0, 1000}, always{0.125F, 1}, too_little{-0.5F, 1};

struct Outcome {
  std::vector<std::uint64_t> hashes;  ///< of all forces, after each step
  std::vector<Count> interactions;
  std::vector<int> closed;  ///< how often a step was closed for good
  LetKeeping::Counts exchanges;
  std::uint64_t most_messages = 0, most_collectives = 0;  ///< of the steps in which values alone travelled
};

/// A step of the particles from a rung on, after all have drifted.
void step(const Communicator& comm, SharedDomain& shared, HostForces& forces, double drift, int rung,
          Outcome& outcome) {
  for (std::size_t i = 0; i < shared.particles.size(); ++i)
    shared.particles.position[i] += drift * shared.particles.velocity[i];
  int closed = 0;
  Count together = 0;
  const auto closes = [&](JointReduction& joint, bool is_there) {
    closed += is_there ? 1 : 0;
    together = is_there ? 1 : 0;
    joint.sum(together);
  };
  const int kept = forces.storage.exchange().keeping().counts().kept;
  const Activity before = activity();
  const ForceReport report =
      forces.evaluate(shared.domain, {.grows = false, .first_active = rung, .closes = closes});
  const Activity made = activity() - before;
  if (forces.storage.exchange().keeping().counts().kept > kept && rung > 0) {
    outcome.most_messages = std::max(outcome.most_messages, made.messages);
    outcome.most_collectives = std::max(outcome.most_collectives, made.collectives);
  }
  EXPECT_EQ(together, comm.size());
  outcome.closed.push_back(closed);
  outcome.hashes.push_back(force_hash(comm, shared.particles));
  outcome.interactions.push_back(report.interactions.cell + report.interactions.particle);
  for (const std::uint32_t work : shared.particles.work) EXPECT_GT(work, 0U);
}

/// Twice new trees and the steps of the ruler.
Outcome evolve(const Communicator& comm, const GravityParameters& parameters, double drift,
               LetKeeping::Rule keeping, int least_routed = 100) {
  SharedDomain shared = share_out(comm, make_clumps(), 128);
  HostForces forces(comm, parameters, shared.particles);
  forces.storage.exchange().keeping().set_rule(keeping);
  forces.storage.exchange().set_least_routed(least_routed);
  Outcome outcome;
  for (int trees = 0; trees < 2; ++trees) {
    forces.evaluate(shared.domain);
    for (const int rung : ruler) step(comm, shared, forces, drift, rung, outcome);
  }
  outcome.exchanges = forces.storage.exchange().keeping().counts();
  return outcome;
}

GravityParameters parameters_of(Criterion criterion, WalkKind walk) {
  GravityParameters parameters;
  parameters.criterion = criterion;
  parameters.order = needs_boxes(criterion) ? Order::monopole : Order::quadrupole;
  parameters.delta = 0.002;
  parameters.theta = 0.7;
  parameters.walk = walk;
  parameters.softening.fill(0.01);
  return parameters;
}

struct Kind {
  Criterion criterion;
  WalkKind walk;
};
class KeptLets : public ::testing::TestWithParam<Kind> {
 protected:
  const Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  const GravityParameters parameters_ = parameters_of(GetParam().criterion, GetParam().walk);

  /// It is what one rank computes, which exchanges nothing.
  void expect_right(const Outcome& outcome, double drift) const {
    const Outcome expected = evolve(alone_, parameters_, drift, never);
    EXPECT_EQ(outcome.hashes, expected.hashes);
    EXPECT_EQ(outcome.interactions, expected.interactions);
    EXPECT_EQ(outcome.closed, std::vector<int>(2 * std::size(ruler), 1)) << "each step ends once";
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
  for (const double drift : {1e-3, 0.1}) {
    const Outcome kept = evolve(comm_, parameters_, drift, always);
    expect_right(kept, drift);
    EXPECT_GT(kept.exchanges.with_room, 4) << "more than once for each rung";
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

INSTANTIATE_TEST_SUITE_P(Kinds, KeptLets,
                         ::testing::Values(Kind{Criterion::acceleration, WalkKind::groups},
                                           Kind{Criterion::opening_edge, WalkKind::groups},
                                           Kind{Criterion::relative_edge, WalkKind::groups},
                                           Kind{Criterion::acceleration, WalkKind::rope}));

/// A host that keeps selections as a test wants it.
class KeepingHost : public HostBackend {
 public:
  KeepingHost(const Communicator& comm, Particles own, const GravityParameters& gravity,
              LetKeeping::Rule keeping)
      : HostBackend(comm, std::move(own), gravity,
                    [&](const GravityParameters& parameters, Particles& particles, Array<Record>& records) {
                      auto trees = std::make_unique<HostGravity>(comm, parameters, particles, records);
                      trees->exchange().keeping().set_rule(keeping);
                      return trees;
                    }) {}
};

/// The particles of a small merger at the end of some block steps in which trees are old.
Particles merged(const Communicator& comm, LetKeeping::Rule keeping) {
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: merger}\n"
      "gravity: {softening: 0.02}\n"
      "tuning: {rebuild_interval: 24}\n"
      "time: {begin: 0, end: 0.2, step: 0.1, eta: 0.1}\n",
      "test", {});
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 3000;
  Simulation simulation(comm, parameters,
                        std::make_unique<KeepingHost>(comm, testing::share_of(comm, make_particles(merger)),
                                                      parameters.gravity, keeping),
                        0);
  while (!simulation.is_done()) simulation.step();
  return testing::gathered_by_id(comm, simulation.particles());
}

TEST(KeptLetsOfARun, leave_its_end_as_it_is) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Particles expected = merged(alone, never);
  for (const LetKeeping::Rule& keeping : {never, always, too_little})
    testing::expect_same(merged(comm, keeping), expected);
}

}  // namespace
}  // namespace grove
