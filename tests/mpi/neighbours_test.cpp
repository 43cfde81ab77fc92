#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "neighbours/neighbours.hpp"
#include "support/neighbour_clouds.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::Cloud;
using test::period_nearest;
using test::place_in;
using test::Shared;
using test::uniform;

double radius_of(Cloud cloud, std::uint64_t i) {
  switch (cloud) {
    case Cloud::random:
      return 0.02 + 0.06 * uniform(31 * i + 5);
    case Cloud::clustered:
      return i % 2 == 0 ? 0.05 : 1e-5 * std::exp(4 * uniform(31 * i + 5));
    case Cloud::coincident:
      return i % 3 == 0 ? 0 : 0.05;
    case Cloud::lattice:
      return i % 4 == 0 ? -1 : 0.05 * (1 + i % 3);  // a quarter of them takes no part
  }
  return 0;
}

Array<double> reach_of(const Shared& shared, Cloud cloud) {
  Array<double> radii(shared.particles.size());
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = radius_of(cloud, shared.particles.id[i]);
  return radii;
}

constexpr std::uint64_t count = 10000;

/// The particles of all ranks in order of their numbers, which are their ids.
struct All {
  std::vector<Vec3d> position;
  std::vector<double> reach;
  explicit All(Cloud cloud) {
    for (std::uint64_t i = 0; i < count; ++i)
      position.push_back(place_in(cloud, i)), reach.push_back(radius_of(cloud, i));
  }
};

/// Sums over a set of neighbours that do not depend on their order.
struct Found {
  std::uint64_t number = 0, hash = 0;
  void add(std::uint64_t id) { ++number, hash += mixed(id + 1); }
  friend bool operator==(const Found&, const Found&) = default;
};

Found by_brute_force(const All& all, std::uint64_t i, NeighbourSearch kind, double period) {
  Found found;
  if (all.reach[i] < 0) return found;
  for (std::uint64_t j = 0; j < count; ++j) {
    if (j == i || all.reach[j] < 0) continue;
    double h = all.reach[i];
    if (kind == NeighbourSearch::symmetric) h = std::max(h, all.reach[j]);
    const Vec3d d = all.position[j] - all.position[i];
    const double x = period_nearest(d.x, period);
    if (x * x > h * h) continue;
    const double y = period_nearest(d.y, period), z = period_nearest(d.z, period);
    if (std::fma(z, z, std::fma(y, y, x * x)) < h * h) found.add(j);
  }
  return found;
}

/// Finds the set, and a sum whose bits depend on the order.
struct CollectIds {
  struct Sum {
    Found found;
    double ordered = 0;
  };
  const ParticleId* id;
  Sum* out;

  void particle(Sum& sum, const NeighbourPair& pair) const {
    sum.found.add(id[pair.source]);
    sum.ordered += std::sqrt(pair.r2 + 1e-3) * (1 + uniform(id[pair.source]));
  }
  void finish(std::uint32_t target, const Sum& sum) const { out[target] = sum; }
};

struct NeighbourVariant {
  Cloud cloud;
  NeighbourSearch kind;
  double period;
};
class NeighbourSets : public testing::TestWithParam<NeighbourVariant> {
 protected:
  /// The sums of this rank's particles, by id.
  static std::vector<CollectIds::Sum> collect(const Communicator& comm, const NeighbourVariant& variant,
                                              bool singly) {
    const Shared shared(comm, variant.cloud, count);
    Neighbours neighbours(comm, shared.domain, shared.forest.shapes(), Images{variant.period});
    neighbours.search(shared.particles.position, reach_of(shared, variant.cloud), variant.kind);
    const Array<ParticleId> id = neighbours.share(std::span<const ParticleId>(shared.particles.id));
    std::vector<CollectIds::Sum> sums(shared.particles.size()), by_id(count);
    const CollectIds visitor{id.data(), sums.data()};
    singly ? neighbours.walk_singly(visitor) : neighbours.walk(visitor);
    for (std::size_t i = 0; i < sums.size(); ++i) by_id[shared.particles.id[i]] = sums[i];
    std::vector<std::uint64_t> numbers, hashes;  // each particle is on one rank, all others have 0
    std::vector<double> ordered;
    for (const CollectIds::Sum& sum : by_id) {
      numbers.push_back(sum.found.number);
      hashes.push_back(sum.found.hash);
      ordered.push_back(sum.ordered);
    }
    comm.sum(std::span<std::uint64_t>(numbers));
    comm.sum(std::span<std::uint64_t>(hashes));
    comm.max(std::span<double>(ordered));
    for (std::uint64_t i = 0; i < count; ++i) by_id[i] = {{numbers[i], hashes[i]}, ordered[i]};
    return by_id;
  }
};

TEST_P(NeighbourSets, are_those_of_brute_force_and_sums_have_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const NeighbourVariant variant = GetParam();
  const auto sums = collect(comm, variant, false), on_one = collect(alone, variant, false),
             singly = collect(comm, variant, true);
  const All all(variant.cloud);
  std::uint64_t pairs = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(sums[i].ordered, on_one[i].ordered) << i;
    ASSERT_EQ(sums[i].ordered, singly[i].ordered) << i;
    ASSERT_EQ(sums[i].found, on_one[i].found) << i;
    pairs += sums[i].found.number;
    const std::uint64_t stride = 3 * static_cast<std::uint64_t>(comm.size());  // a third of all, to save time
    if (i % stride != static_cast<std::uint64_t>(comm.rank())) continue;
    ASSERT_EQ(sums[i].found, by_brute_force(all, i, variant.kind, variant.period)) << i;
  }
  EXPECT_GT(pairs, count) << "there is something to find";
}

std::vector<NeighbourVariant> neighbour_variants() {
  std::vector<NeighbourVariant> variants;
  for (const Cloud cloud : {Cloud::random, Cloud::clustered, Cloud::coincident, Cloud::lattice})
    for (const NeighbourSearch kind : {NeighbourSearch::gather, NeighbourSearch::symmetric})
      for (const double period : {0.0, 1.0}) variants.push_back({cloud, kind, period});
  return variants;
}
INSTANTIATE_TEST_SUITE_P(All, NeighbourSets, testing::ValuesIn(neighbour_variants()));

TEST(Neighbours, take_larger_radii_within_their_room) {
  const Communicator comm(MPI_COMM_WORLD);
  const Shared shared(comm, Cloud::random, count);
  for (const NeighbourSearch kind : {NeighbourSearch::gather, NeighbourSearch::symmetric}) {
    Array<double> reach = reach_of(shared, Cloud::random);
    Neighbours neighbours(comm, shared.domain, shared.forest.shapes());
    neighbours.search(shared.particles.position, reach, kind, 1.1);
    All all(Cloud::random);
    for (double& h : reach) h *= 1.0999;
    for (double& h : all.reach) h *= 1.0999;
    ASSERT_TRUE(neighbours.update(reach));
    const Array<ParticleId> id = neighbours.share(std::span<const ParticleId>(shared.particles.id));
    std::vector<CollectIds::Sum> sums(shared.particles.size());
    neighbours.walk(CollectIds{id.data(), sums.data()});
    for (std::size_t i = 0; i < sums.size(); i += 5)
      ASSERT_EQ(sums[i].found, by_brute_force(all, shared.particles.id[i], kind, 0)) << i;
    if (comm.rank() == comm.size() - 1) reach[0] = 1;
    EXPECT_FALSE(neighbours.update(reach)) << "one particle of one rank has outgrown it: all hear of that";
  }
}

TEST(Neighbours, need_less_than_half_a_periodic_box) {
  const Communicator comm(MPI_COMM_WORLD);
  const Shared shared(comm, Cloud::random, count);
  Neighbours neighbours(comm, shared.domain, shared.forest.shapes(), Images{1});
  Array<double> reach(shared.particles.size(), 0.1);
  if (comm.is_master()) reach[0] = 0.5;
  try {
    neighbours.search(shared.particles.position, reach, NeighbourSearch::gather);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("not less than half the edge"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace grove
