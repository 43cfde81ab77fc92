#include <gtest/gtest.h>

#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "decomposition/delegated_cells.hpp"
#include "decomposition/host_delegation.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/shares.hpp"

namespace grove {
namespace {

/// The owners of leaves that have these weights, left to right.
std::vector<int> owners_of(const Shares& shares, const std::vector<Count>& weights) {
  std::vector<int> owners;
  Count before = 0;
  for (const Count weight : weights) {
    owners.push_back(shares.owner(before, weight));
    before += weight;
  }
  return owners;
}

TEST(Shares, follow_the_middles_of_leaves) {
  const Shares shares(100, 4);
  // Middles at 5, 25 (the border belongs to the right share), 50, 65, 85 of 100.
  const std::vector<Count> weights = {10, 30, 20, 10, 30};
  EXPECT_EQ(owners_of(shares, weights), (std::vector<int>{0, 1, 2, 2, 3}));
}

TEST(Shares, a_cell_that_does_not_straddle_has_leaves_of_one_owner_however_it_is_cut) {
  constexpr Count total = 60;
  for (const int ranks : {1, 2, 3, 7, 60, 100}) {
    const Shares shares(total, ranks);
    for (Count before = 0; before < total; ++before)
      for (Count weight = 1; before + weight <= total; ++weight) {
        if (shares.straddles(before, weight)) continue;
        const int owner = shares.owner(before, weight);
        for (Count first = 0; first < weight; ++first)
          for (Count leaf = 1; first + leaf <= weight; ++leaf)
            ASSERT_EQ(shares.owner(before + first, leaf), owner);
      }
  }
}

TEST(Shares, are_as_large_as_the_ranks_are_fast) {
  // Shares end at 20, 80, 90 and 100.
  const Shares shares(100, std::vector<std::uint32_t>{2, 6, 1, 1});
  const std::vector<Count> weights = {10, 30, 20, 10, 12, 18};  // middles at 5, 25, 50, 65, 76, 91
  EXPECT_EQ(owners_of(shares, weights), (std::vector<int>{0, 1, 1, 1, 1, 3}));
  EXPECT_FALSE(shares.straddles(20, 60));
  EXPECT_TRUE(shares.straddles(20, 61));
  EXPECT_EQ(shares.last_owner(0, 81), 2);
}

TEST(Shares, does_not_overflow) {
  const Count huge = Count{1} << 62;
  for (const std::uint32_t speed : {1U, ~0U}) {
    const Shares shares(huge, std::vector<std::uint32_t>(1 << 20, speed));
    EXPECT_EQ(shares.owner(0, 1), 0);
    EXPECT_EQ(shares.owner(huge - 1, 1), (1 << 20) - 1);
  }
}

Cell cell_of(std::int32_t child, std::int32_t first_leaf, std::int32_t leaves, Count weight) {
  Cell c;
  c.child = child, c.first_leaf = first_leaf, c.leaves = leaves, c.count = c.weight = weight;
  return c;
}

TEST(DelegatedCells, are_those_that_straddle_and_a_rank_cuts_one) {
  // Weights 26 | 23 | 2 | 49 of 100 on four ranks: the first reaches to rank 1, as does the third, a leaf;
  // the last is on ranks 2 and 3. The middle of 26 is rank 0's.
  const std::vector<Cell> top = {cell_of(1, 0, 11, 100), cell_of(3, 0, 6, 49),  cell_of(5, 6, 5, 51),
                                 cell_of(-1, 0, 3, 26),  cell_of(-1, 3, 3, 23), cell_of(-1, 6, 1, 2),
                                 cell_of(-1, 7, 4, 49)};
  const DelegatedCells delegated(top, Shares(100, 4), 0);
  ASSERT_EQ(delegated.size(), 2u);
  EXPECT_EQ(delegated.cell(0), 3);
  EXPECT_EQ(delegated.rank(0), 0);
  EXPECT_EQ(delegated.cell(1), 6);
  EXPECT_EQ(delegated.rank(1), 3);
  EXPECT_EQ(delegated.cell_of(0), 3);
  EXPECT_EQ(delegated.cell_of(1), std::nullopt);
  EXPECT_EQ(delegated.cell_of(3), 6);

  // 20 | 10 | 22 | 48: rank 1 has the middles of the second, 20 .. 30, and of the third, 30 .. 52.
  const std::vector<Cell> two = {cell_of(1, 0, 11, 100), cell_of(3, 0, 8, 52),  cell_of(-1, 8, 3, 48),
                                 cell_of(5, 0, 5, 30),   cell_of(-1, 5, 3, 22), cell_of(-1, 0, 3, 20),
                                 cell_of(-1, 3, 2, 10)};
  const DelegatedCells both(two, Shares(100, 4), 0);
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both.cell(0), 6);
  EXPECT_EQ(both.rank(0), 1);
  EXPECT_EQ(both.cell(1), 4);
  EXPECT_EQ(both.rank(1), 2);
  EXPECT_EQ(both.rank(2), 3);
}

TEST(DelegatedCells, a_rank_cuts_one_however_cells_lie) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    // A comb: every right child is divided further.
    const int ranks = 2 + static_cast<int>(mixed(seed) % 9);
    std::vector<Count> weights;
    for (std::uint64_t i = 0; i < 20; ++i)
      weights.push_back(2 + static_cast<Count>(mixed(seed * 99 + i) % 90));
    Count rest = 0;
    for (const Count w : weights) rest += w;
    const Shares shares(rest, ranks);
    std::vector<Cell> top{cell_of(-1, 0, 40, rest)};
    std::int32_t at = 0;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
      top[static_cast<std::size_t>(at)].child = static_cast<std::int32_t>(top.size());
      rest -= weights[i];
      at = static_cast<std::int32_t>(top.size()) + 1;
      top.insert(top.end(), {cell_of(-1, 0, 2, weights[i]), cell_of(-1, 0, 2, rest)});
    }
    const DelegatedCells delegated(top, shares, 0);
    for (std::size_t i = 1; i < delegated.size(); ++i)
      ASSERT_LT(delegated.rank(i - 1), delegated.rank(i)) << seed;
    if (delegated.size() > 0) {
      ASSERT_GE(delegated.rank(0), 0);
      ASSERT_LT(delegated.rank(delegated.size() - 1), ranks);
    }
  }
}

TEST(DelegatedCells, subtrees_become_top_cells) {
  std::vector<Cell> top = {cell_of(1, 0, 5, 40), cell_of(-1, 0, 2, 15), cell_of(-1, 2, 3, 25)};
  const std::vector<Cell> subtrees = {cell_of(1, 0, 2, 15),  cell_of(-1, 0, 1, 8), cell_of(-1, 1, 1, 7),
                                      cell_of(1, 2, 3, 25),  cell_of(3, 2, 2, 16), cell_of(-1, 4, 1, 9),
                                      cell_of(-1, 2, 1, 10), cell_of(-1, 3, 1, 6)};
  const DelegatedCells delegated(top, Shares(40, 4), 0);  // shares of 10
  ASSERT_EQ(delegated.size(), 2u);
  delegated.join(top, subtrees);
  const std::vector<Cell> expected = {cell_of(1, 0, 5, 40), cell_of(3, 0, 2, 15),  cell_of(5, 2, 3, 25),
                                      cell_of(-1, 0, 1, 8), cell_of(-1, 1, 1, 7),  cell_of(7, 2, 2, 16),
                                      cell_of(-1, 4, 1, 9), cell_of(-1, 2, 1, 10), cell_of(-1, 3, 1, 6)};
  EXPECT_EQ(top, expected);
}

TEST(DelegatedCells, more_leaves_than_were_known_move_those_behind) {
  // Both are delegated; the first has three leaves, not two.
  std::vector<Cell> top = {cell_of(1, 0, 4, 40), cell_of(-1, 0, 2, 20), cell_of(-1, 2, 2, 20)};
  const std::vector<Cell> subtrees = {cell_of(1, 0, 3, 20),  cell_of(3, 0, 2, 15), cell_of(-1, 2, 1, 5),
                                      cell_of(-1, 0, 1, 8),  cell_of(-1, 1, 1, 7), cell_of(1, 2, 2, 20),
                                      cell_of(-1, 2, 1, 11), cell_of(-1, 3, 1, 9)};
  const DelegatedCells delegated(top, Shares(40, 3), 0);
  ASSERT_EQ(delegated.size(), 2u);
  delegated.join(top, subtrees);
  const std::vector<Cell> expected = {cell_of(1, 0, 5, 40), cell_of(3, 0, 3, 20),  cell_of(7, 3, 2, 20),
                                      cell_of(5, 0, 2, 15), cell_of(-1, 2, 1, 5),  cell_of(-1, 0, 1, 8),
                                      cell_of(-1, 1, 1, 7), cell_of(-1, 3, 1, 11), cell_of(-1, 4, 1, 9)};
  EXPECT_EQ(top, expected);
}

TEST(CutDelegatedCell, refuses_ids_that_a_cut_cannot_tell_apart) {
  Cell root;
  root.count = root.weight = 9;
  root.leaves = 5;
  std::vector<DelegatedRecord> records;
  for (std::uint32_t i = 0; i < 9; ++i) records.push_back({i, {7, 7, 7}, 1});
  const CutScheme scheme{CutRule::middle, 2};
  EXPECT_EQ(cut_delegated_cell(scheme, root, records, false).size(), 9u);
  for (DelegatedRecord& r : records) r.id = 3;
  EXPECT_THROW(cut_delegated_cell(scheme, root, records, false), InputError);
}

TEST(JoinCells, puts_subtrees_into_breadth_first_order) {
  const auto cell = [](std::int32_t child, std::int32_t first_leaf, std::int32_t leaves) {
    Cell c;
    c.child = child, c.first_leaf = first_leaf, c.leaves = leaves;
    return c;
  };
  // Top: the root and two cells of 2 and 3 leaves, both uncut. Subtrees: depth first.
  const std::vector<Cell> top = {cell(1, 0, 5), cell(-1, 0, 2), cell(-1, 2, 3)};
  const std::vector<Cell> subtrees = {cell(1, 0, 2), cell(-1, 0, 1), cell(-1, 1, 1), cell(1, 2, 3),
                                      cell(3, 2, 2), cell(-1, 4, 1), cell(-1, 2, 1), cell(-1, 3, 1)};
  const std::vector<std::int32_t> uncut = {1, 2};
  const std::vector<Cell> expected = {cell(1, 0, 5),  cell(3, 0, 2),  cell(5, 2, 3),
                                      cell(-1, 0, 1), cell(-1, 1, 1), cell(7, 2, 2),
                                      cell(-1, 4, 1), cell(-1, 2, 1), cell(-1, 3, 1)};
  EXPECT_EQ(join_cells(top, uncut, subtrees), expected);

  // If the leaves are not known before, the top has at most as many.
  const std::vector<Cell> least = {cell(1, 0, 3), cell(-1, 0, 2), cell(-1, 2, 2)};
  EXPECT_EQ(join_cells(least, uncut, subtrees), expected);
}

}  // namespace
}  // namespace grove
