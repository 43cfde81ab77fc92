// Block time steps on GPUs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "particles/gpu/device_particles.hpp"
#include "simulation.hpp"
#include "support/active_checks.hpp"
#include "support/gpu_ranks.hpp"
#include "time/leapfrog.hpp"

namespace grove {
namespace {

class BlockStepsOnGpu : public testing::GpuRanks {
 protected:
  void check(const GravityParameters& kind, int together = 32) const {
    testing::check_active_through_trees(
        comm_, kind, [&](const Communicator& ranks, Particles own, const GravityParameters& gravity) {
          return make_backend(ranks, {"cuda", true, {}, together}, std::move(own), gravity);
        });
  }
};

TEST_F(BlockStepsOnGpu, active_particles_get_the_forces_that_all_would) {
  check({});
  check({}, 64);
  GravityParameters kind;
  kind.tree = LocalTreeKind::octree;
  check(kind);
}

TEST_F(BlockStepsOnGpu, active_particles_get_the_forces_that_all_would_along_ropes_and_directly) {
  GravityParameters kind;
  kind.walk = WalkKind::rope;
  check(kind);
  kind.walk = WalkKind::groups;
  kind.direct_below = 10000;
  check(kind);
}

/// Particles with random fields.
Particles random_particles(std::size_t count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Particles p;
  p.resize(count);
  const auto vector = [&] { return Vec3f{uniform(random), uniform(random), uniform(random)}; };
  for (std::size_t i = 0; i < count; ++i) {
    p.position[i] = vector().as<double>();
    p.velocity[i] = vector().as<double>();
    p.acceleration[i] = vector() * std::pow(10.F, 3 * uniform(random));
    p.previous_acceleration[i] = i % 5 == 0 ? Vec3f{0, 0, 0} : p.acceleration[i] + vector();
    p.mass[i] = 1, p.id[i] = i + 1, p.potential[i] = 0, p.old_acceleration[i] = 0;
    p.type[i] = static_cast<std::uint8_t>(i % 2);
    p.work[i] = static_cast<std::uint32_t>(random());
    p.level[i] = static_cast<std::uint8_t>(random() % 12);
  }
  return p;
}

TEST_F(BlockStepsOnGpu, levels_kicks_and_drifts_are_the_hosts) {
  constexpr int first_active = 4;
  Particles host = random_particles(100003);
  const DeviceParticles device(host);
  const cuda::StepFields fields = step_fields(device);
  const StepRule rule{.eta = 0.1, .longest = 0.5, .length = {0.1, 0.5}, .deepest = 20};
  Kick kick{.first_active = first_active};
  Drift drift{.factor = 0.3, .has_lag = true};
  for (int k = 0; k < time_levels; ++k) kick.factor.of[k] = 0.01 * k, drift.lag.of[k] = 0.001 * k;

  EXPECT_EQ(cuda::choose_levels(host.size(), rule, first_active, fields),
            choose_levels(host, rule, first_active));
  cuda::kick(host.size(), kick, fields);
  cuda::drift(host.size(), drift, fields);
  grove::kick(host, kick);
  grove::drift(host, drift);
  const Particles there = device.download();
  EXPECT_EQ(std::memcmp(there.level.data(), host.level.data(), host.size()), 0);
  EXPECT_EQ(there.previous_acceleration, host.previous_acceleration);
  for (std::size_t i = 0; i < host.size(); ++i) {
    // Products and sums may be fused on one side: a few roundings of 2^-52 of accelerations up to 2000 times
    // factors below 0.4.
    ASSERT_LT(norm(there.velocity[i] - host.velocity[i]), 1e-12) << i;
    ASSERT_LT(norm(there.position[i] - host.position[i]), 1e-12) << i;
  }
}

TEST_F(BlockStepsOnGpu, work_is_counted_by_level_and_kept_per_longest_step) {
  constexpr int first_active = 7;
  const Particles host = random_particles(70001);
  const DeviceParticles device(host);
  const cuda::LevelWork found = cuda::remember(host.size(), first_active, step_fields(device));
  cuda::LevelWork expected{};
  const Particles after = device.download();
  for (std::size_t i = 0; i < host.size(); ++i) {
    const int level = host.level[i];
    if (level < first_active) {
      EXPECT_EQ(after.work[i], host.work[i]);
      EXPECT_EQ(after.old_acceleration[i], 0);
      continue;
    }
    ++expected.particles[static_cast<std::size_t>(level)];
    expected.interactions[static_cast<std::size_t>(level)] += host.work[i];
    EXPECT_EQ(after.work[i], work_per_cycle(host.work[i], level));
    EXPECT_FLOAT_EQ(after.old_acceleration[i], norm(host.acceleration[i]));
  }
  EXPECT_EQ(found.particles, expected.particles);
  EXPECT_EQ(found.interactions, expected.interactions);
}

/// What is left when blocks of a sphere that has moved were cut anew.
struct Recut {
  Particles particles;
  Count before, after;  ///< interactions of all
};
Recut recut(const Communicator& comm, std::size_t count) {
  ModelParameters model;
  model.model = "plummer";
  model.particles = static_cast<Count>(count);
  const auto backend = make_backend(comm, {"cuda", true, {}}, testing::share_of(comm, make_particles(model)),
                                    testing::gravity_of_active(0.5));
  PhaseTimers timers;
  DecompositionReport report;
  Domain domain = backend->decompose({.leaf_size = 64}, {}, report);
  backend->evaluate(domain, {}, timers);
  ForceReport forces;
  for (int step = 0; step < 4; ++step) {
    backend->drift({.factor = 0.05});
    forces = backend->evaluate(domain, {.grows = false}, timers);
  }
  Recut result;
  result.before = forces.interactions.cell + forces.interactions.particle;
  const Particles before = testing::shown(comm, *backend);
  EXPECT_GT(backend->due(domain, 0).excess, 0);
  EXPECT_FALSE(backend->rebuild(domain, 0, timers)) << "trees in blocks do not wait for the evaluation";
  const Particles moved = testing::shown(comm, *backend);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(moved.id[i], before.id[i]) << i;
    EXPECT_EQ(moved.position[i], before.position[i]) << i;
    EXPECT_EQ(moved.velocity[i], before.velocity[i]) << i;
    EXPECT_EQ(moved.old_acceleration[i], before.old_acceleration[i]) << i;
    EXPECT_EQ(moved.work[i], before.work[i]) << i;
  }
  forces = backend->evaluate(domain, {.grows = false}, timers);
  result.after = forces.interactions.cell + forces.interactions.particle;
  result.particles = testing::shown(comm, *backend);
  return result;
}

TEST_F(BlockStepsOnGpu, blocks_are_cut_anew_alike_on_any_number_of_ranks) {
  constexpr std::size_t count = 60000;  // in 938 leaves, so blocks have up to three
  const Recut one = recut(Communicator(MPI_COMM_SELF), count), all = recut(comm_, count);
  EXPECT_EQ(all.before, one.before);
  EXPECT_EQ(all.after, one.after);
  EXPECT_LT(one.after, one.before);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(all.particles.acceleration[i], one.particles.acceleration[i]) << i;
}

/// The state after a small merger has gone some way.
Particles evolved(const Communicator& comm, const std::string& more) {
  ModelParameters merger;
  merger.model = "merger";
  merger.particles = 6000;
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: merger}\n"
      "gravity: {softening: 0.02, " +
          more +
          "}\n"
          "time: {begin: 0, end: 0.2, step: 0.1, eta: 0.1}\n",
      "test", {});
  auto backend = make_backend(comm, {"cuda", true, {}}, testing::share_of(comm, make_particles(merger)),
                              parameters.gravity);
  Simulation simulation(comm, parameters, std::move(backend), 0);
  while (!simulation.is_done()) simulation.step();
  return testing::gathered_by_id(comm, simulation.particles());
}

TEST_F(BlockStepsOnGpu, end_in_the_same_state_on_any_number_of_ranks) {
  for (const char* tree : {"tree: bisection", "tree: octree", "direct_below: 10000"}) {
    SCOPED_TRACE(tree);
    const Particles expected = evolved(Communicator(MPI_COMM_SELF), tree), actual = evolved(comm_, tree);
    ASSERT_EQ(actual.size(), expected.size());
    for_each_field([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Value;
      EXPECT_EQ(std::memcmp((actual.*field.array).data(), (expected.*field.array).data(),
                            actual.size() * sizeof(T)),
                0)
          << field.info.name;
    });
  }
}

}  // namespace
}  // namespace grove
