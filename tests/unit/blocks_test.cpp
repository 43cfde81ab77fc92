#include "decomposition/blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/key_ranges.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

Domain decomposed(std::size_t particles, Count leaf, std::int32_t most_block_leaves,
                  CutRule rule = CutRule::middle) {
  const Communicator self(MPI_COMM_SELF);
  Particles all = testing::make_shape(testing::Shape::clumps, particles);
  DecompositionReport report;
  DecompositionParameters parameters;
  parameters.rule = rule;
  parameters.leaf_size = leaf;
  parameters.most_block_leaves = most_block_leaves;
  return decompose(self, all, parameters, {}, report);
}

TEST(Blocks, cover_all_leaves_and_are_as_large_as_they_may_be) {
  const Domain domain = decomposed(60000, 32, 5);
  EXPECT_EQ(domain.leaves(), 1875);
  EXPECT_EQ(domain.block_leaves, 5) << "a 256th of the leaves would be 7";
  std::vector<std::int32_t> parent(domain.cells.size(), -1);
  for (std::size_t c = 0; c < domain.cells.size(); ++c)
    if (const auto child = static_cast<std::size_t>(domain.cells[c].child); !domain.cells[c].is_leaf())
      parent[child] = parent[child + 1] = static_cast<std::int32_t>(c);
  std::int32_t next = 0;
  for (const Block& block : blocks_of(domain)) {
    EXPECT_EQ(block.first_leaf, next);
    EXPECT_LE(block.leaves, domain.block_leaves);
    EXPECT_GT(domain.cells[static_cast<std::size_t>(parent[static_cast<std::size_t>(block.cell)])].leaves,
              domain.block_leaves);
    next += block.leaves;
  }
  EXPECT_EQ(next, domain.leaves());
}

TEST(Blocks, are_leaves_where_there_are_few) {
  const Domain domain = decomposed(2000, 32, 16);
  EXPECT_EQ(domain.block_leaves, 1);
  EXPECT_EQ(blocks_of(domain).size(), static_cast<std::size_t>(domain.leaves()));
}

TEST(Blocks, new_subtrees_take_the_places_of_the_old_ones) {
  const Domain domain = decomposed(60000, 32, 7);
  const std::vector<Block> blocks = blocks_of(domain);
  // The mirror image of every third block's subtree, made by hand: a comb to the right, leaves of 32.
  std::vector<std::int32_t> roots;
  std::vector<std::vector<Cell>> subtrees;
  for (std::size_t b = 0; b < blocks.size(); b += 3) {
    const Cell root = domain.cells[static_cast<std::size_t>(blocks[b].cell)];
    std::vector<Cell> comb{root};
    comb[0].child = root.leaves > 1 ? 1 : -1;
    for (std::int32_t left = root.leaves; left > 1; --left) {
      Cell leaf, rest;
      const Cell above = comb.back();
      leaf.first = above.first, leaf.count = 32, leaf.leaves = 1;
      rest.first = above.first + 32, rest.count = above.count - 32, rest.leaves = left - 1;
      leaf.low = rest.low = root.low, leaf.high = rest.high = root.high;
      rest.child = left > 2 ? static_cast<std::int32_t>(comb.size()) + 2 : -1;
      comb.push_back(leaf);
      comb.push_back(rest);
    }
    roots.push_back(blocks[b].cell);
    subtrees.push_back(comb);
  }
  Domain changed = domain;
  replace_subtrees(changed, roots, subtrees);

  ASSERT_EQ(changed.cells.size(), domain.cells.size());
  const std::vector<Block> after = blocks_of(changed);
  ASSERT_EQ(after.size(), blocks.size());
  for (std::size_t b = 0; b < after.size(); ++b) {
    EXPECT_EQ(after[b].first_leaf, blocks[b].first_leaf);
    EXPECT_EQ(after[b].leaves, blocks[b].leaves);
  }
  std::int32_t behind = 1;  // siblings adjacent, in the order of their parents
  std::vector<Count> first(static_cast<std::size_t>(domain.leaves()));
  for (const Cell& cell : changed.cells) {
    if (cell.is_leaf()) {
      first[static_cast<std::size_t>(cell.first_leaf)] = cell.first;
      continue;
    }
    EXPECT_EQ(cell.child, behind);
    behind += 2;
  }
  for (std::size_t leaf = 0; leaf < first.size(); ++leaf)
    EXPECT_EQ(first[leaf], domain.leaf(static_cast<std::int32_t>(leaf)).first) << leaf;
}

/// Particles that have left their domain cells, which are cut anew, do not change whose a place is.
TEST(Blocks, which_are_cut_anew_leave_the_parts_of_ranks_as_they_are) {
  const Domain domain = decomposed(60000, 32, 7, CutRule::domains);
  std::vector<std::int32_t> roots;
  std::vector<std::vector<Cell>> subtrees;
  for (const Block& block : blocks_of(domain)) {
    std::vector<Cell> subtree{domain.cells[static_cast<std::size_t>(block.cell)]};
    for (std::size_t i = 0; i < subtree.size(); ++i) {
      subtree[i].low = {0, 0, 0};
      subtree[i].high = {~0U, ~0U, ~0U};
      if (subtree[i].is_leaf()) continue;
      const auto child = static_cast<std::size_t>(subtree[i].child);
      subtree[i].child = static_cast<std::int32_t>(subtree.size());
      subtree.insert(subtree.end(), {domain.cells[child], domain.cells[child + 1]});
    }
    roots.push_back(block.cell);
    subtrees.push_back(subtree);
  }
  Domain changed = domain;
  replace_subtrees(changed, roots, subtrees);

  std::vector<std::int32_t> runs;  // each leaf's own: as many parts as whole cells
  for (std::int32_t leaf = 0; leaf <= domain.leaves(); ++leaf) runs.push_back(leaf);
  const KeyRanges before(domain, runs), after(changed, runs);
  ASSERT_GT(before.parts().size(), 256U) << "a domain cell is a 256th";
  ASSERT_EQ(after.parts().size(), before.parts().size());
  for (std::size_t i = 0; i < before.parts().size(); ++i) {
    EXPECT_EQ(after.parts()[i].begin, before.parts()[i].begin) << i;
    EXPECT_EQ(after.parts()[i].rank, before.parts()[i].rank) << i;
  }
  const Cell& block = changed.cells[static_cast<std::size_t>(blocks_of(changed)[0].cell)];
  EXPECT_EQ(block.high, (IntegerPosition{~0U, ~0U, ~0U})) << "as its subtree says";
}

}  // namespace
}  // namespace grove
