#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "backend/backend.hpp"
#include "base/hash.hpp"
#include "gravity/force_hash.hpp"
#include "support/gpu_ranks.hpp"

/// Whole steps on GPUs, through the interface that runs use.
namespace grove::testing {

/// A concentration in the middle of a wide, lopsided cloud; two types, unequal masses, some without mass;
/// those of one rank, dealt out in turn.
inline Particles make_cloud(const Communicator& comm, std::size_t count) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Particles own;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d direction{normal(random), normal(random) + 0.3, 0.5 * normal(random)};
    const Vec3d position = 3 * std::pow(uniform(random), 3) * direction;
    const double mass = i % 5 == 0 ? 0 : (0.5 + uniform(random)) / static_cast<double>(count);
    if (i % static_cast<std::size_t>(comm.size()) != static_cast<std::size_t>(comm.rank())) continue;
    const std::size_t last = own.size();
    own.resize(last + 1);
    own.position[last] = position;
    own.velocity[last] = 0.1 * direction;
    own.mass[last] = mass;
    own.id[last] = mixed(i);
    own.type[last] = static_cast<std::uint8_t>(i % 2);
    own.acceleration[last] = {};
    own.potential[last] = own.old_acceleration[last] = 0;
    own.work[last] = 0;
    own.rung[last] = 0;
  }
  return own;
}

inline GravityParameters gravity_of(Criterion criterion, Order order, SofteningKernel kernel) {
  GravityParameters gravity;
  gravity.gravitational_constant = 3;
  gravity.criterion = criterion;
  gravity.order = order;
  gravity.kernel = kernel;
  gravity.theta = 0.6;
  gravity.delta = criterion == Criterion::multipole ? 0.02 : 0.002;
  gravity.softening = {0.01, 0.1};
  return gravity;
}

inline GravityParameters octrees(GravityParameters gravity, Curve curve = Curve::hilbert) {
  gravity.tree = LocalTreeKind::octree;
  gravity.curve = curve;
  return gravity;
}

inline GravityParameters kd_trees(GravityParameters gravity, Count bucket = bucket_size) {
  gravity.tree = LocalTreeKind::kd;
  gravity.bucket = bucket;
  return gravity;
}

/// The state after a few steps.
struct Outcome {
  std::uint64_t forces_hash = 0;
  ForceReport report;
  Totals totals;
  AuditResult audit;
};

/// Evaluates, then makes steps of leapfrog with a new decomposition each. images: as the backend's gravity
/// has.
inline Outcome steps(const Communicator& comm, Backend& backend, Count leaf_size, int count,
                     const Images& images = {}) {
  DecompositionParameters parameters;
  parameters.leaf_size = leaf_size;
  parameters.period = images.edge;
  Outcome outcome;
  PhaseTimers timers;
  Domain domain;
  const auto evaluate = [&] {
    DecompositionReport report;
    if (!images.are_open()) backend.wrap(Box::periodic(images.edge));
    domain = backend.decompose(parameters, domain, report);
    outcome.report = backend.gravity().evaluate(domain, {.tunes_groups = true}, timers);
  };
  evaluate();
  evaluate();
  for (int i = 0; i < count; ++i) {
    Kick kick;
    std::fill_n(kick.factor.of, rung_count, 0.005);
    backend.kick(kick);
    backend.drift({.factor = 0.01}, nullptr);
    evaluate();
    backend.kick(kick);
  }
  backend.show(nullptr, [&](const Particles& p) { outcome.forces_hash = force_hash(comm, p); });
  outcome.totals = backend.totals(domain);
  outcome.audit = backend.audit(domain, 500);
  return outcome;
}

class GpuBackend : public GpuRanks {
 protected:
  /// On this rank alone.
  Outcome alone(std::size_t count, const GravityParameters& gravity, Count leaf_size, int number) {
    const Communicator self(MPI_COMM_SELF);
    const auto backend = make_backend(self, {"cuda", true, {}}, make_cloud(self, count), gravity);
    return steps(self, *backend, leaf_size, number, gravity.images);
  }
  Outcome together(std::size_t count, const GravityParameters& gravity, Count leaf_size, int number,
                   std::optional<PayloadPath> payload) {
    const auto backend = make_backend(comm_, {"cuda", true, payload}, make_cloud(comm_, count), gravity);
    return steps(comm_, *backend, leaf_size, number, gravity.images);
  }

  /// Two steps on all ranks as on one.
  void compare_with_one_rank(const GravityParameters& gravity, std::size_t count, Count leaf_size) {
    SCOPED_TRACE(std::to_string(static_cast<int>(gravity.criterion)) + ", " + std::to_string(count) +
                 " in leaves of " + std::to_string(leaf_size));
    const Outcome one = alone(count, gravity, leaf_size, 2);
    const Outcome all = together(count, gravity, leaf_size, 2, {});
    EXPECT_EQ(all.forces_hash, one.forces_hash);
    EXPECT_EQ(all.report.interactions.cell, one.report.interactions.cell);
    EXPECT_EQ(all.report.interactions.particle, one.report.interactions.particle);
    EXPECT_EQ(all.totals.total_energy(), one.totals.total_energy());
    EXPECT_EQ(all.audit.p99, one.audit.p99);
    EXPECT_EQ(all.report.let.nodes > 0, comm_.size() > 1 && static_cast<Count>(count) > leaf_size);
  }
};

}  // namespace grove::testing
