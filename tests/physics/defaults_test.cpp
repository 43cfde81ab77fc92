#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"

namespace grove {
namespace {

using testing::share_of;

struct EnergyErrors {
  double largest = 0, last = 0;
};

/// A uniform sphere at rest that collapses at t = 1.11, to t = 2; nothing but model, softening and span of
/// time is given.
EnergyErrors cold_collapse() {
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: cold-sphere, n: 2000}\n"
      "gravity: {softening: 0.02}\n"
      "time: {begin: 0, end: 2, step: 0.02}\n",
      "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters, share_of(comm, make_particles(parameters.initial_conditions.model)),
                        0);
  const double energy = simulation.totals().total_energy();
  EnergyErrors errors;
  while (!simulation.is_done()) {
    simulation.step();
    if (!simulation.is_synchronised()) continue;
    errors.last = std::abs(simulation.totals().total_energy() / energy - 1);
    errors.largest = std::max(errors.largest, errors.last);
  }
  return errors;
}

// docs/measurements/accuracy.md promises for the default accuracy in violent problems: 2 % at most, 0.5 %
// at the end. Measured: 0.41 and 0.39 %; `accuracy: fast` leaves 1.0 %, eta 0.5 more.
TEST(Defaults, keep_the_energy_of_a_cold_collapse) {
  const EnergyErrors errors = cold_collapse();
  EXPECT_LT(errors.largest, 0.02);
  EXPECT_LT(errors.last, 0.005);
}

}  // namespace
}  // namespace grove
