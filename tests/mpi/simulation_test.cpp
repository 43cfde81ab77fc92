#include "simulation.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::share_of;

/// The state after ten steps of a small merger.
Particles evolved(const Communicator& comm) {
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 3000;
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: merger}\n"
      "gravity: {softening: 0.02}\n"
      "time: {begin: 0, end: 0.2, step: 0.02}\n",
      "test", {});
  Simulation simulation(comm, parameters, share_of(comm, make_particles(merger)), 0);
  while (simulation.steps_done() < 10) simulation.step();
  return gathered_by_id(comm, simulation.particles());
}

TEST(Simulation, ends_in_the_same_state_on_any_number_of_ranks) {
  const Particles expected = evolved(Communicator(MPI_COMM_SELF));
  const Particles actual = evolved(Communicator(MPI_COMM_WORLD));
  ASSERT_EQ(actual.size(), expected.size());
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    EXPECT_EQ(
        std::memcmp((actual.*field.array).data(), (expected.*field.array).data(), actual.size() * sizeof(T)),
        0)
        << field.info.name;
  });
}

}  // namespace
}  // namespace grove
