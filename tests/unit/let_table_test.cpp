// The numbers of the cells and leaves that a rank knows, on made-up trees.
#include "let/let_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "decomposition/domain.hpp"
#include "decomposition/known_cells.hpp"
#include "support/halved_domain.hpp"

namespace grove {
namespace {

/// Leaves of so many particles; each rank has so many runs of them.
Domain halved(Count particles, Count of_a_leaf, int ranks, int only = -1, int runs_of_a_rank = 1) {
  const LeafNumber leaves = particles / of_a_leaf;
  std::vector<LeafOwners::Run> runs;
  const int number = ranks * runs_of_a_rank;
  for (int r = 0; r < number; ++r) runs.push_back({leaves * r / number, r % ranks});
  return testing::halved_domain(particles, {runs, leaves, ranks}, only);
}

/// The numbers of leaves of a domain that others open, as in walks of a neighbour.
using Leaves = std::set<std::int32_t>;

/// What a rank sends of a whole domain if others open these leaves. leaves (out): those that have trees, in
/// their order.
LetTable sent_by(const Domain& domain, int rank, const Leaves& opened, Leaves& leaves) {
  const KnownCells known = known_cells(domain, rank);
  const OwnLeaves own = domain.owners.own(rank);
  const TopTable top = top_table(known, own, rank);
  for (const std::int32_t leaf : opened)
    if (own.holds(leaf)) leaves.insert(leaf);
  const auto opens = [&](std::int32_t cell) {
    const Cell& of = known.cells[static_cast<std::size_t>(cell)];
    const auto next = opened.lower_bound(of.first_leaf);
    return next != opened.end() && *next < of.first_leaf + of.leaves;
  };
  const auto tree = [&](std::int32_t leaf) {
    return static_cast<std::int32_t>(std::distance(leaves.begin(), leaves.find(own.leaf(leaf))));
  };
  std::vector<std::int32_t> sent;
  LetTable table = let_table(top, opens, tree, sent);
  EXPECT_EQ(static_cast<Count>(sent.size()), table.sent_cells());
  for (const std::int32_t leaf : leaves) table.trees.push_back({leaf, 2 * leaf});
  return table;
}

/// Goes through the tree that a rank knows beside the whole one.
class Comparison {
 public:
  Comparison(const Domain& domain, int rank, const NumberedLets& lets, const TopTable& table)
      : domain_(domain), own_(domain.owners.own(rank)), lets_(lets), cells_(table.cells) {
    cells_.insert(cells_.end(), lets.top.cells.begin(), lets.top.cells.end());
    for (const ImportedTop::Hung& hung : lets.top.hung)
      cells_[static_cast<std::size_t>(hung.cover)].child = hung.child;
  }

  void run(std::int32_t number, std::int32_t cell) {
    const TopLinks& links = cells_.at(static_cast<std::size_t>(number));
    const Cell& of = domain_.cells[static_cast<std::size_t>(cell)];
    std::int32_t targets = 0;
    for (std::int32_t leaf = of.first_leaf; leaf < of.first_leaf + of.leaves; ++leaf)
      targets += own_.holds(leaf) ? 1 : 0;
    if (!links.is_leaf()) {
      EXPECT_EQ(links.leaves, targets);  // those that may be targets
      if (links.child < 0) return;
      run(links.child, of.child);
      run(links.child + 1, of.child + 1);
      return;
    }
    ASSERT_TRUE(of.is_leaf());
    EXPECT_LT(links.first_leaf, lets_.top.leaves);
    if (targets == 1) {
      EXPECT_EQ(own_.leaf(links.first_leaf), of.first_leaf);
    }
    number_of_[of.first_leaf] = links.first_leaf;
  }

  /// By leaf of the domain.
  const std::map<std::int32_t, std::int32_t>& numbers() const { return number_of_; }

 private:
  const Domain& domain_;
  OwnLeaves own_;
  const NumberedLets& lets_;
  std::vector<TopLinks> cells_;
  std::map<std::int32_t, std::int32_t> number_of_;
};

TEST(LetTable, known_cells_hang_together_as_in_the_whole_tree) {
  constexpr int ranks = 3;
  const Leaves opened{3, 4, 100, 101, 150, 170, 171, 172, 300, 411, 511};
  for (const auto& [rank, runs] : {std::pair(0, 1), {1, 1}, {2, 1}, {0, 4}, {1, 4}, {2, 4}}) {
    SCOPED_TRACE(fmt::format("{} of {} runs", rank, runs));
    const Domain domain = halved(1 << 12, 8, ranks, -1, runs);
    const TopTable table = top_table(known_cells(domain, rank), domain.owners.own(rank), rank);
    std::vector<LetTable> received;
    std::vector<std::int32_t> trees;
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      Leaves leaves;
      received.push_back(sent_by(domain, other, opened, leaves));
      trees.insert(trees.end(), leaves.begin(), leaves.end());
    }
    const NumberedLets lets = number_lets(table, received);
    Comparison comparison(domain, rank, lets, table);
    comparison.run(0, 0);
    const auto& numbers = comparison.numbers();
    std::set<std::int32_t> different;
    for (const auto& [leaf, number] : numbers) different.insert(number);
    EXPECT_EQ(different.size(), numbers.size());
    EXPECT_EQ(static_cast<std::size_t>(lets.top.leaves), numbers.size());
    ASSERT_EQ(lets.leaves.size(), trees.size());
    for (std::size_t t = 0; t < trees.size(); ++t) EXPECT_EQ(lets.leaves[t], numbers.at(trees[t]));
    // The sibling of an opened leaf is known, what is far from all of them is not.
    if (rank != 0 && runs == 1) {
      EXPECT_TRUE(numbers.contains(2));
      EXPECT_FALSE(numbers.contains(50));
    }
  }
}

TEST(LetTable, travels_as_a_message) {
  const Domain domain = halved(1 << 12, 8, 3);
  Leaves leaves;
  const LetTable sent = sent_by(domain, 1, {200, 201, 333}, leaves);
  Message message{1, pack_table(sent)};
  const LetTable received = unpack_table(message);
  EXPECT_EQ(received.covers, sent.covers);
  ASSERT_EQ(received.cells.size(), sent.cells.size());
  for (std::size_t i = 0; i < sent.cells.size(); ++i) {
    EXPECT_EQ(received.cells[i].child, sent.cells[i].child);
    EXPECT_EQ(received.cells[i].tree, sent.cells[i].tree);
    EXPECT_EQ(received.cells[i].is_leaf, sent.cells[i].is_leaf);
  }
  EXPECT_EQ(received.counts().trees, static_cast<Count>(leaves.size()));
  EXPECT_EQ(received.counts().nodes, sent.counts().nodes);
  EXPECT_EQ(received.counts().particles, 2 * sent.counts().nodes);
  message.blocks.resize(message.blocks.size() + 1);
  EXPECT_THROW(unpack_table(message), std::runtime_error);
}

/// 2^39 particles on 4096 ranks have 2^28 cells; node codes on GPUs leave 2^21 for those that a rank knows.
TEST(LetTable, numbers_of_a_rank_do_not_grow_with_the_particles_of_all) {
  constexpr int ranks = 4096, rank = 1234;
  constexpr Count of_a_rank = Count{1} << 27, of_a_leaf = 4096;
  const Domain domain = halved(ranks * of_a_rank, of_a_leaf, ranks, rank);
  const TopTable table = top_table(known_cells(domain, rank), domain.own, rank);
  constexpr std::int32_t own = of_a_rank / of_a_leaf;
  EXPECT_EQ(table.own_leaves, own);
  EXPECT_EQ(table.leaves, own);
  EXPECT_EQ(table.covers.size(), std::size_t{4} * ranks);
  // Binary trees below the four own covers and above all covers.
  EXPECT_EQ(table.cells.size(), std::size_t{2} * own - 4 + 2 * table.covers.size() - 5);
  EXPECT_LT(table.cells.size(), std::size_t{1} << 17);
  // The first cover of the last rank, cut to a leaf on one side: 13 levels below 8192 leaves.
  LetTable far;
  far.covers = {4 * ranks - 4};
  far.cells.push_back({1, -1, 0});
  for (std::int32_t level = 1; level <= 13; ++level) {
    const bool is_last = level == 13;
    far.cells.push_back({is_last ? -1 : 2 * level + 1, is_last ? 0 : -1, is_last ? 1 : 0});
    far.cells.push_back({-1, -1, is_last ? 1 : 0});
  }
  far.trees.push_back({1023, 4096});
  const NumberedLets lets = number_lets(table, std::vector<LetTable>{far});
  EXPECT_EQ(lets.top.leaves, own + 2);
  EXPECT_EQ(lets.top.cells.size(), 26U);
  EXPECT_EQ(lets.leaves, std::vector<std::int32_t>{own});
  EXPECT_EQ(lets.top.hung.at(0).child, static_cast<std::int32_t>(table.cells.size()));
}

/// The same particles in leaves of 128 are 2^32 leaves. A rank on the right numbers its own from 0 all the
/// same.
TEST(LetTable, leaves_beyond_32_bits_have_numbers_of_their_rank) {
  constexpr int ranks = 4096, rank = 4095;
  constexpr Count of_a_rank = Count{1} << 27, of_a_leaf = 128;
  const Domain domain = halved(ranks * of_a_rank, of_a_leaf, ranks, rank);
  constexpr std::int32_t own = of_a_rank / of_a_leaf;
  EXPECT_EQ(domain.leaves(), LeafNumber{1} << 32);
  EXPECT_EQ(domain.own.leaf(0), rank * LeafNumber{own});
  EXPECT_EQ(domain.own.leaf(own - 1), (LeafNumber{1} << 32) - 1);
  EXPECT_EQ(domain.leaf(domain.own.leaf(own - 1)).first, ranks * of_a_rank - of_a_leaf);
  const TopTable table = top_table(known_cells(domain, rank), domain.own, rank);
  EXPECT_EQ(table.own_leaves, own);
  EXPECT_EQ(table.cells.back().first_leaf, own - 1);
  EXPECT_EQ(table.cells.back().leaves, 1);
  EXPECT_EQ(table.cells[0].first_leaf, 0);
  EXPECT_EQ(table.cells[0].leaves, own);
}

}  // namespace
}  // namespace grove
