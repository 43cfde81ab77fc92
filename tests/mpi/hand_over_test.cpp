// Leaves that get other owners, by what each rank knows of the cells: it ends with what it would have of
// them, had all ranks known all cells.
#include "decomposition/hand_over.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "decomposition/cover_rule.hpp"
#include "decomposition/known_cells.hpp"
#include "decomposition/whole_cells.hpp"
#include "support/shared_domain.hpp"
#include "support/whole_domain.hpp"

namespace grove {
namespace {

class HandOver : public testing::TestWithParam<CutRule> {
 protected:
  /// 3000 particles, most of them in a clump, in leaves of 16 and domain cells of 100.
  Domain whole() const {
    Particles particles;
    particles.resize(3000);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> place(-1, 1);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      const double scale = i % 4 == 0 ? 1 : 0.05;
      particles.position[i] = {scale * place(random), scale * place(random), scale * place(random)};
      particles.id[i] = i;
    }
    Domain domain =
        share_out(comm_, particles, 16, {}, GetParam(), GetParam() == CutRule::domains ? 100 : 0).domain;
    domain.take_whole(subtree_of(domain.cells, 0, [](const Cell&) { return true; }));  // breadth-first
    return domain;
  }
  static void expect_same(const Domain& actual, const Domain& expected) {
    EXPECT_FALSE(actual.is_whole);
    EXPECT_TRUE(actual.cells == expected.cells);  // which are too many to print
    EXPECT_EQ(actual.leaf_cell, expected.leaf_cell);
    EXPECT_EQ(actual.owners, expected.owners);
    EXPECT_EQ(actual.own, expected.own);
    EXPECT_EQ(actual.leaf_begin, expected.leaf_begin);
  }

  Communicator comm_{MPI_COMM_WORLD};
};

TEST_P(HandOver, gives_each_rank_what_it_needs_to_know) {
  Domain whole = this->whole(), part = known_part(whole, comm_.rank());
  for (int kind = 0; kind < 12; ++kind) {
    SCOPED_TRACE(kind);
    const LeafOwners to = odd_owners(kind, comm_.size(), whole.leaves());
    whole.give_out(to, comm_);
    hand_over(comm_, part, to);
    expect_same(part, known_part(whole, comm_.rank()));
    EXPECT_TRUE(test::whole_domain(comm_, part).cells == whole.cells);
  }
}

TEST_P(HandOver, leaves_all_as_it_was_where_owners_do_not_fit) {
  const Domain before = known_part(whole(), comm_.rank());
  Domain part = before;
  EXPECT_THROW(hand_over(comm_, part, odd_owners(2, comm_.size(), before.leaves() - 1)), std::logic_error);
  EXPECT_THROW(hand_over(comm_, part, odd_owners(2, comm_.size() + 1, before.leaves())), std::logic_error);
  expect_same(part, before);
}

/// Whole cells of all ranks hold each leaf once, and go where they are sent.
TEST_P(HandOver, takes_whole_cells_along) {
  const Domain part = known_part(whole(), comm_.rank());
  const WholeCells cells(part);
  const std::vector<Count> ones(static_cast<std::size_t>(part.own.size()), 1), leaves = cells.sums(ones);
  Count own = 0, most = 0;
  for (const Count some : leaves) own += some, most = std::max(most, some);
  EXPECT_EQ(own, part.own.size());
  EXPECT_EQ(comm_.max(most) > 1, GetParam() == CutRule::domains) << "each leaf is one";
  std::vector<int> to;  // to the next rank, but the first of each stays
  for (std::size_t i = 0; i < cells.size(); ++i) to.push_back((comm_.rank() + (i > 0)) % comm_.size());
  const LeafOwners owners = cells.owners(comm_, to);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const LeafNumber first = part.own.leaf(cells.own_leaf(i));
    EXPECT_TRUE(owners.have_one(first, leaves[i]));
    EXPECT_EQ(owners.owner(first), to[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, HandOver, testing::Values(CutRule::middle, CutRule::domains),
                         [](const auto& kind) {
                           return kind.param == CutRule::middle ? "middle" : "domains";
                         });

}  // namespace
}  // namespace grove
