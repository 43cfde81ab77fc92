#include "run/simulation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "gravity/direct_forces.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::lagrange_radius;
using testing::share_of;

/// Parameters of a run with shared steps in units of G = 1; `sections` adds to or overrides nothing of time
/// and softening.
Parameters parameters_of(double end, double step, double softening, const std::string& gravity = "") {
  return parse_parameters(fmt::format("units: {{system: none}}\n"
                                      "initial_conditions: {{model: plummer}}\n"
                                      "gravity: {{softening: {:.17g}{}}}\n"
                                      "time: {{begin: 0, end: {:.17g}, step: {:.17g}, steps: shared}}\n",
                                      softening, gravity, end, step),
                          "test", {});
}

ModelParameters model(const std::string& name, Count n) {
  ModelParameters parameters;
  parameters.model = name;
  parameters.particles = n;
  return parameters;
}

/// The state at `end` of a run from given particles.
Particles evolved(const Particles& initial, const Parameters& parameters) {
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters, share_of(comm, initial), 0);
  while (!simulation.is_done()) simulation.step();
  return gathered_by_id(comm, simulation.particles());
}

/// Distance of the two bodies' separation after one period from where it began.
double kepler_error(int steps) {
  ModelParameters kepler = model("kepler", 2);
  kepler.eccentricity = 0.3;
  const Particles initial = make_particles(kepler);
  const double period = 2 * std::numbers::pi;
  const Particles final = evolved(initial, parameters_of(period, period / steps, 0));
  return norm((final.position[1] - final.position[0]) - (initial.position[1] - initial.position[0]));
}

TEST(Simulation, kepler_orbit_converges_with_second_order) {
  // Errors of about 3e-3 and 8e-4. Single-precision accelerations add at most 2 pi periods^2 6e-8 ~ 1e-6, and
  // the fourth-order term of the leapfrog is (2 pi / 400)^2 ~ 2e-4 of the second, times powers of 1 / (1 - e)
  // ~ 3: less than 1 % together. The issue asks for 5 %.
  const double coarse = kepler_error(400), fine = kepler_error(800);
  EXPECT_NEAR(coarse / fine, 4, 0.2) << coarse << " " << fine;
}

TEST(Simulation, turned_back_it_returns_to_where_it_came_from) {
  // With everything opened, forces depend on positions alone. On the way back the positions differ by
  // rounding in double precision (1e-16), far below what changes the single-precision offsets (6e-8) except
  // for the few that round the other way. Each such change shifts an acceleration by at most 6e-8 |a|, and
  // acts for less than the whole time T = 1: 6e-8 max|a| T^2, with max|a| < 2 (M / a^2 of the sphere,
  // softened neighbours 1e-3 / 0.05^2).
  const Particles initial = make_particles(model("plummer", 1000));
  const Parameters parameters = parameters_of(0.5, 0.01, 0.05, ", criterion: opening_radius, theta: 0");
  Particles turned = evolved(initial, parameters);
  for (Vec3d& v : turned.velocity) v = -v;
  const Particles back = evolved(turned, parameters);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    ASSERT_LT(norm(back.position[i] - initial.position[i]), 1.2e-7) << i;
    ASSERT_LT(norm(back.velocity[i] + initial.velocity[i]), 2.4e-7) << i;
  }
}

TEST(Simulation, cold_sphere_collapses_on_the_analytic_curve) {
  // Every shell follows r = r0 cos^2 b with b + sin(2b)/2 = sqrt(2) t. The measured r0 of the half-mass shell
  // holds the noise of the mass inside; what remains is that of the force on it, of which a sample has
  // 1/sqrt(N/2): a change delta of the force shifts the time by delta t / 2, and the radius by sqrt(2) tan(b)
  // times that, 2.7 delta of the radius at t = 0.9 of the collapse. Three standard deviations are allowed.
  // The spline softening changes the force of pairs inside 2.8 eps = 0.028 only, a fraction (0.028 / 0.5)^3 ~
  // 2e-4 of the mass.
  constexpr Count n = 10000;
  const Particles initial = make_particles(model("cold-sphere", n));
  const double r0 = lagrange_radius(initial, {}, 0.5);
  const double end = 0.9 * 1.110721;
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters_of(end, end / 200, 0.01), share_of(comm, initial), 0);
  for (int quarter = 1; quarter <= 4; ++quarter) {
    while (simulation.longest_steps_done() < 50 * quarter) simulation.step();
    double b = 0.5;
    for (int i = 0; i < 50; ++i)
      b -= (b + 0.5 * std::sin(2 * b) - std::sqrt(2) * simulation.time()) / (1 + std::cos(2 * b));
    const double expected = r0 * std::cos(b) * std::cos(b);
    const double sensitivity = std::sqrt(0.5) * simulation.time() * std::tan(b) / std::pow(std::cos(b), 2);
    const double tolerance = 3 * std::sqrt(2.0 / n) * sensitivity + 2e-4;
    const Particles all = gathered_by_id(comm, simulation.particles());
    EXPECT_NEAR(lagrange_radius(all, {}, 0.5) / expected, 1, tolerance) << "at t = " << simulation.time();
  }
}

TEST(Simulation, plummer_sphere_keeps_its_energy_and_lagrange_radii) {
  // Five crossing times G M^2.5 / (2 |E|)^1.5 with E = -3 pi / 64.
  const double end = 5 * std::pow(3 * std::numbers::pi / 32, -1.5);
  constexpr double step = 0.05, softening = 0.1;
  constexpr Count n = 10000;
  const Particles initial = make_particles(model("plummer", n));
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters_of(end, step, softening), share_of(comm, initial), 0);
  const double energy = simulation.totals().total_energy();
  while (!simulation.is_done()) simulation.step();

  // The leapfrog's energy differs from the conserved one by (omega dt)^2 / 12 of the kinetic energy at most,
  // with omega^2 = 4 pi / 3 rho(0) = 1 in the core: 2e-4. Forces are wrong by 0.4 % on 1 % of the particles,
  // a tenth of that on most; even if all errors of 4e-4 |a| pointed along the velocity for one crossing of
  // the core and then changed sign (coherence time 1 of T = 31), the energy would walk sqrt(31) 4e-4 v |a| /
  // sqrt(N / 64 groups that share their error) ~ 7e-5 of |E| = 0.15. 3e-4 holds both.
  EXPECT_NEAR(simulation.totals().total_energy() / energy, 1, 3e-4);

  // Two samples of the same sphere differ by sqrt(2 f (1 - f) / N) in the mass inside a radius, and the
  // radius by that over f dlnM/dlnr = 3 f / (1 + r^2); four standard deviations. Relaxation adds a part: in
  // 0.1 N / ln(N) ~ 110 crossing times radii change by their own size, in 5 by 5 / 110 of it.
  const Particles final = gathered_by_id(comm, simulation.particles());
  const Vec3d centre = simulation.totals().centre_of_mass();
  for (const double f : {0.1, 0.25, 0.5, 0.75}) {
    const double before = lagrange_radius(initial, {}, f), after = lagrange_radius(final, centre, f);
    const double slope = 3 / (1 + before * before);
    const double noise = std::sqrt(2 * (1 - f) / (f * n)) / slope;
    EXPECT_NEAR(after / before, 1, 4 * noise + 5.0 / 110) << "fraction " << f;
  }
}

TEST(Simulation, momentum_stays_within_what_the_force_errors_can_give) {
  // Tree forces do not cancel in pairs: each kick changes the momentum by dt times the sum of m times the
  // force errors, at most by dt times the sum of their sizes. Direct summation, as in the audit, of every
  // particle gives them; the rounding of direct forces (1e-16) is nothing beside errors of 1e-3.
  const Particles initial = make_particles(model("merger", 1000));
  const Parameters parameters = parameters_of(1, 0.02, 0.05);
  const Communicator comm(MPI_COMM_WORLD);
  Simulation simulation(comm, parameters, share_of(comm, initial), 0);
  double bound = 0;
  for (int i = 0; i <= 50; ++i) {
    const Particles& p = simulation.particles();
    std::vector<DirectTarget> targets;
    for (std::size_t k = 0; k < p.size(); ++k)
      targets.push_back({p.position[k], parameters.gravity.softening[p.type[k]], p.id[k]});
    const auto direct = direct_forces(comm, p, simulation.domain(), parameters.gravity, targets);
    double error = 0;
    for (std::size_t k = 0; k < p.size(); ++k)
      error += p.mass[k] * norm(p.acceleration[k].as<double>() - direct[k].acceleration);
    bound += (i == 0 || i == 50 ? 0.5 : 1.0) * 0.02 * error;
    if (i < 50) simulation.step();
  }
  EXPECT_LT(norm(simulation.totals().momentum), bound + 1e-12);
  EXPECT_GT(norm(simulation.totals().momentum), 1e-12) << "without force errors this test would be empty";
}

}  // namespace
}  // namespace grove
