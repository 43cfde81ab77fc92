#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gravity/totals.hpp"

namespace grove {
namespace {

Cell leaf_cells(std::int32_t first, std::int32_t count) {
  Cell cell{};
  cell.child = -1;
  cell.first_leaf = first;
  cell.leaves = count;
  return cell;
}

/// A lopsided tree: the left child of every inner cell has a quarter of the leaves. Breadth-first cells.
Domain lopsided_domain(std::int32_t leaves) {
  Domain domain;
  domain.cells.push_back(leaf_cells(0, leaves));
  for (std::size_t c = 0; c < domain.cells.size(); ++c) {
    const Cell cell = domain.cells[c];
    if (cell.leaves == 1) continue;
    const LeafNumber left = std::max(LeafNumber{1}, cell.leaves / 4);
    domain.cells[c].child = static_cast<std::int32_t>(domain.cells.size());
    domain.cells.push_back(leaf_cells(cell.first_leaf, left));
    domain.cells.push_back(leaf_cells(cell.first_leaf + left, cell.leaves - left));
  }
  domain.take_whole(std::move(domain.cells));
  return domain;
}

/// Particle i of leaf l is the same on any rank.
void fill_leaves(Domain& domain, Particles& particles) {
  domain.leaf_begin = {0};
  for (std::int32_t leaf = 0; leaf < domain.own.size(); ++leaf) {
    std::mt19937 random(static_cast<unsigned>(domain.own.leaf(leaf)));
    std::normal_distribution<double> normal;
    const std::size_t begin = particles.size(), count = 20 + random() % 20;
    particles.resize(begin + count);
    domain.leaf_begin.push_back(static_cast<Count>(begin + count));
    for (std::size_t i = begin; i < begin + count; ++i) {
      particles.position[i] = {normal(random), normal(random), normal(random)};
      particles.velocity[i] = {1e3 * normal(random), normal(random), 1e-3 * normal(random)};
      particles.mass[i] = std::exp(normal(random));
      particles.potential[i] = static_cast<float>(normal(random));
    }
  }
}

struct Case {
  Domain domain;
  Particles particles;
};

/// Ranks own so many leaves in turn; 0: one run each.
Case make_case(const Communicator& comm, std::int32_t leaves, std::int32_t in_turn = 0) {
  Case result{lopsided_domain(leaves), {}};
  if (in_turn == 0) in_turn = (leaves + comm.size() - 1) / comm.size();
  std::vector<LeafOwners::Run> runs;
  for (std::int32_t leaf = 0; leaf < leaves; leaf += in_turn)
    runs.push_back({leaf, leaf / in_turn % comm.size()});
  result.domain.give_out({runs, leaves, comm.size()}, comm);
  fill_leaves(result.domain, result.particles);
  return result;
}

constexpr ExternalPotential halo{
    .kind = PotentialKind::plummer, .centre = {1, 0, 0}, .strength = 3, .scale = 2};
constexpr ExternalField field{&halo, 1};

TEST(Totals, have_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const std::int32_t leaves : {1, 3, 29, 64})  // fewer leaves than ranks too
    for (const std::int32_t in_turn : {0, 1, 3}) {
      const Case shared = make_case(comm, leaves, in_turn), whole = make_case(alone, leaves);
      const Totals a = compute_totals(comm, shared.particles, shared.domain, field);
      const Totals b = compute_totals(alone, whole.particles, whole.domain, field);
      EXPECT_EQ(std::memcmp(&a, &b, sizeof(Totals)), 0) << leaves << " leaves, " << in_turn;
    }
}

TEST(Totals, are_the_sums_over_particles) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Case shared = make_case(comm, 29), whole = make_case(alone, 29);
  const Totals totals = compute_totals(comm, shared.particles, shared.domain, field);
  const Particles& p = whole.particles;
  Totals sum;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum.mass += p.mass[i];
    sum.kinetic_energy += p.mass[i] * dot(p.velocity[i], p.velocity[i]) / 2;
    sum.potential_energy += p.mass[i] * static_cast<double>(p.potential[i]) / 2;
    sum.external_energy -= p.mass[i] * 3 / std::sqrt(norm2(p.position[i] - halo.centre) + 4);
    sum.absolute_momentum += p.mass[i] * norm(p.velocity[i]);
    sum.momentum += p.mass[i] * p.velocity[i];
    sum.angular_momentum += p.mass[i] * cross(p.position[i], p.velocity[i]);
    sum.mass_moment += p.mass[i] * p.position[i];
  }
  // n = 29 * 40 additions of terms of one size: n 2^-53 of the sum of sizes is a generous bound on rounding.
  const double rounding = 29 * 40 * std::ldexp(1.0, -53);
  EXPECT_NEAR(totals.mass, sum.mass, rounding * sum.mass);
  EXPECT_NEAR(totals.kinetic_energy, sum.kinetic_energy, rounding * sum.kinetic_energy);
  EXPECT_NEAR(totals.potential_energy, sum.potential_energy, rounding * 5 * sum.mass);
  EXPECT_NEAR(totals.external_energy, sum.external_energy, rounding * -sum.external_energy);
  EXPECT_NEAR(totals.absolute_momentum, sum.absolute_momentum, rounding * sum.absolute_momentum);
  EXPECT_NEAR(norm(totals.momentum - sum.momentum), 0, rounding * sum.absolute_momentum);
  EXPECT_NEAR(norm(totals.angular_momentum - sum.angular_momentum), 0, rounding * 5 * sum.absolute_momentum);
  EXPECT_NEAR(norm(totals.mass_moment - sum.mass_moment), 0, rounding * 5 * sum.mass);
  EXPECT_EQ(totals.total_energy(), totals.kinetic_energy + totals.potential_energy + totals.external_energy);
}

}  // namespace
}  // namespace grove
