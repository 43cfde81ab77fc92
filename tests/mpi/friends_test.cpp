// Friends of friends against brute force.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/host/disjoint_sets.hpp"
#include "support/friend_ranks.hpp"

namespace grove {
namespace {

using test::FriendSet;

constexpr std::uint64_t friend_count = 10000;

struct FriendVariant {
  FriendSet set;
  double length, period;
};
class Friends : public testing::TestWithParam<FriendVariant> {};

TEST_P(Friends, are_linked_as_by_brute_force) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [set, length, period] = GetParam();
  const test::FriendsOnRanks ranks(comm, set, friend_count);
  const Array<ParticleId>& id = ranks.particles.id;
  const Array<GroupLabel> labels = ranks.link(length, period);
  std::vector<Vec3d> places;
  for (std::uint64_t i = 0; i < friend_count; ++i) places.push_back(test::friend_place(set, i, friend_count));
  const auto expected = test::friends_by_brute_force(places, length, NearestImage::of(Images{period}));
  Count first = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ASSERT_EQ(labels[i].id, expected[id[i]]) << id[i];
    first += expected[id[i]] == id[i] ? 1 : 0;
  }
  const Count groups = comm.sum(first);
  EXPECT_LT(groups, static_cast<Count>(friend_count));
  if (set == FriendSet::chain) {
    EXPECT_EQ(groups, 1);
  }
  // The rank is that of the first member.
  std::vector<std::int32_t> rank_of(friend_count, 0);
  for (const ParticleId own : id) rank_of[own] = comm.rank();
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
                    FriendVariant{FriendSet::coincident, 0.03, 0},
                    FriendVariant{FriendSet::crowds, 0.0245, 1}, FriendVariant{FriendSet::lattice, 0.0625, 1},
                    FriendVariant{FriendSet::far, 0.0093, 0}));

TEST(DisjointSets, have_their_least_member_as_root) {
  DisjointSets sets(6);
  sets.unite(5, 3);
  sets.unite(4, 5);
  sets.unite(1, 0);
  EXPECT_EQ(sets.root(4), 3u);
  EXPECT_EQ(sets.root(1), 0u);
  EXPECT_EQ(sets.root(2), 2u);
  EXPECT_EQ(sets.view().unite(4, 1), 0u);
  for (const std::uint32_t i : {0u, 1u, 3u, 4u, 5u}) EXPECT_EQ(sets.root(i), 0u);
}

}  // namespace
}  // namespace grove
