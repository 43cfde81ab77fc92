#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/hash.hpp"
#include "gravity/audit.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

constexpr std::size_t count = 400;

GravityParameters parameters() {
  GravityParameters result;
  result.gravitational_constant = 2;
  result.kernel = SofteningKernel::plummer;
  result.softening = {0.05, 0.2};
  return result;
}

/// Particles of two types, with the exact acceleration, rounded to single precision.
Particles make_exact() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Particles p;
  p.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    p.position[i] = {normal(random), normal(random), normal(random)};
    p.mass[i] = 1 + 0.5 * std::sin(static_cast<double>(i));
    p.id[i] = 5 * i;
    p.type[i] = static_cast<std::uint8_t>(i % 2);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Vec3d sum{};
    for (std::size_t j = 0; j < count; ++j) {
      const Vec3d d = p.position[j] - p.position[i];
      const double eps = std::max(parameters().softening[p.type[i]], parameters().softening[p.type[j]]);
      sum += (2 * p.mass[j] * std::pow(norm2(d) + eps * eps, -1.5)) * d;
    }
    p.acceleration[i] = sum.as<float>();
  }
  return p;
}

/// Index of the particle whose id has the smallest hash: it is in every sample.
std::size_t always_sampled(const Particles& p) {
  return static_cast<std::size_t>(
      std::min_element(p.id.begin(), p.id.end(),
                       [](ParticleId a, ParticleId b) { return mixed(a) < mixed(b); }) -
      p.id.begin());
}

TEST(Audit, finds_no_error_in_exact_forces) {
  const Communicator comm(MPI_COMM_WORLD);
  const SharedDomain shared = share_out(comm, make_exact(), 64);
  const AuditResult result = audit(comm, shared.particles, shared.domain, parameters(), 1000);
  EXPECT_EQ(result.sample, static_cast<Count>(count));  // there are no more
  // Each component is rounded by 2^-24 of itself.
  EXPECT_LE(result.max, 1.01 * std::ldexp(1.0, -24));
  EXPECT_GT(result.max, 0);
}

TEST(Audit, finds_an_injected_error) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = make_exact();
  const std::size_t wrong = always_sampled(all);
  all.acceleration[wrong] *= 1.01f;
  for (const Count sample : {1, 10, 150}) {
    const SharedDomain shared = share_out(comm, all, 64);
    const AuditResult result = audit(comm, shared.particles, shared.domain, parameters(), sample);
    EXPECT_EQ(result.sample, sample);
    // 1.01, its product and the forces are rounded by 2^-24 each.
    const double rounding = 3.1 * std::ldexp(1.0, -24);
    EXPECT_NEAR(result.max, 0.01, rounding);
    // One of 100 or more is not in the 99th percentile, nor is one of three or more the median.
    EXPECT_NEAR(result.p99, sample >= 100 ? 0 : 0.01, rounding);
    EXPECT_NEAR(result.median, sample > 2 ? 0 : 0.01, rounding);
  }
}

TEST(Audit, counts_external_potentials_among_what_is_exact) {
  const Communicator comm(MPI_COMM_WORLD);
  const ExternalPotential down{.kind = PotentialKind::uniform, .centre = {}, .acceleration = {0, 0, -1e4}};
  const ExternalField field{&down, 1};
  Particles all = make_exact();
  for (Vec3f& a : all.acceleration) a = field.added(a, {});
  const SharedDomain shared = share_out(comm, all, 64);
  const auto largest = [&](const ExternalField& given) {
    return audit(comm, shared.particles, shared.domain, parameters(), count, given).max;
  };
  // Rounded twice, by 2^-24 each.
  EXPECT_LE(largest(field), 2.02 * std::ldexp(1.0, -24));
  EXPECT_GT(largest({}), 1);
}

TEST(Audit, takes_its_sample_from_active_particles) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = make_exact();
  for (std::size_t i = 0; i < count; ++i) all.rung[i] = static_cast<std::uint8_t>((i + 3) % 4);
  const std::size_t wrong = always_sampled(all);
  all.acceleration[wrong] *= 1.01f;
  const SharedDomain shared = share_out(comm, all, 64);
  const auto largest = [&](int first_active) {
    const AuditResult result =
        audit(comm, shared.particles, shared.domain, parameters(), 100, {}, first_active);
    EXPECT_EQ(result.sample, 100);  // as many are on each rung
    return result.max;
  };
  const int rung = all.rung[wrong];
  ASSERT_LT(rung, 3);
  EXPECT_GT(largest(rung), 0.009);
  EXPECT_LT(largest(rung + 1), 1e-6) << "its acceleration is of an earlier time";
}

TEST(Audit, has_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Particles all = make_exact();
  const SharedDomain shared = share_out(comm, all, 64), whole = share_out(alone, all, 64);
  // Which leaf a rank holds must not matter, but the order inside a leaf does: both are in tree order.
  const auto by_id = [](const SharedDomain& s) {
    SharedDomain sorted{s.domain, s.particles};
    std::vector<std::uint32_t> order(s.particles.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    for (std::size_t leaf = 0; leaf + 1 < s.domain.leaf_begin.size(); ++leaf)
      std::sort(order.begin() + s.domain.leaf_begin[leaf], order.begin() + s.domain.leaf_begin[leaf + 1],
                [&](std::uint32_t a, std::uint32_t b) { return s.particles.id[a] < s.particles.id[b]; });
    sorted.particles.reorder(order);
    return sorted;
  };
  const SharedDomain a = by_id(shared), b = by_id(whole);
  const AuditResult on_all = audit(comm, a.particles, a.domain, parameters(), 100);
  const AuditResult on_one = audit(alone, b.particles, b.domain, parameters(), 100);
  EXPECT_EQ(on_all, on_one);
  EXPECT_EQ(on_all.errors.size(), 100);
}

}  // namespace
}  // namespace grove
