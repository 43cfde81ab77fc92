// Density and forces of gas, without time.
#include "gas/host_gas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/migration.hpp"
#include "forest/forest.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::uniform;

/// Particles that every rank makes alike; each takes some of them.
Particles taken(const Communicator& comm, const Particles& all) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm.size())) == comm.rank()) own.push_back(i);
  Particles particles = all;
  particles.reorder(own);
  return particles;
}

/// Their rates of change, by id. rest: velocities are those of the present.
Particles evaluated(const Communicator& comm, const Particles& all, const GasParameters& gas, double box) {
  Particles particles = taken(comm, all);
  DecompositionReport report;
  const Domain domain = decompose(comm, particles, {}, {}, report);
  Forest forest;
  forest.build(particles, domain.box, domain.leaf_begin);
  HostGas(comm, gas, Images{box}, particles, forest.shapes()).evaluate(domain, 0, {});
  return gathered_by_id(comm, particles);
}

constexpr std::uint64_t sites = 10;  // along each edge

Particles unit_lattice(std::uint64_t edge = sites) {
  Particles particles;
  particles.hold_gas();
  particles.reset(edge * edge * edge);
  for (std::uint64_t i = 0; i < particles.size(); ++i) {
    const auto along = [&](std::uint64_t n) { return static_cast<double>(n % edge); };
    particles.position[i] = {along(i), along(i / edge), along(i / edge / edge)};
    particles.mass[i] = 1;
    particles.id[i] = i;
    particles.internal_energy[i] = 1;
  }
  return particles;
}

/// In a unit cube, of any energies, masses and velocities. A tenth is no gas.
Particles clouds(std::size_t count) {
  Particles particles;
  particles.hold_gas();
  particles.reset(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Vec3d u = test::place(test::Shape::uniform, i);
    particles.position[i] = i % 3 == 0 ? u : Vec3d{0.3, 0.4, 0.5} + 0.2 * (u - Vec3d{0.5, 0.5, 0.5});
    particles.velocity[i] = test::place(test::Shape::uniform, i + 50000);
    particles.mass[i] = 1 + uniform(i + 7);
    particles.id[i] = i * 7919 % 1000003;
    particles.type[i] = i % 10 == 0 ? 1 : gas_type;
    particles.internal_energy[i] = particles.type[i] == gas_type ? 0.1 + uniform(i + 99) : 0;
  }
  return particles;
}

std::vector<GasParameters> all_kinds() {
  std::vector<GasParameters> kinds;
  for (const SmoothingKernel kernel : {SmoothingKernel::wendland_c2, SmoothingKernel::cubic_spline})
    for (const GasFormulation formulation : {GasFormulation::grad_h, GasFormulation::paper})
      kinds.push_back({.kernel = kernel, .formulation = formulation});
  return kinds;
}

TEST(Gas, lattice_has_the_density_of_its_kernel) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const GasParameters& gas : all_kinds()) {
    const Particles found = evaluated(comm, unit_lattice(), gas, sites);
    // Computed apart from Grove: the sum over the sites at the H for which it holds.
    const double expected = gas.kernel == SmoothingKernel::wendland_c2 ? 1.0037 : 1.0035;
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found.density[i], expected, 1e-4);
      // Its own condition, which the last step of Newton's method leaves to 1e-6.
      const double within = 4 * M_PI / 3 * std::pow(found.smoothing_length[i], 3) * found.density[i];
      ASSERT_NEAR(within, neighbours_of(gas.kernel), 1e-4 * neighbours_of(gas.kernel));
      // Forces of opposite sites are equal, but for their H and for factors in single precision; one of them
      // is 1e-2 or so.
      ASSERT_LT(norm(found.acceleration[i].as<double>()), 1e-6);
    }
  }
}

TEST(Gas, exchanges_momentum_and_energy_without_loss) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const GasParameters& gas : all_kinds()) {
    const Particles found = evaluated(comm, clouds(3000), gas, 1);
    Vec3d force{0, 0, 0};
    double size = 0, power = 0, heat = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Vec3d a = found.acceleration[i].as<double>();
      force += found.mass[i] * a;
      size += found.mass[i] * norm(a);
      power += found.mass[i] * (dot(found.velocity[i], a) + found.energy_rate[i]);
      heat += found.mass[i] * std::abs(found.energy_rate[i]);
      if (found.type[i] != gas_type) {
        ASSERT_EQ(norm(a), 0);
      }
    }
    // Accelerations are rounded to single precision, 6e-8 of each.
    EXPECT_LT(norm(force), 1e-6 * size);
    EXPECT_LT(std::abs(power), 1e-6 * heat);
  }
}

TEST(Gas, has_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const double box : {0.0, 1.0})
    for (const GasParameters& gas : all_kinds()) {
      const Particles actual = evaluated(comm, clouds(2000), gas, box),
                      expected = evaluated(alone, clouds(2000), gas, box);
      EXPECT_EQ(actual.acceleration, expected.acceleration);
      EXPECT_EQ(actual.energy_rate, expected.energy_rate);
      EXPECT_EQ(actual.density, expected.density);
      EXPECT_EQ(actual.smoothing_length, expected.smoothing_length);
      EXPECT_EQ(actual.pressure, expected.pressure);
      EXPECT_EQ(actual.balsara, expected.balsara);
      EXPECT_EQ(actual.velocity_divergence, expected.velocity_divergence);
      EXPECT_EQ(actual.signal_speed, expected.signal_speed);
    }
}

/// Thermal energy where entropies are kept: u = A rho^(gamma - 1).
double thermal_energy(const Communicator& comm, Particles particles, const Array<double>& entropy) {
  const GasParameters gas{.viscosity = 0};
  const Particles found = evaluated(comm, particles, gas, 0);
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found.type[i] == gas_type)
      sum += found.mass[i] * entropy[i] * std::pow(found.density[i], gas.adiabatic_index - 1);
  return sum;
}

TEST(Gas, forces_are_the_gradient_of_the_thermal_energy) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = clouds(500);
  for (std::size_t i = 0; i < all.size(); ++i) all.id[i] = i, all.velocity[i] = {0, 0, 0};
  const GasParameters gas{.viscosity = 0};
  const Particles found = evaluated(comm, all, gas, 0);
  Array<double> entropy(all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all.type[i] == gas_type)
      entropy[i] = found.internal_energy[i] / std::pow(found.density[i], gas.adiabatic_index - 1);
  for (const std::size_t i : {1u, 33u, 402u}) {
    // A thousandth of H: the third derivative counts to 1e-6 or so, and densities that are right to 1e-6 or
    // better change the difference of energies, 1e-3 of what the neighbours have, by less than 1 %.
    const double step = 1e-3 * found.smoothing_length[i];
    Particles ahead = all, behind = all;
    ahead.position[i].x += step, behind.position[i].x -= step;
    const double slope =
        (thermal_energy(comm, ahead, entropy) - thermal_energy(comm, behind, entropy)) / (2 * step);
    const Vec3d force = all.mass[i] * found.acceleration[i].as<double>();
    EXPECT_NEAR(-slope, force.x, 0.01 * norm(force)) << i;
  }
}

/// A wave across the box of a lattice, by the coordinate along x or y.
Particles waving(Vec3d (*velocity)(const Vec3d& phase)) {
  Particles particles = unit_lattice();
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.velocity[i] = velocity(2 * M_PI / sites * particles.position[i]);
  return particles;
}

TEST(Gas, viscosity_acts_where_flows_converge_and_not_where_they_shear) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto balsara = [&](Vec3d (*velocity)(const Vec3d& phase)) {
    return evaluated(comm, waving(velocity), {}, sites).balsara;
  };
  // Opposite sites cancel in the sums, so that what is 0 is so to rounding, 1e-15 of |curl|, |div| = 0.6 cos.
  for (const float factor : balsara([](const Vec3d& x) { return Vec3d{std::sin(x.y), 0, 0}; }))
    ASSERT_LT(factor, 1e-6);
  // No site has |cos| below 0.3, and the estimate is a half of |div| at least; 1e-4 c / H is 4e-5.
  for (const float factor : balsara([](const Vec3d& x) { return Vec3d{std::sin(x.x), 0, 0}; }))
    ASSERT_GT(factor, 0.999);
  // Both alike, div = curl: a half, but for 1e-4 c / H beside twice as much.
  for (const float factor : balsara([](const Vec3d& x) { return std::sin(x.x) * Vec3d{1, 1, 0}; }))
    ASSERT_NEAR(factor, 0.5, 0.001);
}

TEST(Gas, isothermal_keeps_its_energies) {
  const Communicator comm(MPI_COMM_WORLD);
  const GasParameters isothermal{.equation_of_state = EquationOfState::isothermal};
  const Particles found = evaluated(comm, clouds(1000), isothermal, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found.energy_rate[i], 0);
    if (found.type[i] == gas_type) {
      ASSERT_GT(norm(found.acceleration[i].as<double>()), 0);
    }
  }
}

/// The rungs that follow from those at first, every pair looked at: the least at which neighbours are two
/// apart.
std::vector<std::uint8_t> limited(const Particles& all, std::vector<std::uint8_t> rung) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j) {
        const double reach = std::max(all.smoothing_length[i], all.smoothing_length[j]);
        if (all.type[i] != gas_type || all.type[j] != gas_type || rung[j] + 2 >= rung[i] ||
            !(norm(all.position[i] - all.position[j]) < reach))
          continue;
        rung[j] = static_cast<std::uint8_t>(rung[i] - 2);
        goes_on = true;
      }
  }
  return rung;
}

TEST(Gas, steps_of_neighbours_are_two_rungs_apart_at_most) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = clouds(1500);
  // One is hot in the middle of the dense part.
  all.internal_energy[301] = 1e6;
  Particles particles = taken(comm, all);
  DecompositionReport report;
  const Domain domain = decompose(comm, particles, {}, {}, report);
  Forest forest;
  forest.build(particles, domain.box, domain.leaf_begin);
  const GasParameters parameters;
  HostGas gas(comm, parameters, {}, particles, forest.shapes());
  gas.evaluate(domain, 0, {});
  const StepRule rule{.longest = 1, .deepest = deepest_rung, .crossing = 0.3};
  const RungCounts counts = gas.limit_rungs(domain, rule, 0, {});

  const Particles found = gathered_by_id(comm, particles);
  std::vector<std::uint8_t> by_signals(found.size(), 0), actual(found.rung.begin(), found.rung.end());
  for (std::size_t i = 0; i < found.size(); ++i)
    while (found.type[i] == gas_type &&
           std::ldexp(static_cast<double>(found.signal_speed[i]), -by_signals[i]) >
               parameters.courant * rule.crossing * found.smoothing_length[i])
      ++by_signals[i];
  const std::vector<std::uint8_t> expected = limited(found, by_signals);
  EXPECT_EQ(actual, expected);
  EXPECT_NE(expected, by_signals) << "signals alone leave neighbours farther apart";
  Count counted = 0;
  for (const Count of_rung : counts) counted += of_rung;
  EXPECT_EQ(comm.sum(counted), static_cast<Count>(found.size()));
}

/// The error of this gas in a periodic box when it is evaluated twice.
std::string fault_in_box(const Communicator& comm, const Particles& all, double box, int first_active = 0) {
  Particles particles = taken(comm, all);
  DecompositionReport report;
  const Domain domain = decompose(comm, particles, {}, {}, report);
  Forest forest;
  forest.build(particles, domain.box, domain.leaf_begin);
  HostGas gas(comm, {}, Images{box}, particles, forest.shapes());
  try {
    gas.evaluate(domain, first_active, {});
    gas.evaluate(domain, first_active, {});
  } catch (const Agreed<InputError>& error) {
    return error.what();
  }
  return "none";
}

// H is 2.876 spacings (2.876^3 4 pi / 3 times 1.0037 are 100), 0.479 of a box of 6 and 0.574 of one of 5.
TEST(Gas, needs_less_than_half_a_periodic_box) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_EQ(fault_in_box(comm, unit_lattice(6), 6), "none");
  EXPECT_NE(fault_in_box(comm, unit_lattice(5), 5).find("too few neighbours in the periodic box"),
            std::string::npos);
  // Inactive gas whose H has grown since it was found.
  Particles all = unit_lattice(6);
  all.rung.assign(all.size(), 1);
  all.rung[41] = 0, all.density[41] = 1;
  all.smoothing_length[41] = 2.99;
  EXPECT_EQ(fault_in_box(comm, all, 6, 1), "none");
  all.smoothing_length[41] = 3;
  EXPECT_NE(fault_in_box(comm, all, 6, 1).find("not less than half the edge"), std::string::npos);
}

TEST(Gas, refuses_particles_without_neighbours) {
  const Communicator comm(MPI_COMM_WORLD);
  // The middle of a kernel weighs 14 of the masses that its sphere has to hold 100 of.
  EXPECT_THROW(evaluated(comm, clouds(7), {}, 0), Agreed<InputError>);
}

}  // namespace
}  // namespace grove
