// Leaves that change their owners between decompositions, on the host.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "backend/host_backend.hpp"
#include "run/leaf_moves.hpp"
#include "run/simulation.hpp"
#include "support/leaf_move_checks.hpp"

namespace grove {
namespace {

using Runs = std::vector<std::int32_t>;

/// Leaves of the first rank.
std::int32_t of_first(const Domain& domain) { return domain.owners.own(0).size(); }

std::unique_ptr<Backend> on_host(const Communicator& comm, Particles own, const GravityParameters& gravity) {
  return std::make_unique<HostBackend>(comm, std::move(own), gravity);
}

class LeafMovesOnHost : public ::testing::Test {
 protected:
  LeafMovesOnHost() { gravity_.softening.fill(0.02); }
  void check() const { testing::check_leaf_moves(comm_, on_host, gravity_, 5000); }

  Communicator comm_{MPI_COMM_WORLD};
  GravityParameters gravity_;
};

TEST_F(LeafMovesOnHost, change_no_bit) { check(); }

TEST_F(LeafMovesOnHost, change_no_bit_with_octrees) {
  gravity_.tree = LocalTreeKind::octree;
  check();
  gravity_.critical_separation = 0.2;  // so that groups are split
  check();
  gravity_.criterion = Criterion::opening_cell;
  check();
}

TEST_F(LeafMovesOnHost, change_no_bit_of_gas) {
  testing::check_leaf_moves(comm_, on_host, gravity_, 1500, "evrard");
}

TEST_F(LeafMovesOnHost, change_no_bit_of_direct_sums) {
  gravity_.direct_below = 10000;
  testing::check_leaf_moves(comm_, on_host, gravity_, 500);
}

/// A sphere with forces.
struct Sphere {
  Sphere(const Communicator& comm, const GravityParameters& gravity) {
    ModelParameters sphere;
    sphere.model = "plummer";
    sphere.particles = 3000;
    backend = on_host(comm, testing::share_of(comm, make_particles(sphere)), gravity);
    DecompositionReport report;
    domain = backend->decompose({.leaf_size = 32}, {}, report);
    backend->gravity().evaluate(domain, {}, timers);
    evaluate();
  }
  void evaluate() { forces = backend->gravity().evaluate(domain, {.grows = false}, timers); }

  std::unique_ptr<Backend> backend;
  Domain domain;
  PhaseTimers timers;
  ForceReport forces;
};

/// As a run does it between two steps.
Count agree_and_move(const Communicator& comm, LeafMoves& moves, Sphere& sphere, double now,
                     PhaseTimers& timers) {
  JointReduction joint;
  moves.join(joint, now);
  joint.apply(comm);
  return moves.move(*sphere.backend, sphere.domain, now, timers);
}

TEST_F(LeafMovesOnHost, take_leaves_from_a_slow_rank_when_it_was_slow_for_three_longest_steps) {
  Sphere sphere(comm_, gravity_);
  LeafMoves moves(comm_, sphere.backend->traits().move_rates);
  moves.decomposed(0);
  const LeafOwners first = sphere.domain.owners;
  const std::int32_t had = of_first(sphere.domain);
  // As by the clock of another machine: the first rank makes 400 interactions a second, all others 1000.
  const auto step = [&] {
    sphere.evaluate();
    sphere.forces.own.seconds =
        static_cast<double>(sphere.forces.own.interactions) / (comm_.is_master() ? 400 : 1000);
    moves.walked(sphere.forces, sphere.domain.leaf_begin.back(), {});
    moves.synchronised();
  };
  for (int steps = 1; steps <= 3; ++steps) {
    EXPECT_EQ(agree_and_move(comm_, moves, sphere, steps, sphere.timers), 0);
    EXPECT_EQ(sphere.domain.owners, first);
    step();
  }
  const Count moved = agree_and_move(comm_, moves, sphere, 4, sphere.timers);
  if (comm_.size() == 1) {
    EXPECT_EQ(moved, 0);
    return;
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(of_first(sphere.domain), had);
  EXPECT_EQ(agree_and_move(comm_, moves, sphere, 4, sphere.timers), 0) << "once in a longest step";
  // It has had 1 / P of the work, and ends with 2 / (5 P - 3): of seven ranks with 1 / 16, six leaves.
  const LeafOwners after = sphere.domain.owners;
  step();
  EXPECT_EQ(agree_and_move(comm_, moves, sphere, 5, sphere.timers), 0) << "that is all there is to gain";
  EXPECT_EQ(sphere.domain.owners, after);
  const std::vector<std::uint32_t> speeds = moves.speeds();
  EXPECT_NEAR(speeds[0] / double{1 << 20}, 0.4, 0x1p-20) << "they are rounded to 2^-20 of the largest";
}

TEST_F(LeafMovesOnHost, take_no_time_where_the_master_knows_that_moves_do_not_pay) {
  Sphere sphere(comm_, gravity_);
  LeafMoves moves(comm_, sphere.backend->traits().move_rates);
  moves.synchronised();
  PhaseTimers timers;
  EXPECT_EQ(agree_and_move(comm_, moves, sphere, 1, timers), 0);
  EXPECT_TRUE(timers.all().empty());
}

/// Says that it walks slowly: the first rank makes 400 interactions a second, all others 1000.
class SlowGravity : public HostGravity {
 public:
  SlowGravity(const Communicator& comm, const GravityParameters& gravity, Particles& particles,
              Array<Record>& records)
      : HostGravity(comm, gravity, particles, records), seconds_(comm.is_master() ? 1.0 / 400 : 1.0 / 1000) {}

  WalkCounts walk_own(const GravitySetup& setup, PhaseTimers& timers) override {
    return slowly(HostGravity::walk_own(setup, timers), timers);
  }
  WalkCounts walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) override {
    return slowly(HostGravity::walk_others(setup, domain, timers), timers);
  }

 private:
  WalkCounts slowly(const WalkCounts& counts, PhaseTimers& timers) const {
    timers.add("other walk", {seconds_ * static_cast<double>(counts.cell + counts.particle), {}});
    return counts;
  }
  double seconds_;  ///< per interaction
};

/// A host with ranks of uneven speeds.
class UnevenHost : public HostBackend {
 public:
  UnevenHost(const Communicator& comm, Particles own, const GravityParameters& gravity, int& moves)
      : HostBackend(
            comm, std::move(own), gravity,
            [&comm](const GravityParameters& parameters, Particles& particles, Array<Record>& records) {
              return std::make_unique<SlowGravity>(comm, parameters, particles, records);
            }),
        moves_(moves) {}

  void move_leaves(Domain& domain, LeafOwners owners, PhaseTimers& timers) override {
    ++moves_;
    HostBackend::move_leaves(domain, std::move(owners), timers);
  }

 private:
  int& moves_;
};

/// A merger that goes through 6 longest steps with the leaves of the first decomposition.
struct MergerRun {
  MergerRun(const Communicator& comm, const std::string& rule, const std::string& time) {
    const Parameters parameters = parse_parameters(
        "units: {system: none}\n"
        "initial_conditions: {model: merger}\n"
        "gravity: {softening: 0.02}\n"
        "tuning: {rebuild_interval: 1000}\n"
        "decomposition: {rule: " +
            rule + "}\ntime: {begin: 0, " + time + "}\n",
        "test", {});
    ModelParameters merger;
    merger.model = "merger";
    merger.particles = 3000;
    Particles own = testing::share_of(comm, make_particles(merger));
    Simulation simulation(comm, parameters,
                          std::make_unique<UnevenHost>(comm, std::move(own), parameters.gravity, moves), 0);
    first = of_first(simulation.domain());
    while (!simulation.is_done()) simulation.step();
    last = of_first(simulation.domain());
    longest_steps = simulation.longest_steps_done();
    particles = testing::gathered_by_id(comm, simulation.particles());
  }

  int moves = 0;
  std::int32_t first = 0, last = 0;  ///< leaves of the first rank
  std::int64_t longest_steps = 0;
  Particles particles;
};

TEST_F(LeafMovesOnHost, happen_in_a_run_and_change_no_bit_of_it) {
  const Communicator self(MPI_COMM_SELF);
  for (const char* rule : {"middle", "domains"})
    for (const char* time : {"end: 0.12, step: 0.02, steps: shared", "end: 0.6, step: 0.1, eta: 0.1"}) {
      SCOPED_TRACE(std::string(rule) + ", " + time);
      const MergerRun alone(self, rule, time), run(comm_, rule, time);
      EXPECT_EQ(run.longest_steps, 6);
      EXPECT_EQ(alone.moves, 0);
      testing::expect_same(run.particles, alone.particles);
      if (comm_.size() == 1) continue;
      EXPECT_GE(run.moves, 1);
      // The slow rank gives some away; domain cells, which move as a whole, may be too large for that.
      if (rule == std::string("middle"))
        EXPECT_LT(run.last, run.first);
      else
        EXPECT_LE(run.last, run.first);
    }
}

TEST_F(LeafMovesOnHost, refuse_runs_that_do_not_hold_each_leaf_once) {
  Sphere sphere(comm_, gravity_);
  const auto runs = [&](std::int32_t end) {
    Runs all(static_cast<std::size_t>(comm_.size()) + 1, 0);
    all.back() = end;
    return all;
  };
  const auto move = [&](const Runs& to) {
    sphere.backend->move_leaves(sphere.domain, owners_in_order(to), sphere.timers);
  };
  EXPECT_THROW(move(runs(sphere.domain.leaves() - 1)), std::logic_error);
  EXPECT_THROW(move({0}), std::logic_error);
  Runs of_more_ranks = runs(sphere.domain.leaves());
  of_more_ranks.push_back(sphere.domain.leaves());
  EXPECT_THROW(move(of_more_ranks), std::logic_error);
  EXPECT_THROW(move(runs(0)), std::logic_error);
}

}  // namespace
}  // namespace grove
