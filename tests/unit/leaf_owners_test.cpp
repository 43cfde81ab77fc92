#include "decomposition/leaf_owners.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace grove {
namespace {

using LeafRunList = std::vector<LeafOwners::Run>;

/// Ten leaves: 0 0 2 2 2 0 1 1 2 2; the fourth of four ranks has none.
LeafOwners ten_leaves() { return {LeafRunList{{0, 0}, {2, 2}, {5, 0}, {6, 1}, {8, 2}}, 10, 4}; }
constexpr int owner_of_ten[] = {0, 0, 2, 2, 2, 0, 1, 1, 2, 2};

TEST(LeafOwners, know_whose_each_leaf_is) {
  const LeafOwners owners = ten_leaves();
  for (std::int32_t leaf = 0; leaf < 10; ++leaf) EXPECT_EQ(owners.owner(leaf), owner_of_ten[leaf]) << leaf;
  EXPECT_TRUE(owners.have_one(2, 3));
  EXPECT_TRUE(owners.have_one(9, 1));
  EXPECT_FALSE(owners.have_one(1, 2));
  EXPECT_FALSE(owners.have_one(0, 6)) << "both ends are of rank 0";
}

TEST(LeafOwners, own_leaves_are_numbered_from_left_to_right) {
  const LeafOwners owners = ten_leaves();
  for (int rank = 0; rank < owners.ranks(); ++rank) {
    const OwnLeaves own = owners.own(rank);
    std::int32_t number = 0;
    for (std::int32_t leaf = 0; leaf < 10; ++leaf) {
      EXPECT_EQ(own.before(leaf), number) << "of rank " << rank << " left of " << leaf;
      EXPECT_EQ(own.holds(leaf), owner_of_ten[leaf] == rank);
      if (owner_of_ten[leaf] != rank) continue;
      EXPECT_EQ(own.leaf(number), leaf);
      ++number;
    }
    EXPECT_EQ(own.size(), number);
    EXPECT_EQ(own.among(0, 10), number);
  }
  EXPECT_EQ(owners.own(2).among(3, 6), 3) << "3, 4 and 8";
  EXPECT_TRUE(owners.own(3).runs().empty());
  EXPECT_EQ(OwnLeaves::all(7).among(2, 3), 3);
}

TEST(LeafOwners, know_all_owners_of_some_leaves) {
  const LeafOwners owners = ten_leaves();
  EXPECT_EQ(owners.owners(0, 10), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(owners.owners(4, 2), (std::vector<int>{0, 2}));
  EXPECT_EQ(owners.owners(2, 3), (std::vector<int>{2}));
  EXPECT_EQ(owners.owners(9, 1), (std::vector<int>{2}));
}

TEST(LeafOwners, neighbours_of_one_rank_become_one_run) {
  const LeafOwners owners(LeafRunList{{0, 1}, {2, 1}, {4, 0}, {4, 1}}, 6, 2);
  EXPECT_EQ(owners.runs().size(), 1U);
  EXPECT_EQ(owners.own(1).size(), 6);
  EXPECT_EQ(LeafOwners(LeafRunList{{0, 0}, {0, 1}, {3, 2}, {3, 3}}, 5, 4),
            LeafOwners(LeafRunList{{0, 1}, {3, 3}}, 5, 4));
}

TEST(LeafOwners, hold_each_leaf_once) {
  EXPECT_THROW(LeafOwners(LeafRunList{{1, 0}}, 3, 1), std::logic_error);
  EXPECT_THROW(LeafOwners(LeafRunList{{0, 0}, {2, 1}, {1, 0}}, 3, 2), std::logic_error);
  EXPECT_THROW(LeafOwners(LeafRunList{{0, 2}}, 3, 2), std::logic_error);
  EXPECT_THROW(LeafOwners(LeafRunList{}, 3, 2), std::logic_error);
  EXPECT_EQ(LeafOwners(LeafRunList{}, 0, 2).runs().size(), 0U);
}

}  // namespace
}  // namespace grove
