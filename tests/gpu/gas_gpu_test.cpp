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
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/simulation.hpp"
#include "support/active_checks.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::share_of;

/// In a unit cube, most of them in a denser one, of any energies, masses and velocities. A tenth is no gas.
Particles gas_clouds(std::size_t count) {
  Particles particles;
  particles.hold_gas();
  particles.reset(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Vec3d u = test::place(test::Shape::uniform, i);
    particles.position[i] = i % 3 == 0 ? u : Vec3d{0.3, 0.4, 0.5} + 0.1 * (u - Vec3d{0.5, 0.5, 0.5});
    particles.velocity[i] = test::place(test::Shape::uniform, i + 50000);
    particles.mass[i] = 1 + test::uniform(i + 7);
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

/// A backend that has evaluated all, then after a drift those on rungs from 2 on, and then limited rungs.
struct GasState {
  Particles all, some, limited;

  GasState(const Communicator& comm, const char* backend_name, const GravityParameters& gravity,
           const GasParameters& gas) {
    Particles clouds = gas_clouds(6000);
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
    EXPECT_EQ(backend->gas()->evaluate(domain, 0, {}), 0);
    all = testing::shown(comm, *backend);

    constexpr int first_active = 2;
    Kick kick{.first_active = 0, .factor = {}};
    kick.factor.of[2] = kick.factor.of[3] = 1e-4;
    backend->kick(kick);
    backend->drift({.factor = 2e-4}, nullptr);
    RungTable since_middle{};
    for (int rung = 0; rung < 4; ++rung) since_middle.of[rung] = 1e-4;
    backend->gravity().evaluate(domain, {.grows = false, .first_active = first_active}, timers);
    EXPECT_EQ(backend->gas()->evaluate(domain, first_active, since_middle), 0);
    some = testing::shown(comm, *backend);

    const StepRule rule{.eta = 1e9, .longest = 0.05, .length = {1, 1, 1, 1, 1, 1}, .deepest = 20};
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

/// Sums of a hundred terms in double precision, in one order: a few 1e-14 of the largest. The steps of Newton
/// that lead to H take these over. Factors in single precision, f and Balsara's, may be rounded to another
/// side, 1.2e-7 of them; terms of a force cancel each other to a tenth or so in the middle of a cloud.
void expect_same_gas(const Particles& actual, const Particles& expected) {
  const auto expect_close = [&](const auto& field, double relative, const char* what) {
    expect_near(actual.*field.array, expected.*field.array, relative * largest(expected.*field.array), what);
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual.density[i], expected.density[i], 1e-10 * expected.density[i]) << i;
    ASSERT_NEAR(actual.smoothing_length[i], expected.smoothing_length[i],
                1e-10 * expected.smoothing_length[i])
        << i;
    ASSERT_NEAR(actual.pressure[i], expected.pressure[i], 1e-10 * expected.pressure[i]) << i;
  }
  expect_close(fields::energy_rate, 2e-6, "energy_rate");
  expect_close(fields::velocity_divergence, 1e-6, "velocity_divergence");
  expect_close(fields::balsara, 1e-6, "balsara");
  expect_close(fields::density_response, 1e-6, "density_response");
  expect_close(fields::signal_speed, 1e-6, "signal_speed");
  const double force = largest(expected.hydro_acceleration);
  EXPECT_GT(force, 0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_LT(norm((actual.hydro_acceleration[i] - expected.hydro_acceleration[i]).as<double>()),
              2e-6 * force)
        << i;
}

class GasOnGpu : public testing::GpuRanks {
 protected:
  static Simulation begun(const Communicator& comm, const Parameters& parameters, const char* name) {
    const Particles all = make_particles(parameters.initial_conditions.model);
    return {comm, parameters, backend(comm, parameters, name, share_of(comm, all)), 0};
  }
  static std::unique_ptr<Backend> backend(const Communicator& comm, const Parameters& parameters,
                                          const char* name, Particles own) {
    BackendChoice choice;
    choice.name = name;
    choice.share_gpu = choice.name == "cuda";
    return make_backend(comm, choice, std::move(own), parameters.gravity, parameters.gas);
  }
  static Parameters collapse(const std::string& time, const std::string& more = "") {
    return parse_parameters(
        "units: {system: none}\ninitial_conditions: {model: evrard, n: 3000}\n"
        "gravity: {softening: 0.02}\ntime: {begin: 0, " +
            time + "}\n" + more,
        "test", {});
  }
  static Particles evolved(const Communicator& comm, const Parameters& parameters) {
    Simulation run = begun(comm, parameters, "cuda");
    while (!run.is_done()) run.step();
    return gathered_by_id(comm, run.particles());
  }
  Communicator alone_{MPI_COMM_SELF};
};

TEST_F(GasOnGpu, has_the_densities_and_forces_of_the_host) {
  for (const double box : {0.0, 1.0})
    for (const SmoothingKernel kernel : {SmoothingKernel::wendland_c2, SmoothingKernel::cubic_spline})
      for (const GasFormulation formulation : {GasFormulation::grad_h, GasFormulation::paper}) {
        const GasParameters gas{.kernel = kernel, .formulation = formulation};
        const GasState expected(alone_, "kokkos", without_gravity(box), gas),
            actual(comm_, "cuda", without_gravity(box), gas);
        expect_same_gas(actual.all, expected.all);
        expect_same_gas(actual.some, expected.some);
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
  for (const double box : {0.0, 1.0}) {
    const GasState expected(alone_, "cuda", without_gravity(box), {}),
        actual(comm_, "cuda", without_gravity(box), {});
    testing::expect_same(actual.all, expected.all);
    testing::expect_same(actual.some, expected.some);
    testing::expect_same(actual.limited, expected.limited);
  }
}

TEST_F(GasOnGpu, refuses_particles_without_neighbours) {
  const BackendChoice choice{"cuda", true, {}};
  // The middle of a kernel weighs 14 of the masses that its sphere has to hold 100 of.
  const auto backend =
      make_backend(comm_, choice, share_of(comm_, gas_clouds(7)), without_gravity(0), GasParameters{});
  DecompositionReport report;
  PhaseTimers timers;
  const Domain domain = backend->decompose({}, {}, report);
  backend->gravity().evaluate(domain, {}, timers);
  EXPECT_THROW(backend->gas()->evaluate(domain, 0, {}), Agreed<InputError>);
}

constexpr const char *of_shared_steps = "end: 0.1, step: 0.0125, steps: shared",
                     *of_block_steps = "end: 0.3, step: 0.1, eta: 0.2";

TEST_F(GasOnGpu, ends_in_the_same_state_on_any_number_of_ranks) {
  for (const char* steps : {of_shared_steps, of_block_steps}) {
    SCOPED_TRACE(steps);
    const Parameters parameters = collapse(steps);
    testing::expect_same(evolved(comm_, parameters), evolved(alone_, parameters));
  }
}

TEST_F(GasOnGpu, goes_on_from_each_of_its_steps_bit_for_bit) {
  for (const char* steps : {of_shared_steps, of_block_steps}) {
    SCOPED_TRACE(steps);
    const testing::TestFolder folder(comm_, "gas_gpu");
    Parameters parameters = collapse(steps);
    parameters.output.folder = folder.path();
    const Particles expected = evolved(alone_, parameters);
    std::unique_ptr<Simulation> run(new Simulation(begun(comm_, parameters, "cuda")));
    while (!run->is_done()) {
      run->step();
      run->write_checkpoint();
      run.reset();
      const Checkpoint from = open_checkpoint(comm_, CheckpointFolder(folder.path()).latest_first().at(0));
      run = std::make_unique<Simulation>(comm_, parameters, backend(comm_, parameters, "cuda", {}), from);
    }
    testing::expect_same(gathered_by_id(comm_, run->particles()), expected);
  }
}

/// Until shortly before the bounce, where the two backends' roundings of gravity have not grown.
TEST_F(GasOnGpu, collapses_as_on_the_host) {
  const Parameters parameters = collapse("end: 0.8, step: 0.1, eta: 0.2");
  Simulation host = begun(comm_, parameters, "kokkos"), gpu = begun(comm_, parameters, "cuda");
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
