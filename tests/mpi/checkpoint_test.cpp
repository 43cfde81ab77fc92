// Runs that are saved and go on elsewhere, on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <utility>

#include "backend/host_backend.hpp"
#include "base/activity.hpp"
#include "base/errors.hpp"
#include "base/hash.hpp"
#include "gravity/force_hash.hpp"
#include "io/checkpoint_folder.hpp"
#include "run/start/initial_conditions.hpp"
#include "support/checkpoint_checks.hpp"
#include "support/leaf_move_checks.hpp"

namespace grove {
namespace {

using testing::CheckedRun;
using testing::Evolution;

std::unique_ptr<Backend> on_host(const Communicator& comm, Particles own, const GravityParameters& gravity) {
  return std::make_unique<HostBackend>(comm, std::move(own), gravity);
}

/// A host whose steps of few particles take turns in renewing trees, as a GPU's do.
class HostInTurns : public HostBackend {
 public:
  HostInTurns(const Communicator& comm, Particles own, const GravityParameters& gravity)
      : HostBackend(comm, std::move(own), gravity) {
    traits_.few_renewed = 1 << 17;
  }
};
std::unique_ptr<Backend> in_turns(const Communicator& comm, Particles own, const GravityParameters& gravity) {
  return std::make_unique<HostInTurns>(comm, std::move(own), gravity);
}

/// Runs with several rungs; by the end trees have been refitted, grown anew in old leaves, and cut
/// anew.
const std::string block_steps = "time: {begin: 0, end: 0.15, step: 0.05, eta: 0.1}\n",
                  few_steps = "time: {begin: 0, end: 0.1, step: 0.05, eta: 0.1}\n",
                  shared_steps = "time: {begin: 0, end: 1.4, step: 0.05, steps: shared}\n",
                  bisections = "gravity: {softening: 0.02, delta: 0.0005}\n",
                  octrees = "gravity: {softening: 0.02, delta: 0.0005, tree: octree}\n";

class CheckpointOnHost : public ::testing::Test {
 protected:
  void check(const std::string& sections) const { testing::check_relay(comm_, on_host, sections, 2000); }
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_after_each_step_on_other_ranks) {
  check(bisections + block_steps);
  check(bisections + shared_steps);
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_with_octrees) {
  check(octrees + block_steps);
  check(octrees + shared_steps);
  check(
      "gravity: {softening: 0.02, tree: octree, criterion: opening_cell, bucket: 2}\n"
      "tuning: {rebuild_interval: 5}\n" +
      few_steps);
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_with_kd_trees) {
  check("gravity: {softening: 0.02, delta: 0.0005, tree: kd, split: median, bucket: 5}\n" + block_steps);
  check("gravity: {softening: 0.02, delta: 0.0005, tree: kd}\n" + few_steps);
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_with_other_parameters) {
  check(bisections + "time: {begin: 0, end: 0.1, step: 0.05, eta: 0.1, integrator: predictor_corrector}\n");
  check(bisections + "decomposition: {rule: halves, leaves: 33}\n" + few_steps);
  check("gravity: {softening: 0.02, criterion: multipole, delta: 1e-3}\n" + few_steps);
  check(octrees + "decomposition: {rule: centre, leaf_size: 100}\n" + few_steps);
  check(bisections + "decomposition: {rule: domains, leaf_size: 32, domain_cell: 200}\n" + block_steps);
  check(bisections + "tuning: {rebuild_interval: 5}\n" + few_steps);
  check(bisections + "tuning: {rebuild_above: 0.02}\n" + few_steps);
}

/// Trees of the deepest particles are cut anew in steps of most particles, too, if they have aged by the
/// forces of the step before.
TEST_F(CheckpointOnHost, goes_on_bit_for_bit_where_long_steps_renew_aged_trees) {
  const std::string sections =
      "gravity: {softening: 0.005, delta: 0.05}\ndecomposition: {leaf_size: 32}\n"
      "tuning: {rebuild_interval: 64}\ntime: {begin: 0, end: 0.5, step: 0.25, eta: 0.5, min_step: 0.007}\n";
  check(sections);
  const testing::TestFolder folder(comm_, "aged");
  CheckedRun run(on_host, sections + "output: {render: false}\n", 2000);
  run.parameters.output.folder = folder.path();
  run.begin(comm_).run();
  comm_.barrier();  // the master writes the last lines
  const std::string rows = testing::bytes_of(folder / "timing.csv");
  // Rung 1 and those below it have nearly all particles.
  for (const char* update : {"renew", "refit"})
    EXPECT_TRUE(std::regex_search(rows, std::regex(fmt::format(",1,1[0-9]{{3}},{},", update))))
        << update << rows;
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_where_steps_take_turns_in_renewing_trees) {
  testing::check_relay(comm_, in_turns, bisections + block_steps, 2000);
}

/// On other ranks it comes to the same, so steps do in external potentials.
TEST_F(CheckpointOnHost, goes_on_bit_for_bit_in_external_potentials) {
  check(bisections + few_steps + testing::external_potentials_of_all_kinds);
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_in_expanding_space) {
  const std::string universe =
      "units: {length: 1 kpc, mass: 1e6 Msun, velocity: 1 km/s}\ncosmology: {preset: planck2018, centre: [1 "
      "kpc, 0, 0]}\n";
  check(universe + bisections + "time: {begin: a=0.998, end: z=0, step_ln_a: 0.001, eta: 0.1}\n");
  check(universe + bisections + "time: {begin: 13.77 Gyr, end: 13.79 Gyr, step: 10 Myr, eta: 0.1}\n");
  check(universe +
        "gravity: {softening: 0.02, max_physical_softening: 0.0199, delta: 0.0005}\n"
        "time: {begin: a=0.998, end: z=0, step_ln_a: 0.001, eta: 0.1}\n");
}

/// The galaxies reach over faces of the box.
TEST_F(CheckpointOnHost, goes_on_bit_for_bit_in_periodic_boxes) {
  const std::string box = "box: {periodic: true, size: 5}\n";
  check(box + "gravity: {softening: 0.02, delta: 0.005}\n" + block_steps);
  check(box + "gravity: {softening: 0.02, delta: 0.005, tree: octree}\ndecomposition: {rule: domains}\n" +
        few_steps);
  testing::check_relay(comm_, on_host, box + "gravity: {softening: 0.02, direct_below: 1000}\n" + few_steps,
                       200);
}

TEST_F(CheckpointOnHost, goes_on_bit_for_bit_with_direct_sums) {
  testing::check_relay(comm_, on_host, "gravity: {softening: 0.02, direct_below: 1000}\n" + few_steps, 200);
}

TEST_F(CheckpointOnHost, restores_a_backend_after_each_step) {
  GravityParameters gravity;
  gravity.softening.fill(0.02);
  testing::check_change(testing::OnTheWay::restores, comm_, on_host, gravity, 5000);
  gravity.tree = LocalTreeKind::octree;
  testing::check_change(testing::OnTheWay::restores, comm_, on_host, gravity, 5000);
}

/// The leaves of all ranks with their particles and trees, in their order.
std::uint64_t hash_of_leaves(const Communicator& comm, const Domain& domain, const Particles& particles,
                             const TreeShapes& trees) {
  std::uint64_t sum = 0;
  for (std::size_t own = 0; own + 1 < domain.leaf_begin.size(); ++own) {
    std::uint64_t hash = mixed(static_cast<std::uint64_t>(domain.own.leaf(static_cast<std::int32_t>(own))));
    for (auto i = static_cast<std::size_t>(domain.leaf_begin[own]);
         i < static_cast<std::size_t>(domain.leaf_begin[own + 1]); ++i)
      hash = mixed(hash ^ particles.id[i]);
    for (auto n = static_cast<std::size_t>(trees.node_begin[own]);
         n < static_cast<std::size_t>(trees.node_begin[own + 1]); ++n)
      hash = mixed(hash ^ static_cast<std::uint64_t>(trees.links[n].first + 1000 * trees.links[n].child));
    sum += hash;
  }
  return comm.sum(sum);
}

/// They are written by ranks with several runs, and read by as many ranks with one run each, and by one.
TEST_F(CheckpointOnHost, keeps_leaves_in_several_runs) {
  const testing::TestFolder folder(comm_, "runs");
  CheckedRun run(on_host, bisections + block_steps, 2000);
  run.parameters.output.folder = folder.path();
  ModelParameters model;
  model.model = "merger";
  model.particles = 2000;
  const std::unique_ptr<Backend> backend =
      on_host(comm_, testing::share_of(comm_, make_particles(model)), run.parameters.gravity);
  DecompositionReport report;
  PhaseTimers timers;
  Domain domain = backend->decompose({.leaf_size = 32}, {}, report);
  backend->gravity().evaluate(domain, {}, timers);
  backend->move_leaves(domain, odd_owners(5, comm_.size(), domain.leaves()), timers);
  const CheckpointFolder checkpoints(folder.path());
  run.begin(comm_).write_checkpoint();
  RunState state = open_checkpoint(comm_, checkpoints.latest_first().at(0)).run;
  ++state.steps_done;
  write_checkpoint(comm_, checkpoints, "", {state, 0, "0", run.parameters, domain, *backend, {}});

  std::uint64_t written = 0;
  const TreeShapes trees = backend->gravity().state(domain).stored.trees.trees;
  backend->show(nullptr, [&](const Particles& own) { written = hash_of_leaves(comm_, domain, own, trees); });
  const Communicator self(MPI_COMM_SELF);
  for (const Communicator* ranks : {static_cast<const Communicator*>(&comm_), &self}) {
    const Checkpoint saved = open_checkpoint(*ranks, checkpoints.latest_first().at(0));
    EXPECT_EQ(saved.domain.cells[0].leaves, domain.leaves());
    if (comm_.size() > 1) {
      EXPECT_GT(saved.manifest.pieces.at(1).leaves.size(), 1U);
    }
    const Checkpoint::Own own = saved.read_own(*ranks, false);
    EXPECT_EQ(hash_of_leaves(*ranks, saved.domain, own.particles, own.trees.trees), written);
  }
}

/// Each rank writes what it knows: however many leaves there are, ranks tell each other the same.
TEST_F(CheckpointOnHost, tells_other_ranks_nothing_of_leaves) {
  const auto sent_of = [&](Count particles, LeafNumber& leaves) {
    const testing::TestFolder folder(comm_, "sent");
    CheckedRun run(on_host, bisections + few_steps + "decomposition: {leaf_size: 32}\n", particles);
    run.parameters.output.folder = folder.path();
    Simulation simulation = run.begin(comm_);
    leaves = simulation.domain().leaves();
    const std::uint64_t before = activity().sent;
    simulation.write_checkpoint();
    return activity().sent - before;
  };
  LeafNumber few = 0, many = 0;
  const std::uint64_t of_few = sent_of(1000, few), of_many = sent_of(4000, many);
  EXPECT_GT(many, 3 * few);
  EXPECT_EQ(of_many, of_few);
  EXPECT_EQ(of_few > 0, comm_.size() > 1) << "checksums of parts";
}

TEST_F(CheckpointOnHost, has_seen_all_updates_of_trees) {
  for (const std::string& gravity : {bisections, octrees}) {
    std::string rows;
    for (const std::string& time : {block_steps, shared_steps}) {
      const testing::TestFolder folder(comm_, "updates");
      CheckedRun run(on_host, gravity + time + "output: {render: false}\n", 2000);
      run.parameters.output.folder = folder.path();
      run.begin(comm_).run();
      comm_.barrier();  // the master writes the last lines
      rows += testing::bytes_of(folder / "timing.csv");
    }
    for (const char* update : {",refit,", ",redecompose,"})
      EXPECT_NE(rows.find(update), std::string::npos) << update << gravity;
    EXPECT_EQ(rows.find(",renew,") != std::string::npos, gravity == bisections) << gravity;
  }
}

/// Each part of the state is needed: without it the run takes another way.
class CheckpointWithout : public CheckpointOnHost {
 protected:
  /// True if a change of what is read is seen in the interactions, or in any bit of the particles.
  bool matters(const testing::MakeGravity& make, const std::string& sections,
               const std::function<void(Checkpoint&)>& change) const {
    CheckedRun run(make, sections, 2000);
    const Evolution expected = CheckedRun(make, sections, 2000).uninterrupted(Communicator(MPI_COMM_SELF)),
                    actual = run.relayed(comm_, change);
    const bool same = actual.interactions == expected.interactions &&
                      std::equal(actual.particles.velocity.begin(), actual.particles.velocity.end(),
                                 expected.particles.velocity.begin());
    return !comm_.broadcast(same);
  }
};

TEST_F(CheckpointWithout, tuning_renews_trees_at_other_steps) {
  EXPECT_TRUE(matters(on_host, bisections + block_steps, [](Checkpoint& checkpoint) {
    checkpoint.run.tuning = TreeTuning(checkpoint.run.tuning.price.rate(), {}).state();
  }));
}

TEST_F(CheckpointWithout, the_turn_of_the_last_step_renews_trees_at_others) {
  EXPECT_TRUE(matters(in_turns, bisections + block_steps,
                      [](Checkpoint& checkpoint) { checkpoint.run.renewals.last = rung_count; }));
}

TEST_F(CheckpointWithout, the_number_of_the_epoch_cuts_elsewhere) {
  EXPECT_TRUE(matters(on_host, bisections + block_steps,
                      [](Checkpoint& checkpoint) { ++checkpoint.run.epoch.number; }));
}

TEST_F(CheckpointWithout, the_rule_of_rebuilds_renews_trees_at_other_steps) {
  EXPECT_TRUE(matters(on_host, bisections + "tuning: {rebuild_above: 0.01}\n" + few_steps,
                      [](Checkpoint& checkpoint) { checkpoint.rebuild_above = RebuildAbove::State{}; }));
}

TEST_F(CheckpointWithout, the_setup_of_trees_that_are_kept_walks_otherwise) {
  // The median |a_old| is that of the last time all particles were active.
  EXPECT_TRUE(matters(on_host, "gravity: {softening: 0.02, criterion: multipole, delta: 1e-3}\n" + few_steps,
                      [](Checkpoint& checkpoint) { checkpoint.gravity.setup.median_acceleration *= 1.5F; }));
}

TEST_F(CheckpointWithout, the_separation_of_groups_walks_otherwise) {
  EXPECT_TRUE(matters(on_host, octrees + few_steps,
                      [](Checkpoint& checkpoint) { checkpoint.gravity.critical_separation = 0.05; }));
}

/// Parameters that need arrays which a checkpoint of others has not: the error names the file and the array.
class CheckpointThatLacks : public CheckpointOnHost {
 protected:
  void expect_error(const std::string& written_with, const std::string& read_with, const std::string& file,
                    const std::string& array) const {
    const testing::TestFolder folder(comm_, "lacks");
    CheckedRun writer(on_host, written_with, 2000);
    writer.parameters.output.folder = folder.path();
    Simulation run = writer.begin(comm_);
    run.step();
    run.write_checkpoint();
    const std::string path = CheckpointFolder(folder.path()).latest_first().at(0);
    EXPECT_NO_THROW(writer.resumed(comm_, path, {}));
    CheckedRun reader(on_host, read_with, 2000);
    reader.parameters.output.folder = folder.path();
    try {
      reader.resumed(comm_, path, {});
      ADD_FAILURE() << "goes on without " << array;
    } catch (const Agreed<InputError>& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(path + "/" + file), std::string::npos) << message;
      EXPECT_NE(message.find("has no " + array), std::string::npos) << message;
    }
  }
};

TEST_F(CheckpointThatLacks, the_state_of_the_rule_of_rebuilds_is_refused) {
  expect_error(bisections + few_steps, bisections + "tuning: {rebuild_above: 0.02}\n" + few_steps,
               "state.hdf5", "RebuildAbove");
}

TEST_F(CheckpointThatLacks, the_levels_of_nodes_is_refused) {
  expect_error(octrees + few_steps,
               "gravity: {softening: 0.02, tree: octree, criterion: opening_cell}\n" + few_steps, "part_",
               "NodeLevels");
}

/// Changes the state that gravity keeps beside the particles, and compares the next forces.
class GravityWithout : public ::testing::Test {
 protected:
  bool matters(LocalTreeKind tree, const EvaluationPlan& next,
               const std::function<void(Gravity::State&)>& change) const {
    GravityParameters parameters;
    parameters.softening.fill(0.02);
    parameters.tree = tree;
    HostBackend backend(comm_, make_initial_conditions(comm_, {.model = "merger", .particles = 2000}),
                        parameters);
    DecompositionReport report;
    PhaseTimers timers;
    Domain domain = backend.decompose({}, {}, report);
    backend.gravity().evaluate(domain, {}, timers);
    backend.drift({.factor = 0.2}, nullptr);
    Particles present;
    backend.show(nullptr, [&](const Particles& own) { present = own; }, {});
    const Gravity::State state = backend.gravity().state(domain);
    const auto hash_after = [&](Gravity::State from, const EvaluationPlan& plan) {
      backend.replace(present);
      backend.gravity().restore(std::move(from), domain);
      backend.gravity().evaluate(domain, plan, timers);
      std::uint64_t hash = 0;
      backend.show(nullptr, [&](const Particles& own) { hash = force_hash(comm_, own); }, {});
      return hash;
    };
    const std::uint64_t expected = hash_after(state, {.grows = false});
    EXPECT_EQ(hash_after(state, {.grows = false}), expected);
    Gravity::State changed = state;
    if (change) change(changed);
    return hash_after(std::move(changed), next) != expected;
  }

 private:
  const Communicator comm_{MPI_COMM_SELF};
};

TEST_F(GravityWithout, the_shapes_of_trees_walks_otherwise) {
  EXPECT_TRUE(matters(LocalTreeKind::bisection, {.grows = true}, {}));
  EXPECT_TRUE(matters(LocalTreeKind::octree, {.grows = true}, {}));
}

TEST_F(GravityWithout, the_origins_of_leaves_rounds_otherwise) {
  EXPECT_TRUE(matters(LocalTreeKind::bisection, {.grows = false}, [](Gravity::State& state) {
    for (Vec3d& origin : state.stored.trees.origins) origin += Vec3d{0.01, 0.01, 0.01};
  }));
}

}  // namespace
}  // namespace grove
