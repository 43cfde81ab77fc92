#include "simulation.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::share_of;

/// The state after a small merger has gone some way; `time`: what is to be said of its steps.
Particles evolved(const Communicator& comm, const std::string& time) {
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 3000;
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: merger}\n"
      "gravity: {softening: 0.02}\n"
      "time: {begin: 0, " +
          time + "}\n",
      "test", {});
  Simulation simulation(comm, parameters, share_of(comm, make_particles(merger)), 0);
  while (!simulation.is_done()) simulation.step();
  return gathered_by_id(comm, simulation.particles());
}

class SimulationOnRanks : public ::testing::TestWithParam<const char*> {};

TEST_P(SimulationOnRanks, ends_in_the_same_state_on_any_number) {
  const Particles expected = evolved(Communicator(MPI_COMM_SELF), GetParam());
  const Particles actual = evolved(Communicator(MPI_COMM_WORLD), GetParam());
  ASSERT_EQ(actual.size(), expected.size());
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    EXPECT_EQ(
        std::memcmp((actual.*field.array).data(), (expected.*field.array).data(), actual.size() * sizeof(T)),
        0)
        << field.info.name;
  });
}

INSTANTIATE_TEST_SUITE_P(Steps, SimulationOnRanks,
                         ::testing::Values("end: 0.2, step: 0.02, steps: shared",
                                           "end: 0.2, step: 0.1, eta: 0.1",
                                           "end: 0.2, step: 0.1, eta: 0.1, integrator: predictor_corrector"));

}  // namespace
}  // namespace grove
