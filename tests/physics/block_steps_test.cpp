#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::share_of;

Particles model(const std::string& name, Count n, double eccentricity = 0) {
  ModelParameters parameters;
  parameters.model = name;
  parameters.particles = n;
  parameters.eccentricity = eccentricity;
  return make_particles(parameters);
}

Parameters parameters_of(double end, const std::string& time, const std::string& gravity) {
  return parse_parameters(fmt::format("units: {{system: none}}\n"
                                      "initial_conditions: {{model: plummer}}\n"
                                      "gravity: {{{}}}\n"
                                      "time: {{begin: 0, end: {:.17g}, {}}}\n",
                                      gravity, end, time),
                          "test", {});
}

/// An orbit of two bodies, G = M = 1.
struct Orbit {
  double semi_major, pericentre, angle;  ///< angle: of the pericentre from where it was

  explicit Orbit(const Particles& p) {
    const Vec3d x = p.position[1] - p.position[0], v = p.velocity[1] - p.velocity[0];
    semi_major = 1 / (2 / norm(x) - norm2(v));
    const Vec3d e = (norm2(v) - 1 / norm(x)) * x - (x.x * v.x + x.y * v.y + x.z * v.z) * v;
    pericentre = semi_major * (1 - norm(e));
    angle = std::atan2(-e.y, -e.x);
  }
};

constexpr double period = 2 * std::numbers::pi, eccentricity = 0.9;

struct KeplerResult {
  Orbit last;
  double steps;  ///< force evaluations of a body per orbit
};

KeplerResult kepler(int count, const std::string& time) {
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters_of(count * period, time, "softening: 0"),
                        share_of(comm, model("kepler", 2, eccentricity)), 0);
  double steps = 0;
  for (; !simulation.is_done(); ++steps) simulation.step();
  return {Orbit(gathered_by_id(comm, simulation.particles())), steps / count};
}

constexpr int orbits = 60;

std::string block(double eta, const char* integrator) {
  return fmt::format("step: {:.17g}, length: 1, eta: {}, integrator: {}", period / 16, eta, integrator);
}

// |a| = 1 / (2 r^2), so steps are h = sqrt(2) eta r: (omega h)^2 = 2 eta^2 / r, at the pericentre 2e-3.
//
// When a step doubles, the quantity that the leapfrog conserves moves off the energy by (3/4) h^2 / (8 r^4),
// at most 5e-3 of E = 1/2. The way out gives back what the way in took but for where the two switches are:
// with steps chosen at their beginning a step apart, which is h v / r = 0.06 of the way at the pericentre,
// 3e-4 of E per orbit (measured: 2e-4); expecting the end takes that to the next order, 0.06 of it: 1e-3 in
// 60 orbits, if all were of one sign. Measured: 5e-4. 3e-3 tells the one from the other, 1.2e-2.
TEST(BlockSteps, kepler_orbit_keeps_its_energy_and_its_pericentre) {
  const KeplerResult result = kepler(orbits, block(0.01, "leapfrog"));
  EXPECT_LT(std::abs(1 / result.last.semi_major - 1), 3e-3);
  EXPECT_LT(std::abs(result.last.pericentre / (1 - eccentricity) - 1), 3e-4)
      << "d ln r_p / d ln a = (1 - e) / (2 e) = 1/18 where the angular momentum stays";
  // The pericentre turns by a part of (omega h)^2 there per orbit: a quarter is allowed, a ninth measured.
  EXPECT_LT(std::abs(result.last.angle), orbits * 0.25 * 2e-3);

  // Shared steps at the same cost: omega h = 0.31 at the pericentre, fifty times as much squared.
  const KeplerResult shared =
      kepler(orbits, fmt::format("step: {:.17g}, steps: shared", period / std::round(result.steps)));
  EXPECT_GT(std::abs(shared.last.angle), 25 * std::abs(result.last.angle));
}

TEST(BlockSteps, integrators_are_one_where_all_particles_share_their_steps) {
  // Bodies of equal mass have equal accelerations and steps.
  const KeplerResult leapfrog = kepler(1, block(0.02, "leapfrog")),
                     predictor = kepler(1, block(0.02, "predictor_corrector"));
  EXPECT_EQ(leapfrog.last.semi_major, predictor.last.semi_major);
  EXPECT_EQ(leapfrog.last.angle, predictor.last.angle);
}

/// Largest error of the energy of a Plummer sphere of 1000 particles in 100 crossing times.
double plummer_error(const std::string& integrator) {
  const double crossing = std::pow(3 * std::numbers::pi / 32, -1.5);
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm,
                        parameters_of(100 * crossing, "step: 0.5, eta: 0.25, integrator: " + integrator,
                                      "softening: 0.1, delta: 0.001"),
                        share_of(comm, model("plummer", 1000)), 0);
  const double energy = simulation.totals().total_energy();
  double worst = 0;
  while (!simulation.is_done()) {
    simulation.step();
    if (simulation.is_synchronised())
      worst = std::max(worst, std::abs(simulation.totals().total_energy() / energy - 1));
  }
  return worst;
}

// Half of the particles have steps of at most 0.125. In the core omega = 1, and the leapfrog's energy goes
// up and down by (omega h)^2 / 12 = 1.3e-3 of the kinetic energy, which is |E|. Forces between particles of
// different steps do not cancel, nor does all of what switching between steps changes; if every crossing left
// as much with any sign, 100 would add up to 1.3e-2. Measured: 1.1e-2 (rungs that never change: 0.7e-2);
// 9.7e-2 if steps are chosen by the acceleration at their beginning.
TEST(BlockSteps, plummer_sphere_keeps_its_energy_for_a_hundred_crossing_times) {
  EXPECT_LT(plummer_error("leapfrog"), 2e-2);
  EXPECT_LT(plummer_error("predictor_corrector"), 2e-2);
}

}  // namespace
}  // namespace grove
