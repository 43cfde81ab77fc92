// The domain cells of a rank, and the cuts in them.
#include "decomposition/domain_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/distributions.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

/// The beginnings and ends of the leaves that the cuts of a cell make, in its particles.
std::set<std::pair<Count, Count>> leaves_of(const DomainCells& own, const DomainCell& cell) {
  std::set<std::pair<Count, Count>> parts{{0, cell.count}};
  for (std::uint32_t c = cell.first_cut; c < cell.first_cut + cell.cuts; ++c) {
    const CountedCut& cut = own.cuts[c];
    EXPECT_EQ(parts.erase({cut.first, cut.first + cut.count}), 1U) << "parents come first";
    parts.insert({cut.first, cut.first + cut.left});
    parts.insert({cut.first + cut.left, cut.first + cut.count});
  }
  return parts;
}

TEST(DomainCells, areCutToTheLeaves) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const testing::Shape shape :
       {testing::Shape::plummer, testing::Shape::uniform, testing::Shape::point}) {
    const SharedDomain shared =
        share_out(comm, testing::make_shape(shape, 20000), 64, {}, CutRule::domains, 1000);
    const std::vector<Count>& leaf_begin = shared.domain.leaf_begin;
    const DomainCells own = domain_cells(shared.domain);
    std::int32_t next = 0;
    for (const DomainCell& cell : own.cells) {
      EXPECT_GE(cell.first_leaf, next);
      for (; next < cell.first_leaf; ++next)
        EXPECT_LE(leaf_begin[static_cast<std::size_t>(next) + 1] - leaf_begin[static_cast<std::size_t>(next)],
                  64);
      next += cell.leaves;
      EXPECT_EQ(cell.first,
                static_cast<std::uint64_t>(leaf_begin[static_cast<std::size_t>(cell.first_leaf)]));
      EXPECT_GT(cell.leaves, 1);
      if (shape != testing::Shape::point) {
        EXPECT_LE(cell.count, 1000U);
      }
      std::set<std::pair<Count, Count>> leaves;
      for (std::int32_t leaf = cell.first_leaf; leaf < cell.first_leaf + cell.leaves; ++leaf) {
        const Count begin = leaf_begin[static_cast<std::size_t>(leaf)] - static_cast<Count>(cell.first);
        leaves.insert(
            {begin, leaf_begin[static_cast<std::size_t>(leaf) + 1] - static_cast<Count>(cell.first)});
      }
      EXPECT_EQ(leaves_of(own, cell), leaves);
    }
    EXPECT_LE(static_cast<std::size_t>(next), leaf_begin.size() - 1);
    const Count cells = comm.sum(static_cast<Count>(own.cells.size()));
    EXPECT_GE(cells, shape == testing::Shape::point ? 1 : 20);
  }
}

TEST(DomainCells, areNoneUnderOtherRules) {
  const Communicator comm(MPI_COMM_WORLD);
  const SharedDomain shared = share_out(comm, testing::make_shape(testing::Shape::plummer, 5000), 64);
  EXPECT_TRUE(domain_cells(shared.domain).cells.empty());
}

}  // namespace
}  // namespace grove
