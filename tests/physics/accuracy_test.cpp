#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "decomposition/decompose.hpp"
#include "gravity/audit.hpp"
#include "run/start/initial_conditions.hpp"
#include "support/host_forces.hpp"

namespace grove {
namespace {

/// Decomposes and evaluates, as one step of a run does. domain (in/out): of the last call, of this one.
void evaluate(const Communicator& comm, HostForces& forces, Particles& particles, Domain& domain) {
  DecompositionParameters decomposition;
  decomposition.leaf_size = default_leaf_size(static_cast<Count>(particles.size()));
  DecompositionReport report;
  domain = decompose(comm, particles, decomposition, domain, report, &forces.records);
  forces.evaluate(domain);
}

/// Errors of the forces on a model's particles, after a first evaluation that gave them an acceleration.
AuditResult errors_of(const Communicator& comm, const std::string& model,
                      const GravityParameters& parameters) {
  Particles particles = make_initial_conditions(comm, {.model = model, .particles = 20000});
  HostForces forces(comm, parameters, particles);
  Domain domain;
  for (int pass = 0; pass < 2; ++pass) evaluate(comm, forces, particles, domain);
  return audit(comm, particles, domain, parameters, 4000);
}

class Accuracy : public testing::TestWithParam<const char*> {};

/// The promise of docs/measurements/accuracy.md: 99 % of the particles within 0.4 %.
TEST_P(Accuracy, ofTheDefaultParametersIsAsPromised) {
  const Communicator comm(MPI_COMM_SELF);
  GravityParameters parameters;
  parameters.softening.fill(0.02);
  const AuditResult errors = errors_of(comm, GetParam(), parameters);
  EXPECT_EQ(errors.sample, 4000);
  EXPECT_LE(errors.p99, 4e-3);
  // The tree approximates: rounding alone leaves sqrt(300) 6e-8 = 1e-6, were these the forces audited.
  EXPECT_GT(errors.median, 1e-5);
}

/// The error follows delta: it is what the parameter controls. A node's error is an eighth, nodes are at most
/// eight times as many and of random directions: 1/sqrt(8). 40 of 4000 particles lie beyond the percentile,
/// so it is known to 1/sqrt(40).
TEST(AccuracyOfADisk, improvesWithDelta) {
  const Communicator comm(MPI_COMM_SELF);
  GravityParameters parameters;
  parameters.softening.fill(0.02);
  const double p99 = errors_of(comm, "disk-galaxy", parameters).p99;
  parameters.delta /= 8;
  EXPECT_LT(errors_of(comm, "disk-galaxy", parameters).p99, p99 / std::sqrt(8) * (1 + 1 / std::sqrt(40)));
}

INSTANTIATE_TEST_SUITE_P(Models, Accuracy,
                         testing::Values("plummer", "hernquist", "nfw", "disk-galaxy", "merger"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace grove
