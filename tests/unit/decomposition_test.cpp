#include <gtest/gtest.h>

#include <vector>

#include "decomposition/join_cells.hpp"
#include "decomposition/shares.hpp"

namespace grove {
namespace {

TEST(Shares, runs_follow_the_middles_of_leaves) {
  const Shares shares(100, 4);
  // Middles at 5, 25 (the border belongs to the right share), 50, 65, 85 of 100.
  const std::vector<Count> weights = {10, 30, 20, 10, 30};
  EXPECT_EQ(shares.runs(weights), (std::vector<std::int32_t>{0, 1, 2, 4, 5}));
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

TEST(Shares, does_not_overflow) {
  const Count huge = Count{1} << 62;
  const Shares shares(huge, 1 << 20);
  EXPECT_EQ(shares.owner(0, 1), 0);
  EXPECT_EQ(shares.owner(huge - 1, 1), (1 << 20) - 1);
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
}

}  // namespace
}  // namespace grove
