#include "run/simulation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "support/particles.hpp"
#include "support/whole_domain.hpp"
#include "time/epoch.hpp"

namespace grove {
namespace {

using testing::expect_same;
using testing::gathered_by_id;
using testing::share_of;

/// The particles of a small merger, and a run of them; `time`, `gravity`: what is to be said of its steps and
/// forces.
ModelParameters small_merger() {
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 3000;
  return merger;
}
Simulation begun(const Communicator& comm, const std::string& time, const std::string& gravity = "") {
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: merger}\n"
      "gravity: {softening: 0.02" +
          gravity + "}\ntime: {begin: 0, " + time + "}\n",
      "test", {});
  return Simulation(comm, parameters, share_of(comm, make_particles(small_merger())), 0);
}
/// Its state at the end.
Particles evolved(const Communicator& comm, const std::string& time, const std::string& gravity = "") {
  Simulation simulation = begun(comm, time, gravity);
  while (!simulation.is_done()) simulation.step();
  return gathered_by_id(comm, simulation.particles());
}

class SimulationOnRanks : public ::testing::TestWithParam<const char*> {};

TEST_P(SimulationOnRanks, ends_in_the_same_state_on_any_number) {
  const Particles expected = evolved(Communicator(MPI_COMM_SELF), GetParam());
  const Particles actual = evolved(Communicator(MPI_COMM_WORLD), GetParam());
  expect_same(actual, expected);
}

/// In a run to the end steps begin while ranks agree on what is left of the one before; a snapshot falls
/// between two.
TEST(Simulation, ends_in_the_same_state_run_to_the_end_as_step_by_step) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "to_the_end");
  const std::string time = "end: 0.2, step: 0.1, eta: 0.1";
  Simulation simulation =
      begun(comm, time + "}\noutput: {render: false, times: [0.137], folder: " + folder.path());
  EXPECT_EQ(simulation.run(), Ended::complete);
  expect_same(gathered_by_id(comm, simulation.particles()), evolved(comm, time));
}

TEST(SimulationOfOctrees, ends_in_the_same_state_on_any_number_of_ranks) {
  const char *const time = "end: 0.2, step: 0.1, eta: 0.1", *const octrees = ", tree: octree";
  const Particles expected = evolved(Communicator(MPI_COMM_SELF), time, octrees);
  const Particles actual = evolved(Communicator(MPI_COMM_WORLD), time, octrees);
  expect_same(actual, expected);
}

TEST(SimulationOfRebuildsAbove, ends_in_the_same_state_on_any_number_of_ranks) {
  for (const std::string steps : {"step: 0.02, steps: shared", "step: 0.1, eta: 0.1"}) {
    const auto end = [&](MPI_Comm ranks, const std::string& above) {
      return evolved(Communicator(ranks), "end: 0.2, " + steps + "}\ntuning: {rebuild_above: " + above);
    };
    const Particles expected = end(MPI_COMM_SELF, "0.02");
    expect_same(end(MPI_COMM_WORLD, "0.02"), expected);
    // Walks never cost 100 times those of fresh trees, so the first cuts stay, and forces are others.
    EXPECT_FALSE(std::ranges::equal(end(MPI_COMM_SELF, "99").velocity, expected.velocity)) << steps;
  }
}

// Cells that differ from those of the step before count the decompositions: the particles move in each step,
// and cuts with them. Walks never cost 100 times those of fresh trees, and the rule fires where 1.02 are
// enough.
TEST(SimulationOfRebuildsAbove, decomposes_once_where_trees_do_not_age) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::string steps : {"step: 0.02, steps: shared", "step: 0.1, eta: 0.1"}) {
    const auto decompositions = [&](const std::string& above) {
      Simulation simulation = begun(comm, "end: 0.2, " + steps + "}\ntuning: {rebuild_above: " + above);
      const auto all_cells = [&] {
        return test::whole_domain(comm, simulation.domain()).cells;
      };  // wherever they lie
      int count = 1;
      for (std::vector<Cell> cells = all_cells(); !simulation.is_done();) {
        simulation.step();
        if (std::vector<Cell> now = all_cells(); now != cells) ++count, cells = std::move(now);
      }
      return count;
    };
    EXPECT_EQ(decompositions("99"), 1) << steps;
    EXPECT_GT(decompositions("0.02"), 1) << steps;
  }
}

// Particles that hardly move in 40 steps, each with new cuts.
TEST(Simulation, cuts_elsewhere_every_16_steps) {
  ModelParameters sphere;
  sphere.model = "cold-sphere";
  sphere.particles = 4000;
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: cold-sphere}\n"
      "gravity: {softening: 0.1}\n"
      "tuning: {rebuild_interval: 1}\n"
      "time: {begin: 0, end: 40e-9, step: 1e-9, steps: shared}\n",
      "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters, share_of(comm, make_particles(sphere)), 0);
  const auto left = [&] {
    const std::vector<Cell>& cells = simulation.domain().cells;
    return cells[static_cast<std::size_t>(cells[0].child)].count;
  };
  std::vector<Count> lefts;
  while (!simulation.is_done()) {
    simulation.step();
    if (lefts.empty() || left() != lefts.back()) lefts.push_back(left());
  }
  EXPECT_EQ(lefts.size(), 3u) << "epochs of 16, 16 and 8 steps";
}

/// The steps before which epochs begin. parts: into how many steps each longest one is divided; cuts come in
/// each step.
std::vector<std::int64_t> epochs_of(const std::vector<std::int64_t>& parts) {
  std::vector<std::int64_t> begun;
  Epoch epoch;
  std::int64_t steps = 0;
  for (std::size_t longest = 0; longest < parts.size(); ++longest)
    for (std::int64_t part = 0; part < parts[longest]; ++part, ++steps)
      if (epoch.cut(steps,
                    {static_cast<std::int64_t>(longest), BlockClock::ticks_per_step / parts[longest] * part}))
        begun.push_back(steps);
  return begun;
}

TEST(Epoch, takes_16_steps_and_a_longest_one_at_least) {
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(epochs_of(Steps(40, 1)), (Steps{16, 32}));
  EXPECT_EQ(epochs_of(Steps(12, 4)), (Steps{16, 32}));
  EXPECT_EQ(epochs_of(Steps(4, 32)), (Steps{32, 64, 96}));
  // A change of rungs neither begins an epoch in each step nor cuts one short.
  EXPECT_EQ(epochs_of({1, 1, 1, 1, 64, 64, 64, 1, 1, 1}), (Steps{16, 80, 144, 197}));
  EXPECT_EQ(epochs_of({32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), (Steps{32, 48}));
}

TEST(Epoch, is_over_after_a_longest_step_wherever_in_one_it_began) {
  constexpr std::int64_t half = BlockClock::ticks_per_step / 2;
  Epoch epoch;
  ASSERT_TRUE(epoch.cut(40, {3, half}));
  EXPECT_FALSE(epoch.cut(60, {4, half - 1}));
  EXPECT_TRUE(epoch.cut(61, {4, half}));
  EXPECT_EQ(epoch.number, 2);
}

/// A Plummer sphere in one octree, with parts of groups that reach no farther than this.
Parameters in_one_octree(double separation) {
  return parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: plummer}\n"
      "gravity: {softening: 0.01, tree: octree}\n"
      "decomposition: {leaf_size: 20000}\n"
      "time: {begin: 0, end: 0.3, step: 0.01, steps: shared}\n",
      "test", {fmt::format("gravity.critical_separation={:.17g}", separation)});
}

/// The tuning of the trees would take costs of groups that are not split for those of fresh trees, and cut
/// these anew too often, if it learned before the separation was found.
TEST(SimulationOfOctrees, makes_the_same_steps_with_the_separation_that_it_finds_as_with_that_given) {
  ModelParameters plummer;
  plummer.model = "plummer";
  plummer.particles = 20000;
  const Communicator comm(MPI_COMM_WORLD);
  const auto begin = [&](double separation) {
    return Simulation(comm, in_one_octree(separation), share_of(comm, make_particles(plummer)), 0);
  };
  Simulation tuned = begin(0);
  const double found = tuned.forces().critical_separation, edge = tuned.domain().box.edge;
  EXPECT_GT(found, 0);
  EXPECT_LT(found, edge);
  Simulation given = begin(found), whole = begin(edge);
  EXPECT_LT(tuned.forces().interactions.cell, whole.forces().interactions.cell);
  while (!tuned.is_done()) {
    tuned.step(), given.step();
    ASSERT_EQ(tuned.forces().interactions.cell, given.forces().interactions.cell) << tuned.time();
    ASSERT_EQ(tuned.forces().interactions.particle, given.forces().interactions.particle) << tuned.time();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Steps, SimulationOnRanks,
    ::testing::Values("end: 0.2, step: 0.02, steps: shared", "end: 0.2, step: 0.1, eta: 0.1",
                      // New cuts in each step of three epochs.
                      "end: 0.2, step: 0.005, steps: shared}\ntuning: {rebuild_interval: 1",
                      "end: 0.2, step: 0.1, eta: 0.1, integrator: predictor_corrector",
                      // Domain cells of several leaves, some of which are cut anew between new cuts.
                      "end: 0.2, step: 0.1, eta: 0.1}\ndecomposition: {leaf_size: 32, domain_cell: 300"));

/// The energy error of a Plummer sphere of 1000 particles after two crossing times.
double energy_error(const char* cost) {
  ModelParameters plummer;
  plummer.model = "plummer";
  plummer.particles = 1000;
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: plummer}\n"
      "gravity: {softening: 0.1}\n"
      "time: {begin: 0, end: 12.5, step: 0.05, steps: shared}\n",
      "test", {std::string("tuning.cost=") + cost});
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters, share_of(comm, make_particles(plummer)), 0);
  const double energy = simulation.totals().total_energy();
  while (!simulation.is_done()) simulation.step();
  return std::abs(simulation.totals().total_energy() / energy - 1);
}

// Trees of any age keep the accuracy that is asked for, so whatever decides about them, one bound holds, that
// of physics/simulation_test.cpp: 2e-4 of the leapfrog, and a walk by force errors of 1e-4 there, which is
// here, in a fifth of the time with a tenth of the particles, sqrt(10 / 5) of it.
TEST(Simulation, keeps_its_energy_whether_costs_are_counted_or_measured) {
  EXPECT_LT(energy_error("counted"), 5e-4);
  EXPECT_LT(energy_error("measured"), 5e-4);
}

}  // namespace
}  // namespace grove
