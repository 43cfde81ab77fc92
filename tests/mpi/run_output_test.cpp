#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "initial_state.hpp"
#include "io/snapshot.hpp"
#include "physics/run_fixture.hpp"
#include "simulation.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::bytes_of;
using testing::TestFolder;

/// Runs a parameter file as `grove run` does.
void run(const Communicator& comm, const std::string& text) {
  const Parameters parameters = parse_parameters(text, "test", {});
  InitialState state = initial_state(comm, parameters);
  Simulation(comm, parameters, std::move(state.particles), state.time).run();
}

std::string circular_orbit(const std::string& folder, const std::string& output,
                           const std::string& time = "end: 0.1, step: 0.01") {
  return fmt::format(
      "units: {{system: none}}\n"
      "initial_conditions: {{model: kepler}}\n"
      "gravity: {{softening: 0}}\n"
      "time: {{{}, steps: shared}}\n"
      "output: {{folder: {}, render: false, {}}}\n",
      time, folder, output);
}

TEST(RunOutput, is_of_exactly_the_listed_times) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "listed-times");
  run(comm, circular_orbit(folder.path(), "times: [0, 0.0237, 0.1]"));
  const double times[] = {0, 0.0237, 0.1};
  double first_angle = 0;
  for (int i = 0; i < 3; ++i) {
    const Snapshot snapshot = read_snapshot(comm, folder / fmt::format("snapshot_{:03}.hdf5", i));
    EXPECT_EQ(snapshot.header.time, times[i]);
    const Particles both = testing::gathered_by_id(comm, snapshot.particles);
    ASSERT_EQ(both.size(), 2u);
    const Vec3d separation = both.position[1] - both.position[0];
    // On the circle of radius 1 at angle t. The leapfrog's error after 10 steps is below 10 dt^3 / 12 ~ 1e-6;
    // the prediction over less than dt adds dt^3 / 6 ~ 2e-7. The state at the nearest step is 3.7e-3 away.
    const double angle = std::atan2(separation.y, separation.x);
    if (i == 0) first_angle = angle;
    EXPECT_NEAR(norm(separation), 1, 2e-6);
    EXPECT_NEAR(angle - first_angle, times[i], 2e-6);
  }
}

TEST(RunOutput, of_a_step_is_its_state_though_the_times_round_differently) {
  // 3 * 0.1 is the double after 0.3: taken for a later time, the state at 0.2 would be
  // predicted over a whole step, with velocities wrong by a' dt^2 / 2 = 5e-3.
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "rounded"), exact(comm, "exact");
  run(comm, circular_orbit(folder.path(), "every: 0.3", "end: 0.6, step: 0.1"));
  run(comm, circular_orbit(exact.path(), "times: [0.3]", "end: 0.3, step: 0.1"));
  const auto state = [&](const std::string& path) {
    return testing::gathered_by_id(comm, read_snapshot(comm, path).particles);
  };
  const Particles rounded = state(folder / "snapshot_001.hdf5"), final = state(exact / "snapshot_000.hdf5");
  for (int i = 0; i < 2; ++i) EXPECT_LT(norm(rounded.velocity[i] - final.velocity[i]), 1e-12);
}

TEST(RunOutput, holds_everything_that_a_user_expects_and_repeats_to_the_bit) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "run-output"), again(comm, "run-again");
  run(comm, circular_orbit(folder.path(), "every: 0.05, types: [1]"));
  comm.barrier();  // the master writes the last lines
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"checkpoints", "energy.csv", "snapshot_000.hdf5",
                                                      "snapshot_001.hdf5", "snapshot_002.hdf5",
                                                      "timebins.csv", "timing.csv", "used-parameters.yml"}));
  const std::string energy = bytes_of(folder / "energy.csv");
  EXPECT_EQ(std::count(energy.begin(), energy.end(), '\n'), 1 + 11) << "a header, the begin and ten steps";

  EXPECT_EQ(read_snapshot(comm, folder / "snapshot_002.hdf5").header.leaf_size, default_leaf_size(2))
      << "a run that goes on from here keeps its leaves";

  const Parameters used =
      parse_parameters(bytes_of(folder / "used-parameters.yml"), "used", {"output.folder=" + again.path()});
  InitialState state = initial_state(comm, used);
  Simulation(comm, used, std::move(state.particles), state.time).run();
  EXPECT_EQ(bytes_of(folder / "snapshot_002.hdf5"), bytes_of(again / "snapshot_002.hdf5"));
}

}  // namespace
}  // namespace grove
