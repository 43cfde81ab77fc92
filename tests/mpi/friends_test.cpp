// Friends of friends against brute force.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "halos/friends.hpp"
#include "kernels/host/disjoint_sets.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

constexpr std::uint64_t friend_count = 10000;

enum class FriendSet { uniform, clumps, chain, coincident };

/// In the unit cube.
Vec3d friend_place(FriendSet set, std::uint64_t i) {
  const Vec3d u = test::place(test::Shape::uniform, i);
  switch (set) {
    case FriendSet::uniform:
      return u;
    case FriendSet::clumps: {  // 64 of them, far denser than the rest, some across faces
      const Vec3d at = test::place(test::Shape::uniform, 1000000 + i % 64);
      if (i % 5 == 0) return u;
      Vec3d p = at + 0.1 * std::pow(test::uniform(7777 + i), 3) * (u - Vec3d{0.5, 0.5, 0.5});
      for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
      return p;
    }
    case FriendSet::chain: {  // through the whole box and back, ids in no order along it
      const double along = static_cast<double>(i * 7919 % friend_count) / friend_count;
      return {along, 0.5 + 0.4 * std::sin(20 * along), 0.5 + 0.4 * std::cos(20 * along)};
    }
    case FriendSet::coincident:
      return test::place(test::Shape::uniform, i / 30);
  }
  return u;
}

/// The least number of each particle's group.
std::vector<ParticleId> groups_by_brute_force(FriendSet set, double length, double period) {
  std::vector<Vec3d> place;
  for (std::uint64_t i = 0; i < friend_count; ++i) place.push_back(friend_place(set, i));
  DisjointSets sets(friend_count);
  const auto nearest = [&](double d) { return period > 0 ? std::fma(-period, std::rint(d / period), d) : d; };
  for (std::uint32_t i = 0; i < friend_count; ++i)
    for (std::uint32_t j = i + 1; j < friend_count; ++j) {
      const double x = nearest(place[j].x - place[i].x);
      if (std::abs(x) >= length) continue;
      const double y = nearest(place[j].y - place[i].y), z = nearest(place[j].z - place[i].z);
      if (std::fma(z, z, std::fma(y, y, x * x)) < length * length) sets.unite(i, j);
    }
  std::vector<ParticleId> groups;
  for (std::uint32_t i = 0; i < friend_count; ++i) groups.push_back(sets.root(i));
  return groups;
}

struct FriendVariant {
  FriendSet set;
  double length, period;
};
class Friends : public testing::TestWithParam<FriendVariant> {};

TEST_P(Friends, are_linked_as_by_brute_force) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [set, length, period] = GetParam();
  Particles particles;
  for (std::uint64_t i = 0; i < friend_count; ++i) {
    if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm.size())) != comm.rank()) continue;
    const std::size_t at = particles.size();
    particles.resize(at + 1);
    test::set_particle(particles, at, test::Shape::uniform, i, false);
    particles.id[at] = i;
    particles.position[at] = friend_place(set, i);
  }
  DecompositionReport report;
  const Domain domain = decompose(comm, particles, {}, {}, report);
  Forest forest;
  forest.build(particles, domain.box, domain.leaf_begin);
  const Array<GroupLabel> labels =
      link_friends(comm, domain, forest.shapes(), particles, length, Images{period});
  const std::vector<ParticleId> expected = groups_by_brute_force(set, length, period);
  Count alone = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ASSERT_EQ(labels[i].id, expected[particles.id[i]]) << particles.id[i];
    alone += expected[particles.id[i]] == particles.id[i] ? 1 : 0;
  }
  const Count groups = comm.sum(alone);
  EXPECT_LT(groups, static_cast<Count>(friend_count));
  if (set == FriendSet::chain) {
    EXPECT_EQ(groups, 1);
  }
  // The rank is that of the first member.
  std::vector<std::int32_t> rank_of(friend_count, 0);
  for (const ParticleId id : particles.id) rank_of[id] = comm.rank();
  comm.sum(std::span<std::int32_t>(rank_of));
  for (const GroupLabel& label : labels) ASSERT_EQ(label.rank, rank_of[label.id]);
}

// Mean distance 0.046; links of 0.2, 0.5 and 0.9 of it, the last near percolation.
INSTANTIATE_TEST_SUITE_P(
    All, Friends,
    testing::Values(FriendVariant{FriendSet::uniform, 0.0093, 1}, FriendVariant{FriendSet::uniform, 0.042, 1},
                    FriendVariant{FriendSet::uniform, 0.042, 0}, FriendVariant{FriendSet::clumps, 0.0093, 1},
                    FriendVariant{FriendSet::clumps, 0.0093, 0}, FriendVariant{FriendSet::clumps, 0.023, 1},
                    FriendVariant{FriendSet::chain, 0.002, 0}, FriendVariant{FriendSet::coincident, 1e-9, 1},
                    FriendVariant{FriendSet::coincident, 0.03, 0}));

TEST(DisjointSets, have_their_least_member_as_root) {
  DisjointSets sets(6);
  sets.unite(5, 3);
  sets.unite(4, 5);
  sets.unite(1, 0);
  EXPECT_EQ(sets.root(4), 3u);
  EXPECT_EQ(sets.root(1), 0u);
  EXPECT_EQ(sets.root(2), 2u);
  sets.unite(4, 1);
  for (const std::uint32_t i : {0u, 1u, 3u, 4u, 5u}) EXPECT_EQ(sets.root(i), 0u);
}

}  // namespace
}  // namespace grove
