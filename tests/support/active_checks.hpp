#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"

namespace grove::testing {

using MakeBackend = std::function<std::unique_ptr<Backend>(const Communicator&, Particles)>;

inline Particles shown(const Communicator& comm, Backend& backend) {
  Particles all;
  backend.show(nullptr, [&](const Particles& own) { all = gathered_by_id(comm, own); });
  return all;
}

/// Forces on active particles, in the old trees, after all have moved: those that all particles get in new
/// trees, within `tolerance` of the largest |a|; and nothing happens to the others. particles: of all ranks;
/// they get rungs by turns.
inline void check_active(const Communicator& comm, Particles particles, const MakeBackend& make,
                         double tolerance) {
  constexpr int first_active = 2;
  for (std::size_t i = 0; i < particles.size(); ++i)  // every 32 in tree order have some of each; or none
    particles.rung[i] = static_cast<std::uint8_t>(norm(particles.position[i]) < 0.7 ? i % 4 : 0);
  const auto backend = make(comm, share_of(comm, particles));
  PhaseTimers timers;
  DecompositionReport report;
  const Domain domain = backend->decompose({.leaf_size = 256}, {}, report);
  backend->gravity().evaluate(domain, {}, timers);
  backend->gravity().evaluate(domain, {.grows = false}, timers);
  const Particles before = shown(comm, *backend);
  backend->drift({.factor = 0.02}, nullptr);
  const ForceReport some =
      backend->gravity().evaluate(domain, {.grows = false, .first_active = first_active}, timers);
  const Particles after = shown(comm, *backend);
  backend->gravity().evaluate(domain, {.grows = true}, timers);
  const Particles expected = shown(comm, *backend);

  double largest = 0;
  for (const Vec3f& a : expected.acceleration) largest = std::max(largest, norm(a.as<double>()));
  Count active = 0, work = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before.rung[i] < first_active) {
      EXPECT_EQ(after.acceleration[i], before.acceleration[i]) << i;
      EXPECT_EQ(after.potential[i], before.potential[i]) << i;
      EXPECT_EQ(after.work[i], before.work[i]) << i;
      EXPECT_EQ(after.old_acceleration[i], before.old_acceleration[i]) << i;
      continue;
    }
    ++active;
    work += after.work[i] >> after.rung[i];
    EXPECT_LT(norm((after.acceleration[i] - expected.acceleration[i]).as<double>()), tolerance * largest)
        << i;
    EXPECT_NEAR(after.potential[i], expected.potential[i], tolerance * std::abs(expected.potential[i])) << i;
    EXPECT_EQ(after.old_acceleration[i], static_cast<float>(norm(after.acceleration[i].as<double>()))) << i;
    EXPECT_NE(after.acceleration[i], before.acceleration[i]) << i;
  }
  EXPECT_EQ(some.active, active);
  EXPECT_EQ(some.interactions.cell + some.interactions.particle, work);
  EXPECT_EQ(some.work[2] + some.work[3], work);
  EXPECT_EQ(some.work[0] + some.work[1], 0);
}

/// A criterion that depends on places alone.
inline GravityParameters gravity_of_active(double theta) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_radius;
  gravity.theta = theta;
  gravity.softening.fill(0.02);
  return gravity;
}

/// A Plummer sphere whose particles move.
inline Particles sphere_of_active() {
  ModelParameters model;
  model.model = "plummer";
  model.particles = 3000;
  return make_particles(model);
}

/// With all nodes opened only rounding is left: sums of 3000 pulls, in another order, whose sizes add up to
/// less than three times the largest |a| (in the middle of the sphere they cancel), err by less than 3000 x
/// 2^-24 x 3 = 5e-4 of it.
inline constexpr double rounding_of_active = 5e-4;
/// With theta = 0.3 quadrupoles err by theta^3 / 2 = 1.4 % of what cells do at most, and by a third of that
/// in the sum of hundreds of them.
inline constexpr double error_of_active = 5e-3;

/// All of the above through trees, opened wholly and not.
inline void check_active_through_trees(
    const Communicator& comm, const GravityParameters& kind,
    const std::function<std::unique_ptr<Backend>(const Communicator&, Particles, const GravityParameters&)>&
        make) {
  for (const double theta : {0.0, 0.3}) {
    SCOPED_TRACE(theta);
    GravityParameters gravity = gravity_of_active(theta);
    gravity.tree = kind.tree;
    gravity.walk = kind.walk;
    gravity.direct_below = kind.direct_below;
    check_active(
        comm, sphere_of_active(),
        [&](const Communicator& ranks, Particles own) { return make(ranks, std::move(own), gravity); },
        theta == 0 ? rounding_of_active : error_of_active);
  }
}

}  // namespace grove::testing
