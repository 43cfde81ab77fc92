// Gas on GPUs beside the host, and its runs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/errors.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/simulation.hpp"
#include "support/active_checks.hpp"
#include "support/gas_runs.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::share_of;

/// In a unit cube, most of them in a denser one, of any energies, masses and velocities. A tenth is no gas.
/// heaviest: mass of every hundredth particle, 1 to 2 of all others; a heavy one has as many more neighbours.
Particles gas_clouds(std::size_t count, double heaviest = 1) {
  Particles particles;
  particles.hold_gas();
  particles.reset(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Vec3d u = test::place(test::Shape::uniform, i);
    particles.position[i] = i % 3 == 0 ? u : Vec3d{0.3, 0.4, 0.5} + 0.1 * (u - Vec3d{0.5, 0.5, 0.5});
    particles.velocity[i] = test::place(test::Shape::uniform, i + 50000);
    particles.mass[i] = (1 + test::uniform(i + 7)) * (i % 100 == 1 ? heaviest : 1);
    particles.id[i] = i + 1;
    particles.type[i] = i % 10 == 0 ? 1 : gas_type;
    particles.internal_energy[i] = particles.type[i] == gas_type ? 0.1 + test::uniform(i + 99) : 0;
  }
  return particles;
}

GravityParameters without_gravity(double box) {
  GravityParameters gravity;
  gravity.self_gravity = false;
  gravity.softening.fill(0.01);
  gravity.images = Images{box};
  return gravity;
}

/// A problem of a test.
struct GasCase {
  double box = 0;  ///< its edge; 0: open
  GasSpace space{};
  double heaviest = 1;  ///< gas_clouds()
};
/// Expansion over the edge of the cloud of particles is as fast as these.
constexpr GasSpace in_expansion{.energy = 0.7, .force = 0.5, .heating = 0.6, .hubble = 10};

/// A backend that has evaluated all, then after a drift those on rungs from 2 on, and then limited rungs.
struct GasState {
  Particles all, some, limited;
  Totals totals;  ///< of all

  GasState(const Communicator& comm, const char* backend_name, const GasCase& of, const GasParameters& gas) {
    const GravityParameters gravity = without_gravity(of.box);
    const GasSpace& space = of.space;
    Particles clouds = gas_clouds(6000, of.heaviest);
    for (std::size_t i = 0; i < clouds.size(); ++i) clouds.rung[i] = static_cast<std::uint8_t>(i % 4);
    BackendChoice choice;
    choice.name = backend_name;
    choice.share_gpu = choice.name == "cuda";
    const auto backend = make_backend(comm, choice, share_of(comm, clouds), gravity, gas);
    DecompositionReport report;
    PhaseTimers timers;
    DecompositionParameters parameters{.leaf_size = 256};
    parameters.period = gravity.images.edge;
    const Domain domain = backend->decompose(parameters, {}, report);
    backend->gravity().evaluate(domain, {}, timers);
    EXPECT_EQ(backend->gas()->evaluate(domain, 0, {{}, space}), 0);
    all = testing::shown(comm, *backend);
    totals = backend->totals(domain);

    constexpr int first_active = 2;
    Kick kick{.first_active = 0, .factor = {}};
    kick.factor.of[2] = kick.factor.of[3] = 1e-4;
    backend->kick(kick);
    backend->drift({.factor = 2e-4}, nullptr);
    RungTable since_middle{};
    for (int rung = 0; rung < 4; ++rung) since_middle.of[rung] = 1e-4;
    backend->gravity().evaluate(domain, {.grows = false, .first_active = first_active}, timers);
    EXPECT_EQ(backend->gas()->evaluate(domain, first_active, {since_middle, space}), 0);
    some = testing::shown(comm, *backend);

    const StepRule rule{
        .eta = 1e9, .longest = 0.05, .length = {1, 1, 1, 1, 1, 1}, .deepest = 20, .crossing = 0.5};
    InsideSteps inside{since_middle, {}, true};
    for (int rung = 0; rung < rung_count; ++rung) inside.behind.of[rung] = 1e-8 * rung;
    const RungCounts counts = backend->gas()->limit_rungs(domain, rule, first_active, inside);
    Count particles = 0;
    for (const Count count : counts) particles += count;
    EXPECT_EQ(comm.sum(particles), 6000);
    limited = testing::shown(comm, *backend);
  }
};

template <class T>
double largest(const Array<T>& values) {
  double most = 0;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, Vec3f>)
      most = std::max(most, norm(value.template as<double>()));
    else
      most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return most;
}

template <class T>
void expect_near(const Array<T>& actual, const Array<T>& expected, double tolerance, const char* what) {
  SCOPED_TRACE(what);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(static_cast<double>(actual[i]), static_cast<double>(expected[i]), tolerance) << i;
}

/// GPUs sum some hundred terms in single precision, each rounded several times, so that sums err by about
/// 1e-6 of all terms. H goes with the third root of a sum. Terms of a force cancel each other to a tenth or
/// so in the middle of a cloud, where it is far from the largest.
///
/// flow: the tolerance of div v relative to the largest, and at least that of other derivatives.
void expect_same_gas(const Particles& actual, const Particles& expected, double flow = 3e-6) {
  const auto expect_close = [&](const auto& field, double relative, const char* what) {
    expect_near(actual.*field.array, expected.*field.array, relative * largest(expected.*field.array), what);
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual.density[i], expected.density[i], 1e-5 * expected.density[i]) << i;
    ASSERT_NEAR(actual.smoothing_length[i], expected.smoothing_length[i], 3e-6 * expected.smoothing_length[i])
        << i;
    ASSERT_NEAR(actual.pressure[i], expected.pressure[i], 1e-5 * expected.pressure[i]) << i;
  }
  expect_close(fields::energy_rate, 3e-6, "energy_rate");
  expect_close(fields::velocity_divergence, flow, "velocity_divergence");
  expect_close(fields::balsara, std::max(1e-5, flow), "balsara");
  expect_close(fields::density_response, std::max(1e-5, flow), "density_response");
  expect_close(fields::signal_speed, 1e-6, "signal_speed");
  const double force = largest(expected.hydro_acceleration);
  EXPECT_GT(force, 0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_LT(norm((actual.hydro_acceleration[i] - expected.hydro_acceleration[i]).as<double>()),
              3e-6 * force)
        << i;
}

/// The powers of gas, sums over rates that are as near as expect_same_gas() has them.
void expect_same_work(const GasState& actual, const GasState& expected) {
  const Totals& sums = expected.totals;
  EXPECT_NE(sums.hydro_power, 0);
  EXPECT_NEAR(actual.totals.hydro_power, sums.hydro_power,
              3e-6 * sums.absolute_momentum * largest(expected.all.hydro_acceleration));
  EXPECT_NE(sums.heating, 0);
  EXPECT_NEAR(actual.totals.heating, sums.heating, 3e-6 * sums.mass * largest(expected.all.energy_rate));
  EXPECT_NEAR(actual.totals.internal_energy, sums.internal_energy, 1e-12 * sums.internal_energy);
}

class GasOnGpu : public testing::GpuRanks {
 protected:
  static Simulation begun(const Communicator& comm, const testing::GasRun& kind, const Parameters& parameters,
                          const char* name) {
    return {comm, parameters, backend(comm, parameters, name, share_of(comm, kind.particles(parameters))),
            parameters.time.begin.value()};
  }
  static std::unique_ptr<Backend> backend(const Communicator& comm, const Parameters& parameters,
                                          const char* name, Particles own) {
    BackendChoice choice;
    choice.name = name;
    choice.share_gpu = choice.name == "cuda";
    return make_backend(comm, choice, std::move(own), parameters.gravity, parameters.gas);
  }
  static Particles evolved(const Communicator& comm, const testing::GasRun& kind,
                           const Parameters& parameters, const char* name = "cuda") {
    Simulation run = begun(comm, kind, parameters, name);
    while (!run.is_done()) run.step();
    return gathered_by_id(comm, run.particles());
  }
  Communicator alone_{MPI_COMM_SELF};
};

TEST_F(GasOnGpu, has_the_densities_and_forces_of_the_host) {
  for (const GasCase& of : {GasCase{}, GasCase{.box = 1}, GasCase{.box = 1, .space = in_expansion}})
    for (const SmoothingKernel kernel : {SmoothingKernel::wendland_c2, SmoothingKernel::cubic_spline})
      for (const GasFormulation formulation : {GasFormulation::grad_h, GasFormulation::paper}) {
        const GasParameters gas{.kernel = kernel, .formulation = formulation};
        const GasState expected(alone_, "kokkos", of, gas), actual(comm_, "cuda", of, gas);
        expect_same_gas(actual.all, expected.all);
        expect_same_gas(actual.some, expected.some);
        expect_same_work(actual, expected);
        // Signals are the same to 1e-6, so that none of 6000 particles comes to another rung by chance.
        EXPECT_EQ(actual.limited.rung, expected.limited.rung);
        const std::set<std::uint8_t> rungs(expected.limited.rung.begin(), expected.limited.rung.end());
        EXPECT_GT(rungs.size(), 4U) << "there is something to limit";
        for (std::size_t i = 0; i < expected.limited.size(); ++i) {
          ASSERT_NEAR(norm(actual.limited.velocity[i] - expected.limited.velocity[i]), 0, 1e-6) << i;
          ASSERT_NEAR(actual.limited.internal_energy[i], expected.limited.internal_energy[i], 1e-6) << i;
        }
      }
}

TEST_F(GasOnGpu, has_the_same_bits_on_any_number_of_ranks) {
  for (const GasCase& of :
       {GasCase{}, GasCase{.box = 1}, GasCase{.box = 1, .space = in_expansion}, GasCase{.heaviest = 50}}) {
    const GasState expected(alone_, "cuda", of, {}), actual(comm_, "cuda", of, {});
    testing::expect_same(actual.all, expected.all);
    testing::expect_same(actual.some, expected.some);
    testing::expect_same(actual.limited, expected.limited);
  }
}

/// Gas within H of each particle.
std::size_t most_neighbours(const Particles& all) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t number = 0;
    for (std::size_t j = 0; j < all.size(); ++j)
      number += all.type[j] == gas_type && norm(all.position[j] - all.position[i]) < all.smoothing_length[i];
    most = std::max(most, number);
  }
  return most;
}

// Groups with more than 992 candidates get a block of 16 warps, each of which goes through 256 at a time
// (gas_large.cuh): some have two such chunks here.
//
// A light particle near a heavy one has an H so small that this is all its neighbours, and the largest
// divergence: 3 v.d / r^2 of this one, at r = 3.6e-4. Its H is searched from that of mean density in
// its leaf on, 0.02, and with half the box of its group places have units of E = 0.03. Both places are
// rounded by 2^-25 E on each axis, so that d errs by up to sqrt(3) 2^-24 E = 3.1e-9, which is 8.6e-6 r; v.d
// may err by as much of it, r^2 by twice as much: 2.6e-5 in all. Roundings of v, W and the sums, 2^-24 each,
// are far below.
TEST_F(GasOnGpu, has_the_densities_and_forces_of_the_host_where_neighbours_are_more_than_a_group_holds) {
  const GasCase of{.heaviest = 50};
  const GasState expected(alone_, "kokkos", of, {}), actual(comm_, "cuda", of, {});
  constexpr double flow = 2.6e-5;
  EXPECT_GT(most_neighbours(expected.all), 992U);
  expect_same_gas(actual.all, expected.all, flow);
  expect_same_gas(actual.some, expected.some, flow);
  EXPECT_EQ(actual.limited.rung, expected.limited.rung);
}

/// Errors of gas in a periodic box, or, box = 0, in open space.
class FaultsOfGasOnGpu : public testing::GpuRanks {
 protected:
  std::string fault(Particles all, double box, int first_active = 0) const {
    const auto backend =
        make_backend(comm_, {"cuda", true, {}}, share_of(comm_, all), without_gravity(box), GasParameters{});
    DecompositionReport report;
    PhaseTimers timers;
    DecompositionParameters parameters;
    parameters.period = box;
    const Domain domain = backend->decompose(parameters, {}, report);
    backend->gravity().evaluate(domain, {}, timers);
    try {
      backend->gas()->evaluate(domain, first_active, {});
    } catch (const Agreed<InputError>& error) {
      return error.what();
    }
    return "none";
  }
};

TEST_F(FaultsOfGasOnGpu, are_particles_without_neighbours) {
  // The middle of a kernel weighs 14 of the masses that its sphere has to hold 100 of.
  EXPECT_NE(fault(gas_clouds(7), 0).find("too few neighbours in all of space"), std::string::npos);
}

TEST_F(FaultsOfGasOnGpu, are_radii_of_half_a_periodic_box) {
  const std::string few = "too few neighbours in the periodic box";
  EXPECT_EQ(fault(gas_clouds(6000), 1), "none");
  EXPECT_NE(fault(gas_clouds(80), 1).find(few), std::string::npos);
  // Inactive gas whose H has grown since it was found.
  Particles all = gas_clouds(6000);
  all.rung.assign(all.size(), 1);
  all.rung[41] = 0, all.density[41] = 1;
  all.smoothing_length[41] = 0.49;
  EXPECT_EQ(fault(all, 1, 1), "none");
  all.smoothing_length[41] = 0.5;
  EXPECT_NE(fault(all, 1, 1).find(few), std::string::npos);
}

class GasRunOnGpu : public GasOnGpu, public ::testing::WithParamInterface<testing::GasRun> {};

TEST_P(GasRunOnGpu, ends_in_the_same_state_on_any_number_of_ranks) {
  const Parameters parameters = GetParam().parameters();
  testing::expect_same(evolved(comm_, GetParam(), parameters), evolved(alone_, GetParam(), parameters));
}

TEST_P(GasRunOnGpu, goes_on_from_each_of_its_steps_bit_for_bit) {
  const testing::TestFolder folder(comm_, "gas_gpu");
  Parameters parameters = GetParam().parameters();
  parameters.output.folder = folder.path();
  const Particles expected = evolved(alone_, GetParam(), parameters);
  std::unique_ptr<Simulation> run(new Simulation(begun(comm_, GetParam(), parameters, "cuda")));
  while (!run->is_done()) {
    run->step();
    run->write_checkpoint();
    run.reset();
    const Checkpoint from = open_checkpoint(comm_, CheckpointFolder(folder.path()).latest_first().at(0));
    run = std::make_unique<Simulation>(comm_, parameters, backend(comm_, parameters, "cuda", {}), from);
  }
  testing::expect_same(gathered_by_id(comm_, run->particles()), expected);
}

// Both backends' forces of gravity err by 1e-3, mostly alike, so that motions and energies, whose changes are
// of their own size or less, do by less than 0.5 %. But some steps are halved on one backend alone, which
// errs by less than that, too.
TEST_P(GasRunOnGpu, goes_as_on_the_host) {
  const Parameters parameters = GetParam().parameters();
  const Particles expected = evolved(comm_, GetParam(), parameters, "kokkos"),
                  actual = evolved(comm_, GetParam(), parameters, "cuda");
  double heat = 0, motion = 0, all_heat = 0, all_motion = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected.type[i] != gas_type) continue;
    heat += std::abs(actual.internal_energy[i] - expected.internal_energy[i]);
    motion += norm(actual.velocity[i] - expected.velocity[i]);
    all_heat += expected.internal_energy[i], all_motion += norm(expected.velocity[i]);
  }
  EXPECT_LT(heat, 5e-3 * all_heat);
  EXPECT_LT(motion, 5e-3 * all_motion);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GasRunOnGpu, ::testing::ValuesIn(testing::gas_runs()),
                         [](const auto& kind) { return kind.param.name; });

/// Until shortly before the bounce, where the two backends' roundings of gravity have not grown.
TEST_F(GasOnGpu, collapses_as_on_the_host) {
  const Parameters parameters = testing::collapse("end: 0.8, step: 0.1, eta: 0.2");
  const testing::GasRun& kind = testing::gas_runs()[0];
  Simulation host = begun(comm_, kind, parameters, "kokkos"), gpu = begun(comm_, kind, parameters, "cuda");
  int deepest = 0;
  while (!host.is_done()) {
    do {
      host.step();
      deepest = std::max(deepest, host.rung_of_last_step());
    } while (!host.is_synchronised());
    do gpu.step();
    while (!gpu.is_synchronised());
    const Totals expected = host.totals(), actual = gpu.totals();
    // Forces of gravity err by 1e-3 of each, mostly alike on both, and in sums over all particles by less.
    EXPECT_NEAR(actual.internal_energy, expected.internal_energy, 1e-3 * 0.617);
    EXPECT_NEAR(actual.kinetic_energy, expected.kinetic_energy, 1e-3 * 0.617);
    EXPECT_NEAR(actual.potential_energy, expected.potential_energy, 1e-3 * 0.617);
    EXPECT_NEAR(actual.total_energy(), -0.617, 0.01);
  }
  EXPECT_GT(deepest, 1) << "steps are of several lengths";
}

}  // namespace
}  // namespace grove
