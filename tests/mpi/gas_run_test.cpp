// Runs with gas: ranks, checkpoints, migration.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "backend/host_backend.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/simulation.hpp"
#include "support/gas_runs.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::expect_same;
using testing::gathered_by_id;
using testing::share_of;

Simulation begun(const Communicator& comm, const testing::GasRun& kind, const Parameters& parameters) {
  return {comm, parameters, share_of(comm, kind.particles(parameters)), parameters.time.begin.value()};
}

class GasRun : public ::testing::TestWithParam<testing::GasRun> {
 protected:
  Particles evolved(const Communicator& comm, const Parameters& parameters) const {
    Simulation run = begun(comm, GetParam(), parameters);
    while (!run.is_done()) run.step();
    return gathered_by_id(comm, run.particles());
  }

  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
};

TEST_P(GasRun, ends_in_the_same_state_on_any_number_of_ranks) {
  const Parameters parameters = GetParam().parameters();
  expect_same(evolved(comm_, parameters), evolved(alone_, parameters));
}

TEST_P(GasRun, goes_on_from_each_of_its_steps_bit_for_bit_on_other_ranks) {
  const testing::TestFolder folder(comm_, "gas");
  Parameters parameters = GetParam().parameters();
  parameters.output.folder = folder.path();
  const Particles expected = evolved(alone_, parameters);
  std::unique_ptr<Simulation> run(new Simulation(begun(comm_, GetParam(), parameters)));
  while (!run->is_done()) {
    run->step();
    run->write_checkpoint();
    run.reset();
    const Checkpoint from = open_checkpoint(comm_, CheckpointFolder(folder.path()).latest_first().at(0));
    run = std::make_unique<Simulation>(
        comm_, parameters,
        std::make_unique<HostBackend>(comm_, Particles{}, parameters.gravity, parameters.gas), from);
  }
  expect_same(gathered_by_id(comm_, run->particles()), expected);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GasRun, ::testing::ValuesIn(testing::gas_runs()),
                         [](const auto& kind) { return kind.param.name; });

const testing::GasRun& kind_of(const std::string& name) {
  return *std::find_if(testing::gas_runs().begin(), testing::gas_runs().end(),
                       [&](const testing::GasRun& kind) { return name == kind.name; });
}

Count gas_in(const Particles& own) { return std::count(own.type.begin(), own.type.end(), gas_type); }

// The runs above are those that they are meant to be.
TEST(GasRuns, have_ranks_without_gas_and_ranks_without_leaves) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::GasRun &aside = kind_of("gas_on_one_side"), &few = kind_of("few_leaves");
  const Particles of_aside = begun(comm, aside, aside.parameters()).particles(),
                  of_few = begun(comm, few, few.parameters()).particles();
  if (comm.size() < 3) return;
  EXPECT_EQ(comm.min(gas_in(of_aside)), 0);
  EXPECT_GT(comm.min(static_cast<Count>(of_aside.size())), 0);
  EXPECT_EQ(comm.min(static_cast<Count>(of_few.size())), 0);
}

TEST(GasRuns, of_block_steps_have_several_rungs) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const char* name : {"block_steps", "opening_cell", "without_gravity", "expanding_space"}) {
    Simulation run = begun(comm, kind_of(name), kind_of(name).parameters());
    run.step();
    const Particles own = run.particles();
    std::array<int, rung_count> has{};
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own.type[i] == gas_type) has[own.rung[i]] = 1;
    int rungs = 0;
    for (int& rung : has) rungs += comm.max(rung);
    EXPECT_GT(rungs, 1) << name;
  }
}

}  // namespace
}  // namespace grove
