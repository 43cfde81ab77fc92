#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "base/activity.hpp"
#include "comm/communicator.hpp"
#include "comm/joint_reduction.hpp"
#include "gravity/force_hash.hpp"
#include "gravity/force_report.hpp"
#include "kernels/math/opening.hpp"
#include "let/let_keeping.hpp"
#include "particles/particles.hpp"
#include "support/periodic_boxes.hpp"
#include "support/shared_domain.hpp"

/// Steps of a hierarchy through trees that are kept, in which selections of trees for other ranks may be.
namespace grove::testing {

/// Clumps of stars, with rungs by their clump, that move as a whole and inside.
inline Particles make_clumps(std::size_t count = 2000) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  Particles particles;
  particles.reset(count);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double clump = static_cast<double>(i % 4), size = 0.1 * (1 + clump);
    particles.position[i] = {clump + size * normal(random), size * normal(random), size * normal(random)};
    particles.velocity[i] = {normal(random) + 2 * clump, normal(random) - 3, normal(random)};
    particles.mass[i] = 1.0 / static_cast<double>(count);
    particles.id[i] = i;
    particles.rung[i] = static_cast<std::uint8_t>(3 - i % 4);
  }
  return particles;
}

/// In leaves of 128. domain_cell: as for share_out(), of rule `domains` if there are any.
inline SharedDomain share_clumps(const Communicator& comm, const Particles& clumps, Count domain_cell) {
  return share_out(comm, clumps, 128, {}, domain_cell > 0 ? CutRule::domains : CutRule::middle, domain_cell);
}

/// The rungs that steps begin with, in the order of block steps.
inline constexpr int ruler[] = {0, 3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3, 0};

inline constexpr LetKeeping::Rule never{0, 1000}, always{0.125F, 1}, too_little{-0.5F, 1};

struct Outcome {
  std::vector<std::uint64_t> hashes;  ///< of all forces, after each step
  std::vector<Count> interactions;
  std::vector<int> closed;  ///< how often a step was closed for good
  LetKeeping::Counts exchanges;
  std::uint64_t most_messages = 0, most_collectives = 0;  ///< of the steps in which values alone travelled
};

/// A step of the particles from a rung on, after all have drifted. renews: trees, for these particles.
/// Forces: on particles that it keeps, with evaluate(domain, plan), drift(factor), particles(), and keeping()
/// of the exchange of trees.
template <class Forces>
void step(const Communicator& comm, const Domain& domain, Forces& forces, double drift, int rung, bool renews,
          Outcome& outcome) {
  forces.drift(drift);
  int closed = 0;
  Count together = 0;
  const auto closes = [&](JointReduction& joint, bool is_there) {
    closed += is_there ? 1 : 0;
    together = is_there ? 1 : 0;
    joint.sum(together);
  };
  const int kept = forces.keeping().counts().kept;
  const Activity before = activity();
  const ForceReport report =
      forces.evaluate(domain, {.grows = false,
                               .renewed_from = renews ? std::optional(rung) : std::nullopt,
                               .first_active = rung,
                               .closes = closes});
  const Activity made = activity() - before;
  if (forces.keeping().counts().kept > kept && rung > 0) {
    outcome.most_messages = std::max(outcome.most_messages, made.messages);
    outcome.most_collectives = std::max(outcome.most_collectives, made.collectives);
  }
  EXPECT_EQ(together, comm.size());
  outcome.closed.push_back(closed);
  const Particles& particles = forces.particles();
  outcome.hashes.push_back(force_hash(comm, particles));
  outcome.interactions.push_back(report.interactions.cell + report.interactions.particle);
  for (const std::uint32_t work : particles.work) EXPECT_GT(work, 0U);
}

/// Twice new trees and the steps of the ruler. domain: of clumps, whose particles the forces have. renewing:
/// the rung whose steps renew trees of active leaves; less than 0: none.
template <class Forces>
Outcome evolve(const Communicator& comm, const Domain& domain, Forces& forces, double drift,
               LetKeeping::Rule keeping, int renewing = -1) {
  forces.keeping().set_rule(keeping);
  Outcome outcome;
  for (int trees = 0; trees < 2; ++trees) {
    forces.evaluate(domain, {});
    for (const int rung : ruler) step(comm, domain, forces, drift, rung, rung == renewing, outcome);
  }
  outcome.exchanges = forces.keeping().counts();
  return outcome;
}

inline GravityParameters kept_lets_parameters(Criterion criterion, WalkKind walk) {
  GravityParameters parameters;
  parameters.criterion = criterion;
  parameters.order = needs_boxes(criterion) ? Order::monopole : Order::quadrupole;
  parameters.delta = 0.002;
  parameters.theta = 0.7;
  parameters.walk = walk;
  parameters.softening.fill(0.01);
  return parameters;
}

/// A box with half of its particles on rung 1. All have a speed of its edge in a unit of time.
inline Particles make_box_with_rungs() {
  Particles particles = clustered_box(3000);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto phase = static_cast<double>(particles.id[i] % 1000);
    particles.velocity[i] = Vec3d{std::sin(phase), std::cos(phase), 0} * box_edge;
    particles.rung[i] = particles.id[i] % 2;
  }
  return particles;
}

/// Steps of rung 1 of that box. In turn two are taken for steps of many particles, so that far cells act, and
/// two for steps of few, so that none do. domain: of the box, whose particles the forces have.
template <class Forces>
Outcome evolve_far_cells(const Communicator& comm, const Domain& domain, Forces& forces) {
  forces.keeping().set_rule(always);
  Outcome outcome;
  const auto walk = [&](Count active) {
    forces.evaluate(domain, {.grows = false, .first_active = 1, .active = active});
    outcome.hashes.push_back(force_hash(comm, forces.particles()));
  };
  for (int i = 0; i < 3; ++i) forces.evaluate(domain, {});
  for (int number = 0; number < 12; ++number) {
    forces.drift(1e-4);
    walk(number % 4 < 2 ? 1500 : 1);
  }
  walk(1500);
  outcome.exchanges = forces.keeping().counts();
  return outcome;
}

inline void expect_right_far_cells(const Communicator& comm, const Outcome& outcome,
                                   const Outcome& expected) {
  EXPECT_EQ(outcome.hashes, expected.hashes);
  EXPECT_GT(outcome.exchanges.kept, comm.size() > 1 ? 0 : -1);
  EXPECT_NE(expected.hashes[11], expected.hashes[12]) << "the same places, but for far cells";
}

/// The outcome is what one rank computes, which exchanges nothing.
inline void expect_right(const Outcome& outcome, const Outcome& expected) {
  EXPECT_EQ(outcome.hashes, expected.hashes);
  EXPECT_EQ(outcome.interactions, expected.interactions);
  EXPECT_EQ(outcome.closed, std::vector<int>(2 * std::size(ruler), 1)) << "each step ends once";
}

}  // namespace grove::testing
