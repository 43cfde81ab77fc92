// Block time steps on GPUs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "decomposition/known_cells.hpp"
#include "particles/gpu/device_particles.hpp"
#include "run/simulation.hpp"
#include "support/active_checks.hpp"
#include "support/gpu_ranks.hpp"
#include "time/leapfrog.hpp"

namespace grove {
namespace {

class BlockStepsOnGpu : public testing::GpuRanks {
 protected:
  void check(const GravityParameters& kind, int targets_per_warp = 32) const {
    testing::check_active_through_trees(
        comm_, kind, [&](const Communicator& ranks, Particles own, const GravityParameters& gravity) {
          return make_backend(ranks, {"cuda", true, {}, targets_per_warp}, std::move(own), gravity);
        });
  }
};

TEST_F(BlockStepsOnGpu, active_particles_get_the_forces_that_all_would) {
  check({});
  check({}, 64);
  GravityParameters kind;
  kind.tree = LocalTreeKind::octree;
  check(kind);
  kind.tree = LocalTreeKind::kd;
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
    p.mass[i] = 1, p.id[i] = i + 1, p.potential[i] = uniform(random), p.old_acceleration[i] = 0;
    p.type[i] = static_cast<std::uint8_t>(i % 2);
    p.work[i] = static_cast<std::uint32_t>(random());
    p.rung[i] = static_cast<std::uint8_t>(random() % 12);
  }
  return p;
}

/// The same, but for runs of various lengths that are on the same rung.
Particles random_particles_in_runs(std::size_t count) {
  Particles p = random_particles(count);
  std::mt19937 random(6);
  for (std::size_t begin = 0, end; begin < count; begin = end) {
    const std::size_t most = std::size_t{1} << random() % 13;
    end = std::min<std::size_t>(begin + 1 + random() % most, count);
    std::fill(p.rung.begin() + static_cast<std::ptrdiff_t>(begin),
              p.rung.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::uint8_t>(random() % 12));
  }
  if (count > 1000) p.rung[count / 2] = deepest_rung;
  return p;
}

void check_steps(Particles host, int first_active) {
  const DeviceParticles device(host);
  const cuda::StepFields fields = step_fields(device);
  const StepRule rule{.eta = 0.1, .longest = 0.5, .length = {0.1, 0.5}, .deepest = 20};
  Kick kick{.first_active = first_active};
  Drift drift{.factor = 0.3, .has_lag = true};
  for (int k = 0; k < rung_count; ++k) kick.factor.of[k] = 0.01 * k, drift.lag.of[k] = 0.001 * k;

  EXPECT_EQ(cuda::choose_rungs(host.size(), rule, first_active, fields),
            choose_rungs(host, rule, first_active));
  cuda::kick(host.size(), kick, fields);
  cuda::drift(host.size(), drift, fields);
  grove::kick(host, kick);
  grove::drift(host, drift);
  const Particles there = device.download();
  EXPECT_EQ(std::memcmp(there.rung.data(), host.rung.data(), host.size()), 0);
  EXPECT_EQ(there.work, host.work) << "follows the rung";
  EXPECT_EQ(there.previous_acceleration, host.previous_acceleration);
  for (std::size_t i = 0; i < host.size(); ++i) {
    // Products and sums may be fused on one side: a few roundings of 2^-52 of accelerations up to 2000 times
    // factors below 0.4.
    ASSERT_LT(norm(there.velocity[i] - host.velocity[i]), 1e-12) << i;
    ASSERT_LT(norm(there.position[i] - host.position[i]), 1e-12) << i;
  }
}

TEST_F(BlockStepsOnGpu, rungs_kicks_and_drifts_are_the_hosts) { check_steps(random_particles(100003), 4); }

TEST_F(BlockStepsOnGpu, rungs_kicks_and_drifts_pass_over_runs_of_which_nobody_is_active) {
  for (const int first_active : {0, 1, 8, 11, 12, deepest_rung})
    check_steps(random_particles_in_runs(100003), first_active);
  for (const std::size_t count : {1, 3, 4, 5, 31, 32, 33, 127, 128, 129})
    check_steps(random_particles_in_runs(count), 6);
}

void check_counts(Particles host, int first_active) {
  const auto active =
      std::find_if(host.rung.begin(), host.rung.end(), [&](int rung) { return rung >= first_active; });
  const bool is_any = active != host.rung.end();
  if (is_any)
    host.acceleration[static_cast<std::size_t>(active - host.rung.begin())].y =
        std::numeric_limits<float>::infinity();
  const DeviceParticles device(host);
  cuda::RungWork found;
  cuda::remember(host.size(), first_active, step_fields(device)).download(std::span(&found, 1));
  cuda::RungWork expected{};
  const Particles after = device.download();
  for (std::size_t i = 0; i < host.size(); ++i) {
    const int rung = host.rung[i];
    if (rung < first_active) {
      EXPECT_EQ(after.work[i], host.work[i]);
      EXPECT_EQ(after.old_acceleration[i], 0);
      continue;
    }
    ++expected.particles[static_cast<std::size_t>(rung)];
    expected.interactions[static_cast<std::size_t>(rung)] += host.work[i];
    EXPECT_EQ(after.work[i], work_per_cycle(host.work[i], rung));
    EXPECT_FLOAT_EQ(after.old_acceleration[i], norm(host.acceleration[i]));
  }
  EXPECT_EQ(found.particles, expected.particles);
  EXPECT_EQ(found.interactions, expected.interactions);
  EXPECT_EQ(found.not_finite, is_any ? 1 : 0);
}

TEST_F(BlockStepsOnGpu, work_is_counted_by_rung_and_kept_per_longest_step) {
  check_counts(random_particles(70001), 7);
  for (const int first_active : {0, 10, 12, deepest_rung})
    check_counts(random_particles_in_runs(70001), first_active);
  for (const std::size_t count : {1, 3, 4, 5, 31, 32, 33, 127, 128, 129})
    check_counts(random_particles_in_runs(count), 6);
}

TEST_F(BlockStepsOnGpu, active_particles_alone_have_their_work_set_and_no_forces) {
  constexpr int first_active = 9;
  Particles expected = random_particles_in_runs(50001);
  const DeviceParticles device(expected);
  cuda::set_no_forces(device.size(), first_active, device.values(fields::rung),
                      device.values(fields::acceleration), device.values(fields::potential),
                      device.values(fields::work));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected.rung[i] >= first_active)
      expected.acceleration[i] = {0, 0, 0}, expected.potential[i] = 0, expected.work[i] = 0;
  Particles there = device.download();
  EXPECT_EQ(there.acceleration, expected.acceleration);
  EXPECT_EQ(there.potential, expected.potential);
  EXPECT_EQ(there.work, expected.work);

  cuda::set_work(device.values(fields::rung), device.size(), first_active + 1, 7,
                 device.values(fields::work));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected.rung[i] > first_active) expected.work[i] = 7;
  EXPECT_EQ(device.download().work, expected.work);
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
  for (const char* tree : {"tree: bisection", "tree: octree", "tree: octree, criterion: opening_cell",
                           "tree: kd", "direct_below: 10000"}) {
    SCOPED_TRACE(tree);
    const Particles expected = evolved(Communicator(MPI_COMM_SELF), tree), actual = evolved(comm_, tree);
    testing::expect_same(actual, expected);
  }
}

}  // namespace
}  // namespace grove
