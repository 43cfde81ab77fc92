// Gas in space that expands, beside known answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/gas_runs.hpp"
#include "support/particles.hpp"
#include "support/periodic_universe.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::share_of;

/// The sites of a periodic box, all of them gas. energy: u as runs store it.
Particles gas_sites(const Parameters& p, int sites, double energy, const Displacement& displacement) {
  Particles particles = displaced_sites(p, sites, displacement);
  particles.hold_gas();
  particles.internal_energy.assign(particles.size(), energy);
  return particles;
}

Vec3d nowhere(const Vec3d&) { return {0, 0, 0}; }

/// Equations of state, with what u falls by: a to the minus `power`.
struct Kind {
  const char* gas;
  double power;
};
constexpr std::array<Kind, 3> kinds{Kind{"{adiabatic_index: 1.6666666666666667}", 2},
                                    Kind{"{adiabatic_index: 1.4}", 1.2},
                                    Kind{"{equation_of_state: isothermal}", 0}};

/// A file of the sites of a lattice, all of them gas of this physical u, as the first snapshot of a run.
void write_lattice(const Communicator& comm, const Parameters& p, const std::string& file, double physical,
                   double power) {
  WriteOptions options{.time = *p.time.begin, .units = p.units, .box = universe_box};
  options.comoving = {*p.universe, *p.cosmology.h, first_scale_factor, power};
  const double stored = physical * std::pow(first_scale_factor, power);
  write_snapshot(comm, file, share_of(comm, gas_sites(p, 8, stored, nowhere)), options);
}

// From file to file. Forces on the sites of a lattice are 0 but for errors, which displace them by 2e-5 of a
// spacing until today, and densities by the same part of themselves or so.
TEST(ComovingGas, cools_as_space_expands) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "comoving_gas");
  constexpr double begin = 1e6, end = 0.1;  // (km/s)^2, a
  const std::string first = folder / "first.hdf5", last = folder / "last.hdf5";
  const auto energies_of = [&](const std::string& file) {
    return gathered_by_id(comm, read_snapshot(comm, file, {.comoving = true}).particles).internal_energy;
  };
  for (const Kind& kind : kinds) {
    Parameters p = periodic_universe(end, 0.1, "softening: 20 kpc", fmt::format("gas: {}\n", kind.gas));
    write_lattice(comm, p, first, begin, kind.power);
    p.initial_conditions = {};
    p.initial_conditions.file = first;
    InitialState state = initial_state(comm, p);
    Simulation run(comm, p, std::move(state.particles), state.time);
    while (!run.is_done()) run.step();
    write_snapshot(comm, last, run.particles(), run.snapshot_options());

    const double expected = begin * std::pow(end / first_scale_factor, -kind.power);
    const double tolerance = kind.power == 0 ? 1e-14 : 5e-5;  // what is isothermal keeps its energy
    for (const double u : energies_of(first)) ASSERT_NEAR(u / begin, 1, 1e-14) << kind.gas;
    for (const double u : energies_of(last)) ASSERT_NEAR(u / expected, 1, tolerance) << kind.gas;
    const Totals totals = run.totals();
    EXPECT_NEAR(totals.internal_energy / totals.mass / expected, 1, 5e-5) << kind.gas;
  }
}

/// A wave along x, `little` of a spacing high.
Displacement wave(int sites, double little) {
  return [=](const Vec3d& q) { return Vec3d{little / sites * std::sin(2 * std::numbers::pi * q.x), 0, 0}; };
}

/// The part of that wave in a field, over the wave of displacements. units: of the field.
double part_of_wave(const Particles& all, int sites, const Displacement& displaced,
                    const std::function<Vec3d(std::size_t)>& field) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Vec3d s = displaced(site_of(sites, i));
    sum += dot(field(i), s), squares += norm2(s);
  }
  return sum / squares;
}

/// Particles of a static box, with their accelerations.
Particles at_rest(Particles particles, const std::string& gas) {
  const Communicator comm(MPI_COMM_WORLD);
  const Parameters p = parse_parameters(
      fmt::format("initial_conditions: {{model: plummer}}\nbox: {{periodic: true, size: {} kpc}}\n"
                  "gravity: {{softening: 20 kpc, delta: 1e-5}}\ngas: {}\n"
                  "time: {{begin: 0, end: 1, step: 1, steps: shared}}\n",
                  universe_box, gas),
      "test", {});
  std::fill(particles.velocity.begin(), particles.velocity.end(), Vec3d{0, 0, 0});
  return gathered_by_id(comm, Simulation(comm, p, share_of(comm, particles), 0).particles());
}

/// Sites with the entropies of those of the lattice. energy: there.
Particles isentropic_sites(const Parameters& p, int sites, double energy, const Displacement& displaced,
                           const Kind& kind) {
  Particles waving = gas_sites(p, sites, energy, displaced);
  const Array<double> density = at_rest(waving, kind.gas).density;
  const double mean = at_rest(gas_sites(p, sites, energy, nowhere), kind.gas).density[0];
  for (std::size_t i = 0; i < waving.size(); ++i)
    waving.internal_energy[i] *= std::pow(density[i] / mean, kind.power / 3);
  return waving;
}

/// Accelerations in static space of a wave, over its displacements: gravity's as a part of those of a
/// continuum, 4 pi G rho; minus the square of the frequency of sound, of gas with u = 1 where there is no
/// wave.
struct StaticResponse {
  double gravity, sound;
};

StaticResponse static_response(const Parameters& p, int sites, const Displacement& displaced,
                               const Kind& kind) {
  const Particles found = at_rest(isentropic_sites(p, sites, 1, displaced, kind), kind.gas);
  const auto part = [&](const std::function<Vec3d(std::size_t)>& field) {
    return part_of_wave(found, sites, displaced, field) / universe_box;
  };
  const double of_gas = part([&](std::size_t i) { return found.hydro_acceleration[i].as<double>(); }),
               of_all = part([&](std::size_t i) { return found.acceleration[i].as<double>(); });
  return {(of_all - of_gas) / (1.5 * p.universe->hubble * p.universe->hubble), -of_gas};
}

/// Height over the first one of a wave that begins with the growing mode's velocity, in a universe of matter
/// alone. With dx/dt = p / a^2 and dp/dt = (R 3/2 H0^2 / a - C a^-power) x, R and C the responses of gravity
/// and gas: x = a^-1/4 times Bessel functions of order sqrt(1/4 + 6 R) / |1 - power| of
/// 2 sqrt(C) / (H0 |1 - power|) a^((1 - power) / 2).
double height_of_wave(const StaticResponse& response, double hubble, double energy, double power,
                      double scale_factor) {
  const double order = std::sqrt(0.25 + 6 * response.gravity) / std::abs(1 - power);
  const auto argument = [&](double a) {
    return 2 * std::sqrt(response.sound * energy) / (hubble * std::abs(1 - power)) *
           std::pow(a, 0.5 * (1 - power));
  };
  struct Mode {
    double value, slope;  // the slope by ln a
  };
  const auto mode = [&](double a, double (*bessel)(double, double)) {
    const double z = argument(a), value = bessel(order, z), by_z = bessel(order - 1, z) - order / z * value;
    const double scale = std::pow(a, -0.25);
    return Mode{scale * value, scale * (-0.25 * value + 0.5 * (1 - power) * z * by_z)};
  };
  const auto first_kind = [](double n, double z) { return std::cyl_bessel_j(n, z); };
  const auto second_kind = [](double n, double z) { return std::cyl_neumann(n, z); };
  const Mode j = mode(first_scale_factor, first_kind), y = mode(first_scale_factor, second_kind);
  // Value and slope at first are 1.
  const double determinant = j.value * y.slope - j.slope * y.value;
  const double of_j = (y.slope - y.value) / determinant, of_y = (j.value - j.slope) / determinant;
  return of_j * mode(scale_factor, first_kind).value + of_y * mode(scale_factor, second_kind).value;
}

// Sound that gravity slows down: some radians until a = 0.1. Responses are those of the lattice, by forces of
// static space. A step of h radians, 0.11 at most, errs by h^3 / 24 as a leapfrog, 0.002 in all, and as
// energies at its end are extrapolated by some times as much: 0.009 was found, and a quarter of that with
// half the steps. Second orders of the height are 2e-3 of it and average out over the wave. Separations grow
// everywhere, so that there is no viscosity.
TEST(ComovingGas, sound_waves_go_on_as_linear_theory_says) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr int sites = 8;
  constexpr double end = 0.1, energies[]{1.7e4, 4.3e5, 1.4e7};
  const Displacement displaced = wave(sites, 0.02);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Kind& kind = kinds[k];
    const Parameters p =
        periodic_universe(end, 0.0125, "softening: 20 kpc, delta: 1e-5", fmt::format("gas: {}\n", kind.gas));
    const StaticResponse response = static_response(p, sites, displaced, kind);
    Simulation run(comm, p, share_of(comm, isentropic_sites(p, sites, energies[k], displaced, kind)),
                   *p.time.begin);
    int turns = 0;
    double last = 1;
    while (!run.is_done()) {
      run.step();
      const Particles now = gathered_by_id(comm, run.particles());
      const double height =
          part_of_wave(now, sites, displaced, [&](std::size_t i) { return displacement_of(now, sites, i); });
      const double expected =
          height_of_wave(response, p.universe->hubble, energies[k], kind.power, run.scale_factor());
      ASSERT_NEAR(height, expected, 0.02) << kind.gas << " at a = " << run.scale_factor();
      if (height * last < 0) ++turns;
      last = height;
    }
    EXPECT_EQ(turns, 3) << kind.gas;
  }
}

// Courant's condition is that of physical lengths and velocities: dt <= 0.15 a H / (2 c), c of the physical
// u.
TEST(ComovingGas, has_steps_in_which_physical_sound_goes_a_part_of_a_physical_h) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr double power = 1.2, energy = 1e7, a = first_scale_factor;  // gamma 1.4
  const Parameters p = parse_parameters(
      fmt::format("initial_conditions: {{model: plummer}}\ncosmology: {{preset: eds}}\n"
                  "box: {{periodic: true, size: {} kpc}}\ngravity: {{softening: 20 kpc}}\n"
                  "gas: {{adiabatic_index: 1.4}}\ntime: {{begin: z=49, end: z=40, step_ln_a: 0.1}}\n",
                  universe_box),
      "test", {});
  Simulation run(comm, p, share_of(comm, gas_sites(p, 8, energy, nowhere)), *p.time.begin);
  const double longest = Expansion(*p.universe).factors(a, 0.1).time;
  const double H = comm.max(run.particles().smoothing_length[0]),
               sound = std::sqrt(1.4 * 0.4 * energy * std::pow(a, -power));
  const auto expected = static_cast<int>(std::ceil(std::log2(longest / (0.15 * a * H / (2 * sound)))));
  EXPECT_GT(expected, 2);
  run.step();
  EXPECT_EQ(run.rung_of_last_step(), expected);
}

/// A wave of gas that falls together along x, from a lattice on.
struct Pancake {
  static constexpr int sites = 10;
  Particles first, last;
  Totals at_end;
  double balance = 0;  ///< largest error of that of Layzer and Irvine

  /// part: of the scale factor when it crosses without pressure. energy: u as runs store it, at first.
  Pancake(double part, double energy, const std::string& gas) {
    const Communicator comm(MPI_COMM_WORLD);
    constexpr double crossing = 0.2, k = 2 * std::numbers::pi;
    const Parameters p = periodic_universe(part * crossing, 0.025, "softening: 300 kpc", gas);
    const Displacement displaced = [](const Vec3d& q) {
      return Vec3d{-first_scale_factor / crossing / k * std::sin(k * q.x), 0, 0};
    };
    Simulation run(comm, p, share_of(comm, gas_sites(p, sites, energy, displaced)), *p.time.begin);
    first = gathered_by_id(comm, run.particles());
    const Expansion expansion(*p.universe);
    const auto space = [&] {
      return ExpandedSpace{run.scale_factor(), expansion.hubble(run.scale_factor()), p.gas.expansion_power()};
    };
    EnergyBalance energies;
    energies.begin(run.totals(), space());
    while (!run.is_done()) {
      run.step();
      energies.add(run.totals(), space(), 1);
    }
    balance = energies.largest_error();
    at_end = run.totals();
    last = gathered_by_id(comm, run.particles());
  }

  /// Smallest and largest growth of u / rho^(2/3).
  std::pair<double, double> growth_of_entropy() const {
    std::pair<double, double> growth{INFINITY, 0};
    const auto entropy = [](const Particles& all, std::size_t i) {
      return all.internal_energy[i] / std::pow(all.density[i], 2. / 3);
    };
    for (std::size_t i = 0; i < last.size(); ++i) {
      const double by = entropy(last, i) / entropy(first, i);
      growth = {std::min(growth.first, by), std::max(growth.second, by)};
    }
    return growth;
  }
};

// In a cold wave separations along x grow with space until half of the crossing's scale factor, and no
// pressure comes from viscosity, though peculiar motions approach each other. Steps of h = 0.025 in ln a
// change energies by h^2 / 12 = 5e-5 of their changes, which are of order 1.
TEST(ComovingGas, is_heated_by_viscosity_only_where_separations_shrink) {
  const std::string viscous = "gas: {viscosity: 1}\n";
  const auto [least_before, most_before] = Pancake(0.45, 1, viscous).growth_of_entropy();
  EXPECT_GT(least_before, 1 - 2e-4);
  EXPECT_LT(most_before, 1 + 2e-4);
  const Pancake late(0.85, 1, viscous);
  const auto [least, most] = late.growth_of_entropy();
  EXPECT_GT(least, 1 - 5e-4);
  EXPECT_GT(most, 5) << "the middle meets itself";
  // Without the work of viscosity against expansion 1.3e-2: of heat that is 2.5 % of the kinetic energy about
  // a half, where the shock is as wide as the wave. Forces of gravity err by 1e-3, steps by less.
  EXPECT_LT(late.balance, 2e-3);
}

// With half as much thermal as kinetic energy at the end, which expansion takes away as a^-power. Forces of
// gravity err by 1e-3, steps by less.
TEST(ComovingGas, takes_part_in_the_balance_of_layzer_and_irvine) {
  for (const auto& [gas, energy] :
       {std::pair{"{viscosity: 0}", 100.}, std::pair{"{viscosity: 0, adiabatic_index: 1.3}", 1000.}}) {
    const Pancake p(0.85, energy, fmt::format("gas: {}\n", gas));
    EXPECT_LT(p.balance, 2e-3) << gas;
    EXPECT_GT(p.at_end.internal_energy, 0.4 * p.at_end.kinetic_energy) << gas;
  }
}

/// Gas of uneven temperatures in the end.
struct UnevenGas {
  Particles last;
  int deepest = 0;  ///< rung that it had

  explicit UnevenGas(const std::string& steps) {
    const Communicator comm(MPI_COMM_WORLD);
    const Parameters p = testing::comoving(steps);
    Simulation run(comm, p, share_of(comm, testing::comoving_gas(p)), *p.time.begin);
    while (!run.is_done()) {
      run.step();
      deepest = std::max(deepest, run.rung_of_last_step());
    }
    last = gathered_by_id(comm, run.particles());
  }
};

// H is 0.36 of the box, so that steps of 0.15 H / 2 c are 0.17 radians of its sound: a leapfrog errs by
// 0.17^2 / 24 = 1e-3 of the changes.
TEST(ComovingGas, block_steps_and_shared_ones_go_the_same_way) {
  const UnevenGas block("step_ln_a: 0.05"), shared("step_ln_a: 0.0025, steps: shared");
  EXPECT_GT(block.deepest, 2);
  const Parameters p = testing::comoving();
  const Particles first = testing::comoving_gas(p);
  double heat = 0, all_heat = 0, motion = 0, all_motion = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first.type[i] != gas_type) continue;
    heat += std::abs(block.last.internal_energy[i] - shared.last.internal_energy[i]);
    all_heat += std::abs(shared.last.internal_energy[i] - first.internal_energy[i]);
    motion += norm(block.last.velocity[i] - shared.last.velocity[i]);
    all_motion += norm(shared.last.velocity[i] - first.velocity[i]);
  }
  EXPECT_LT(heat, 2e-3 * all_heat);
  EXPECT_LT(motion, 1e-3 * all_motion);
}

}  // namespace
}  // namespace grove
