#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"

namespace grove {
namespace {

constexpr std::uint8_t satellite = 4;

/// Mean position of the satellite's innermost particles: those that were within 3 kpc of its centre, and that
/// it keeps.
struct Core {
  std::vector<ParticleId> ids;

  Core(const Particles& begin, const Vec3d& centre) {
    for (std::size_t i = 0; i < begin.size(); ++i)
      if (begin.type[i] == satellite && norm(begin.position[i] - centre) < 3) ids.push_back(begin.id[i]);
    std::sort(ids.begin(), ids.end());
  }
  Vec3d position(const Particles& particles) const {
    Vec3d sum{};
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (std::binary_search(ids.begin(), ids.end(), particles.id[i])) sum += particles.position[i];
    return sum * (1 / static_cast<double>(ids.size()));
  }
};

/// A point mass in an NFW halo at rest.
Vec3d orbit(const Parameters& parameters, double time) {
  const ModelParameters& halo = parameters.initial_conditions.components[0].model;
  const Placement& start = parameters.initial_conditions.components[1].placement;
  const auto shape = [](double x) { return std::log1p(x) - x / (1 + x); };
  Vec3d x = start.position, v = start.velocity;
  constexpr int steps = 10000;
  const double step = time / steps;
  for (int i = 0; i < steps; ++i) {
    x += v * (0.5 * step);
    const double r = norm(x);
    const double gm =
        halo.gravitational_constant * halo.mass * shape(r / halo.scale) / shape(halo.rmax / halo.scale);
    v -= x * (gm / (r * r * r) * step);
    x += v * (0.5 * step);
  }
  return x;
}

// With a fiftieth of the satellite's mass, so that friction and the motion of the host move it by less than
// 0.1 kpc each: they are in proportion to it, and in the example some 3 kpc.
TEST(Satellite, of_little_mass_falls_into_its_host_as_a_point_would) {
  const Communicator comm(MPI_COMM_WORLD);
  const Parameters parameters =
      read_parameters(comm, GROVE_SOURCE_DIR "/jobs/examples/satellite.yml",
                      {"initial_conditions.components[0].n=4000", "initial_conditions.components[1].n=1000",
                       "initial_conditions.components[1].mass=1e9 Msun", "time.end=0.3 Gyr",
                       "time.step=15 Myr", "gravity.softening=1 kpc", "audit.every=0"});
  const Placement& placed = parameters.initial_conditions.components[1].placement;
  InitialState state = initial_state(comm, parameters);
  Simulation simulation(comm, parameters, std::move(state.particles), state.time);
  const Core core(simulation.particles(), placed.position);
  ASSERT_GT(core.ids.size(), 200u);
  EXPECT_LT(norm(core.position(simulation.particles()) - placed.position), 0.5);
  while (!simulation.is_done()) simulation.step();

  const Vec3d expected = orbit(parameters, parameters.time.end);
  const double drawn = norm(placed.position + placed.velocity * parameters.time.end - expected);
  EXPECT_GT(drawn, 15) << "kpc off the straight line, or the test says nothing";
  // The host pulls with the 1600 of its particles that are within 60 kpc, known to 2.5 %: four times that.
  // The mean of the core's particles is known to 0.1 kpc; friction and the host as said above.
  EXPECT_LT(norm(core.position(simulation.particles()) - expected), 4 * 0.025 * drawn + 0.3);
}

}  // namespace
}  // namespace grove
