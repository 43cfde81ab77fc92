// Runs with gas: ranks, checkpoints, migration.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "backend/host_backend.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/simulation.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::expect_same;
using testing::gathered_by_id;
using testing::share_of;

Parameters collapse(const std::string& time, const std::string& more = "") {
  return parse_parameters(
      "units: {system: none}\ninitial_conditions: {model: evrard, n: 1500}\n"
      "gravity: {softening: 0.02}\ntime: {begin: 0, " +
          time + "}\n" + more,
      "test", {});
}

Simulation begun(const Communicator& comm, const Parameters& parameters) {
  return Simulation(comm, parameters, share_of(comm, make_particles(parameters.initial_conditions.model)), 0);
}

/// The collapse begins: from t = 0.8 on gas falls through a shock.
constexpr const char *of_one_step = "end: 0.1, step: 0.0125, steps: shared",
                     *of_block_steps = "end: 0.3, step: 0.1, eta: 0.2";

class GasRun : public ::testing::TestWithParam<const char*> {
 protected:
  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
};

Particles evolved(const Communicator& comm, const Parameters& parameters) {
  Simulation run = begun(comm, parameters);
  while (!run.is_done()) run.step();
  return gathered_by_id(comm, run.particles());
}

TEST_P(GasRun, ends_in_the_same_state_on_any_number_of_ranks) {
  const Parameters parameters = collapse(GetParam());
  expect_same(evolved(comm_, parameters), evolved(alone_, parameters));
}

TEST_P(GasRun, goes_on_from_each_of_its_steps_bit_for_bit_on_other_ranks) {
  const testing::TestFolder folder(comm_, "gas");
  Parameters parameters = collapse(GetParam());
  parameters.output.folder = folder.path();
  const Particles expected = evolved(alone_, parameters);
  std::unique_ptr<Simulation> run(new Simulation(begun(comm_, parameters)));
  for (int leg = 0; !run->is_done(); ++leg) {
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

INSTANTIATE_TEST_SUITE_P(Steps, GasRun, ::testing::Values(of_one_step, of_block_steps),
                         [](const auto& kind) { return kind.index == 0 ? "shared" : "block"; });

}  // namespace
}  // namespace grove
