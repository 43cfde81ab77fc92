#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "gravity/force_hash.hpp"
#include "particles/models/model.hpp"
#include "run/simulation.hpp"
#include "selftest/evaluated.hpp"

namespace grove {
namespace {

using std::numbers::pi;

/// A run from time 0, G = 1.
std::unique_ptr<Simulation> simulation(const SelfTestMachine& machine, Particles particles,
                                       const TimeParameters& time, double softening) {
  Parameters parameters;
  parameters.units = Units::dimensionless();
  parameters.time = time;
  parameters.gravity.softening.fill(softening);
  auto backend = machine.make(machine.comm, std::move(particles), parameters.gravity);
  return std::make_unique<Simulation>(machine.comm, parameters, std::move(backend), 0);
}

/// The second body as seen from the first.
PhasePoint relative(const Particles& p) {
  return {p.position[1] - p.position[0], p.velocity[1] - p.velocity[0]};
}

double orbit_energy(const PhasePoint& p) { return 0.5 * norm2(p.velocity) - 1 / norm(p.position); }

/// Points to the pericentre, and is as long as the orbit is eccentric.
Vec3d laplace_vector(const PhasePoint& p) {
  return cross(p.velocity, cross(p.position, p.velocity)) - (1 / norm(p.position)) * p.position;
}

/// An ellipse of semi-major axis 1, M = 1, after one period of so many steps.
PhasePoint after_one_period(const SelfTestMachine& machine, const Particles& bodies, int steps) {
  const auto run = simulation(
      machine, bodies, {.begin = {}, .end = 2 * pi, .step = 2 * pi / steps, .steps = StepKind::shared}, 0);
  while (!run->is_done()) run->step();
  return relative(gathered_by_id(machine.comm, run->particles()));
}

/// The leapfrog is of second order: with steps half as long all errors are a quarter. Terms of fourth order
/// are (2 pi / 400)^2 = 2.5e-4 of that, times powers of 1 / (1 - e) up to the sixth, 8.5, and factors of the
/// order of one: below 1 %. Forces in single precision, off by 2^-24 |a|, |a| up to 2, for a whole period: (2
/// pi)^2 2^-24 = 2.4e-6, and three times that for the angle, which grows with the difference of periods.
void check_kepler(const SelfTestMachine& machine, const SelfCheckReport& report) {
  ModelParameters model;
  model.model = "kepler";
  model.particles = 2;
  model.eccentricity = 0.3;
  const Particles bodies = make_initial_conditions(machine.comm, model);
  const PhasePoint first = relative(gathered_by_id(machine.comm, bodies));
  const PhasePoint coarse = after_one_period(machine, bodies, 400),
                   fine = after_one_period(machine, bodies, 800);
  const Vec3d coarse_error = coarse.position - first.position, fine_error = fine.position - first.position;
  const double rounding = 1e-5;
  const auto report_limit = [&](const char* name, double of_coarse, double of_fine) {
    report({fmt::format("ellipse, {}, as steps become shorter", name), std::abs(4 * of_fine - of_coarse) / 3,
            0, 0.01 * std::abs(of_coarse) + rounding});
  };
  report({"ellipse, error after a period: of 400 steps, over that of 800",
          norm(coarse_error) / norm(fine_error), 4, 0.04 + 5 * rounding / norm(fine_error)});
  const Vec3d limit = (1.0 / 3) * (4.0 * fine_error - coarse_error);
  report({"ellipse, distance from the start after a period, as steps become shorter", norm(limit), 0,
          0.01 * norm(coarse_error) + rounding});
  report_limit("change of energy", orbit_energy(coarse) - orbit_energy(first),
               orbit_energy(fine) - orbit_energy(first));
  report_limit("change of the Laplace vector", norm(laplace_vector(coarse) - laplace_vector(first)),
               norm(laplace_vector(fine) - laplace_vector(first)));
}

double half_mass_radius(const Particles& all) {
  std::vector<double> radii;
  for (const Vec3d& x : all.position) radii.push_back(norm(x));
  const auto middle = radii.begin() + static_cast<std::ptrdiff_t>(radii.size() / 2);
  std::nth_element(radii.begin(), middle, radii.end());
  return *middle;
}

/// Every shell follows r = r0 cos^2 b with b + sin(2b) / 2 = sqrt(2) t; at 1.110721 all arrive. The r0 that
/// is measured holds the noise of the mass inside; what remains is that of the force, of which a sample has 1
/// / sqrt(N / 2): a change delta of it shifts the time by delta t / 2, and r by sqrt(2) tan(b) / cos^2(b)
/// times that. Three standard deviations, and 4e-4: for the softening, which only changes pairs within 0.028,
/// (0.028 / 0.5)^3 = 2e-4 of the mass; and for the leapfrog, (omega dt)^2 / 24 with omega^2 = r0^3 / r^3 of
/// up to 45 at the end, for dt = 0.005: below 1e-4.
void check_collapse(const SelfTestMachine& machine, const SelfCheckReport& report) {
  constexpr Count n = 10000;
  const Particles particles = model_particles(machine.comm, "cold-sphere", n);
  const double r0 = half_mass_radius(gathered_by_id(machine.comm, particles)), end = 0.9 * 1.110721;
  const auto run = simulation(machine, particles,
                              {.begin = {}, .end = end, .step = end / 200, .steps = StepKind::shared}, 0.01);
  for (int half = 1; half <= 2; ++half) {
    while (run->longest_steps_done() < 100 * half) run->step();
    const double t = run->time();
    double b = 0.5;
    for (int i = 0; i < 50; ++i) b -= (b + 0.5 * std::sin(2 * b) - std::sqrt(2) * t) / (1 + std::cos(2 * b));
    const double shift = std::sqrt(0.5) * t * std::tan(b) / std::pow(std::cos(b), 2);
    report(
        {fmt::format("cold sphere, radius of half the mass at t = {:.2f}, over the formula's", t),
         half_mass_radius(gathered_by_id(machine.comm, run->particles())) / (r0 * std::cos(b) * std::cos(b)),
         1, 3 * std::sqrt(2.0 / n) * shift + 4e-4});
  }
}

/// For two crossing times, with block steps of four rungs, eta sqrt(l / |a|) for eta = 1/8, l = 0.1. The
/// leapfrog's energy differs from the conserved one by (omega dt)^2 / 12 of the kinetic energy at most; omega
/// <= 1 and |a| = omega^2 r, so by eta^2 l / (12 r), and the mean of 1 / r is 1: 1.3e-4. A change of
/// rung leaves an error of that size and of either sign: ten leave sqrt(10) 1.3e-4 = 4e-4. If all force
/// errors, 4e-4 |a|, pointed along the velocities while the core is crossed, and changed sign then, the
/// energy would walk sqrt(12.6) 4e-4 v |a| / sqrt(N / 64), 64 particles sharing their error: 1e-4 of |E|.
/// 5e-4 holds both. Momentum: a mean error of at most a quarter of the 99th percentile, 0.001, for 12.6, of
/// accelerations of 0.35 on average and speeds of 0.45: 0.01 of the sum of m |v|, were all errors in one
/// direction.
void check_equilibrium(const SelfTestMachine& machine, const SelfCheckReport& report) {
  const double end = 2 * std::pow(3 * pi / 32, -1.5);
  const auto run =
      simulation(machine, model_particles(machine.comm, "plummer", 5000),
                 {.begin = {}, .end = end, .step = 0.4, .steps = StepKind::block, .eta = 0.125}, 0.1);
  const Totals first = run->totals();
  while (!run->is_done()) run->step();
  const Totals last = run->totals();
  report({"Plummer sphere, energy after two crossing times, over that before",
          last.total_energy() / first.total_energy(), 1, 5e-4});
  report({"Plummer sphere, momentum it has gained, over the sum of m |v|",
          norm(last.momentum - first.momentum) / first.absolute_momentum, 0, 0.01});
}

}  // namespace

void check_motion(const SelfTestMachine& machine, const SelfCheckReport& report) {
  {
    const EachRank each(machine, report);
    check_kepler(each.machine, each.report);
  }
  check_collapse(machine, report);
  check_equilibrium(machine, report);
}

void check_ranks(const SelfTestMachine& machine, const SelfCheckReport& report) {
  const Communicator& comm = machine.comm;
  if (comm.size() == 1) return;
  GravityParameters gravity;
  gravity.softening.fill(0.01);
  const auto hash = [&](const SelfTestMachine& where) {
    const Evaluated evaluated(where, model_particles(where.comm, "merger", 20000), gravity);
    std::uint64_t result = 0;
    evaluated.backend->show(nullptr, [&](const Particles& p) { result = force_hash(where.comm, p); });
    return result;
  };
  const std::uint64_t of_all = hash(machine);
  const Communicator part = comm.split(comm.is_master() ? 0 : 1);
  const std::uint64_t of_part = hash({part, machine.make});
  report({fmt::format("forces of {} ranks that are not those of one rank, bit for bit", comm.size()),
          comm.broadcast(of_part) == of_all ? 0.0 : 1.0, 0, 0});
}

void selftest(const SelfTestMachine& machine, const SelfCheckReport& report) {
  // With all ranks first: so each takes a GPU of its own, and keeps it where it computes by itself.
  check_spheres(machine, report);
  check_softening(machine, report);
  check_motion(machine, report);
  check_ranks(machine, report);
}

}  // namespace grove
