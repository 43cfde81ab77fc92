// The bodies of loops over particles and groups give on the device of this Kokkos (the host where it has
// none), on copies of the arrays there, what they give on the host.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/host/bisection.hpp"
#include "kernels/kokkos/particle_loops.hpp"
#include "kernels/math/leaf_bodies.hpp"
#include "support/device_views.hpp"

namespace grove {
namespace {

constexpr std::size_t particles = 1000, groups = (particles + group_size - 1) / group_size;

using test::copy;
using test::Device;
using test::fetch;

template <class Body>
void run_on_device(std::size_t count, const Body& body) {
  Kokkos::parallel_for("Grove::test::device", Kokkos::RangePolicy<Device>(0, count), body);
  Device().fence();
}

std::vector<Vec3d> random_vectors(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Vec3d> vectors(particles);
  for (Vec3d& v : vectors)
    for (int axis = 0; axis < 3; ++axis) v[axis] = uniform(random);
  return vectors;
}

std::vector<Vec3f> random_floats(unsigned seed) {
  std::vector<Vec3f> floats;
  for (const Vec3d& v : random_vectors(seed)) floats.push_back(v.as<float>());
  return floats;
}

/// Rungs 0 to 4.
std::vector<std::uint8_t> some_rungs() {
  std::vector<std::uint8_t> rung(particles);
  for (std::size_t i = 0; i < particles; ++i) rung[i] = static_cast<std::uint8_t>(i * 7 % 5);
  return rung;
}

// Sizes are below 8 after kicks of up to 6 times accelerations below 1, a compiler may fuse products with
// sums or not: a few roundings of 8 2^-52 each.
void expect_near(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LE(norm(a[i] - b[i]), 8 * 8 * std::ldexp(1., -52)) << i;
}

TEST(DeviceBodies, recordsAreTheHosts) {
  const std::vector<Vec3d> position = random_vectors(1), velocity = random_vectors(2);
  std::vector<Record> records(particles);
  const Box box = Box::around({-1, -1, -1}, {1, 1, 1});
  const auto at = copy(position);
  const auto by = copy(velocity);
  const auto made = copy(records);
  for (const double lead : {0.0, 0.25}) {  // a power of two, so that a compiler may fuse the product
    make_records(box, {position.data(), velocity.data(), lead}, particles, records.data(), 7);
    run_on_device(particles, RecordBody{box, 7, {at.data(), by.data(), lead}, made.data()});
    EXPECT_EQ(fetch(made), records);
  }
}

TEST(DeviceBodies, leapfrogIsTheHosts) {
  std::vector<Vec3d> position = random_vectors(2), velocity = random_vectors(3);
  const std::vector<Vec3f> acceleration = random_floats(4);
  const auto x = copy(position);
  const auto v = copy(velocity);
  const auto a = copy(acceleration);
  std::vector<std::uint8_t> rung = some_rungs();
  const std::vector<std::uint8_t> type(particles, 0);
  std::vector<std::uint32_t> work(particles, 1000);
  std::vector<Vec3f> previous = random_floats(5);
  const auto l = copy(rung);
  const auto w = copy(work);
  const auto p = copy(previous);
  const auto t = copy(type);
  const StepRule rule{.eta = 0.1, .longest = 1, .length = {0.5}, .deepest = 20};
  Kick kick{.first_active = 2, .factor = {}};
  Drift drift{.factor = 0.3, .has_lag = true, .lag = {}};
  Prediction to{.ahead = 0.1, .position = {}, .velocity = {}};
  for (int k = 0; k < rung_count; ++k)
    kick.factor.of[k] = 0.125 + k, drift.lag.of[k] = 0.01 * k, to.position.of[k] = 0.02 * k,
    to.velocity.of[k] = 0.03 * k;
  run(particles,
      ChooseRungBody{rule, 2, acceleration.data(), type.data(), rung.data(), work.data(), previous.data()});
  run(particles, KickBody{kick, rung.data(), acceleration.data(), velocity.data()});
  run(particles, DriftBody{drift, rung.data(), acceleration.data(), velocity.data(), position.data()});
  run(particles, PredictBody{to, rung.data(), acceleration.data(), position.data(), velocity.data()});
  run_on_device(particles, ChooseRungBody{rule, 2, a.data(), t.data(), l.data(), w.data(), p.data()});
  run_on_device(particles, KickBody{kick, l.data(), a.data(), v.data()});
  run_on_device(particles, DriftBody{drift, l.data(), a.data(), v.data(), x.data()});
  run_on_device(particles, PredictBody{to, l.data(), a.data(), x.data(), v.data()});
  EXPECT_EQ(fetch(l), rung);
  EXPECT_EQ(fetch(w), work);
  EXPECT_EQ(fetch(p), previous);
  expect_near(fetch(x), position);
  expect_near(fetch(v), velocity);
}

TEST(DeviceBodies, sourcesAndGroupsAreTheHosts) {
  const std::vector<Vec3d> position = random_vectors(5);
  const std::vector<double> mass(particles, 0.001);
  const std::vector<std::uint8_t> type(particles, 1);
  const std::vector<float> old(particles, 0.5F);
  const std::vector<std::uint8_t> rung = some_rungs();
  std::vector<SourceParticle> sources(particles);
  std::vector<float> softening(particles);
  std::vector<Group> made(groups);
  const auto x = copy(position);
  const auto m = copy(mass);
  const auto t = copy(type);
  const auto a = copy(old);
  std::vector<Vec3f> previous = random_floats(5);
  const auto l = copy(rung);
  const auto p = copy(previous);
  const auto eps = copy(softening);
  const auto s = copy(sources);
  const auto g = copy(made);
  SourceBody source{{0.5, 0, 0},     2, 1000, {}, position.data(), mass.data(), type.data(), sources.data(),
                    softening.data()};
  source.softening_of[1] = 0.25F;
  AcceptanceRule rule;
  rule.criterion = Criterion::acceleration;
  std::vector<GroupRun> runs;
  for (std::size_t first = 0; first < particles; first += group_size)
    runs.push_back({static_cast<std::int32_t>(first),
                    static_cast<std::int32_t>(std::min<std::size_t>(group_size, particles - first))});
  const auto r = copy(runs);
  GroupBody group{rule,       1,           runs.data(), sources.data(), softening.data(),
                  old.data(), rung.data(), 3,           made.data()};
  for (std::size_t i = 0; i < particles; ++i) source(i);
  for (std::size_t i = 0; i < groups; ++i) group(i);

  source.position = x.data(), source.mass = m.data(), source.type = t.data();
  source.sources = s.data(), source.softening = eps.data();
  group.sources = s.data(), group.softening = eps.data(), group.old_acceleration = a.data();
  group.runs = r.data(), group.rung = l.data(), group.groups = g.data();
  run_on_device(particles, source);
  run_on_device(groups, group);
  const std::vector<SourceParticle> device_sources = fetch(s);
  const std::vector<Group> device_groups = fetch(g);
  for (std::size_t i = 0; i < particles; ++i) {
    EXPECT_EQ(device_sources[i].position, sources[i].position) << i;
    EXPECT_EQ(device_sources[i].mass, sources[i].mass) << i;
  }
  for (std::size_t i = 0; i < groups; ++i) {
    EXPECT_EQ(device_groups[i].bounds.low, made[i].bounds.low) << i;
    EXPECT_EQ(device_groups[i].bounds.high, made[i].bounds.high) << i;
    EXPECT_FLOAT_EQ(device_groups[i].bounds.inverse_tolerance, made[i].bounds.inverse_tolerance) << i;
    EXPECT_EQ(device_groups[i].count, made[i].count) << i;
    EXPECT_EQ(device_groups[i].active, made[i].active) << i;
    for (std::int32_t k = 0; k < made[i].count; ++k)
      EXPECT_EQ(made[i].active >> k & 1U, rung[static_cast<std::size_t>(made[i].first + k)] >= 3) << i;
  }
}

}  // namespace
}  // namespace grove
