// External potentials on GPUs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backend/host_backend.hpp"
#include "physics/run_fixture.hpp"
#include "support/active_checks.hpp"
#include "support/external_potentials.hpp"
#include "support/gpu_ranks.hpp"

namespace grove {
namespace {

/// Particles of four rungs.
Particles scattered(std::size_t count, double mass) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Particles p = testing::blank_particles(count);
  for (std::size_t i = 0; i < count; ++i) {
    p.position[i] = {normal(random), normal(random), normal(random)};
    p.mass[i] = mass;
    p.rung[i] = static_cast<std::uint8_t>(i % 4);
  }
  return p;
}

std::vector<ExternalPotential> all_kinds() {
  const Parameters parameters = parse_parameters(
      "units: {system: none}\ninitial_conditions: {model: plummer}\ngravity: {softening: 0.1}\n"
      "time: {end: 1, step: 1}\n" +
          std::string(testing::external_potentials_of_all_kinds),
      "test", {});
  return external_potentials(parameters.potentials, 1);
}

/// A backend that has evaluated forces on all once, and again on rungs from 2 on.
struct Evaluated {
  Evaluated(const Communicator& comm, std::unique_ptr<Backend> of) : backend(std::move(of)) {
    backend->gravity().set_external(all_kinds());
    DecompositionReport report;
    domain = backend->decompose({}, {}, report);
    PhaseTimers timers;
    backend->gravity().evaluate(domain, {}, timers);
    backend->gravity().evaluate(domain, {.grows = false}, timers);
    first = testing::shown(comm, *backend);
    totals = backend->totals(domain);
    backend->gravity().evaluate(domain, {.grows = false, .first_active = 2}, timers);
    second = testing::shown(comm, *backend);
  }
  std::unique_ptr<Backend> backend;
  Domain domain;
  Particles first, second;
  Totals totals;
};

class ExternalOnGpu : public testing::GpuRanks {
 protected:
  Evaluated on_gpu(const GravityParameters& gravity, double mass) const {
    return {comm_, make_backend(comm_, {"cuda", true, {}}, testing::share_of(comm_, scattered(5003, mass)),
                                gravity)};
  }
  Evaluated on_host(const GravityParameters& gravity, double mass) const {
    return {comm_,
            std::make_unique<HostBackend>(comm_, testing::share_of(comm_, scattered(5003, mass)), gravity)};
  }
  static GravityParameters gravity() {
    GravityParameters result;
    result.softening.fill(0.1);
    return result;
  }
};

/// Both compute in double precision, to some 2^-50 of the sizes of the seven terms, below 10 each; a
/// component that then lies between two numbers of single precision may be rounded to either.
TEST_F(ExternalOnGpu, act_on_massless_particles_as_on_the_host) {
  const Evaluated found = on_gpu(gravity(), 0), expected = on_host(gravity(), 0);
  for (std::size_t i = 0; i < expected.first.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const float a = expected.first.acceleration[i][axis];
      ASSERT_NEAR(found.first.acceleration[i][axis], a, std::ldexp(std::abs(a), -23) + 1e-13) << i;
    }
  for (std::size_t i = 0; i < expected.second.size(); ++i)  // nothing has moved
    ASSERT_EQ(found.second.acceleration[i], found.first.acceleration[i]) << i;
}

/// Sums of 5003 terms in another order, 2^-53 of each: 1e-12 of their sizes.
TEST_F(ExternalOnGpu, have_the_energy_that_they_have_on_the_host) {
  const double found = on_gpu(gravity(), 1e-3).totals.external_energy,
               expected = on_host(gravity(), 1e-3).totals.external_energy;
  EXPECT_LT(expected, -1);
  EXPECT_NEAR(found, expected, 1e-11);
}

/// A particle's share of them is most of what acts on it, so an audit without them would find errors of 1.
TEST_F(ExternalOnGpu, are_part_of_what_an_audit_expects) {
  const Evaluated found = on_gpu(gravity(), 1e-4);
  EXPECT_LT(found.backend->audit(found.domain, 500).max, 0.05);
}

}  // namespace
}  // namespace grove
