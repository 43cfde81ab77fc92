#include "let/reach.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "decomposition/known_cells.hpp"
#include "let/receivers.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

/// Clumps of particles in leaves of 32, as several ranks would own and know them.
class Ranks {
 public:
  explicit Ranks(int ranks, int runs_of_a_rank = 1) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    particles_.reset(6000);
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      const double clump = static_cast<double>(i % 5), size = 0.02 * (1 + clump);
      particles_.position[i] = {clump + size * normal(random), 0.3 * clump * clump + size * normal(random),
                                uniform(random)};
      particles_.mass[i] = 1 + uniform(random);
      particles_.id[i] = i;
      particles_.old_acceleration[i] = static_cast<float>(1 + clump);
      particles_.rung[i] = clump < 2 ? 1 : 0;
    }
    grown_.prepare(particles_);
    grown_.sort(particles_, 32);
    grown_.build(particles_);
    GravityParameters gravity;
    gravity.delta = 0.01;
    grown_.forest.update(particles_, gravity, grown_.units, 1, 1);
    rule_ = AcceptanceRule::of(gravity, grown_.units, 1);
    domain_.cells = grown_.cells;
    const int number = ranks * runs_of_a_rank;
    std::vector<LeafOwners::Run> runs;
    for (int run = 0; run < number; ++run)
      runs.push_back({grown_.forest.leaves() * run / number, run % ranks});
    domain_.owners = {runs, grown_.forest.leaves(), ranks};
    for (int rank = 0; rank < ranks; ++rank) known_.push_back(known_cells(domain_, rank));
    combine();
  }

  const Domain& domain() const { return domain_; }
  const KnownCells& known(int rank) const { return known_[static_cast<std::size_t>(rank)]; }
  const TopTree top(int rank) const { return tops_[static_cast<std::size_t>(rank)].view(); }
  const std::vector<Wanted>& wanted() const { return wanted_; }
  double unit() const { return grown_.units.length; }
  TopMoments whole() const {
    TopMoments all;
    all.combine(grown_.cells, roots(OwnLeaves::all(grown_.forest.leaves())), grown_.units, rule_);
    return all;
  }

 private:
  std::vector<LeafRoot> roots(const OwnLeaves& own) const {
    std::vector<LeafRoot> roots;
    for (std::int32_t i = 0; i < own.size(); ++i) roots.push_back(grown_.forest.root(own.leaf(i)));
    return roots;
  }
  /// As messages would bring it about.
  void combine() {
    std::vector<TopMoments::Sum> sums;
    for (std::size_t rank = 0; rank < known_.size(); ++rank) {
      const KnownCells& known = known_[rank];
      const OwnLeaves own = domain_.owners.own(static_cast<int>(rank));
      tops_.emplace_back().begin(known.cells, own, roots(own), grown_.units, rule_);
      for (std::int32_t c = known.first_cover[rank]; c < known.first_cover[rank + 1]; ++c) {
        sums.push_back(tops_.back().sum(known.cover[static_cast<std::size_t>(c)]));
        Wanted& wanted = wanted_.emplace_back(Wanted::nothing());
        const Cell& cell = known.cover_cell(c);
        for (std::int32_t leaf = cell.first_leaf; leaf < cell.first_leaf + cell.leaves; ++leaf) {
          const TargetLeaf target = grown_.forest.target(leaf);
          wanted = Wanted::united_if_any(
              wanted, LeafTargets{target.bounds, target.origin, target.ball}.wanted(grown_.units.length));
        }
      }
    }
    for (std::size_t rank = 0; rank < known_.size(); ++rank) {
      for (std::size_t cover = 0; cover < sums.size(); ++cover)
        tops_[rank].take(known_[rank].cover[cover], sums[cover]);
      tops_[rank].finish();
    }
  }

  Particles particles_;
  testing::Grown grown_;
  AcceptanceRule rule_;
  Domain domain_;
  std::vector<KnownCells> known_;
  std::vector<TopMoments> tops_;
  std::vector<Wanted> wanted_;
};

constexpr int all_ranks = 7;

TEST(KnownCells, are_covers_of_all_ranks_what_is_above_and_all_below_own_ones) {
  for (const int runs_of_a_rank : {1, 3}) {
    const Ranks ranks(all_ranks, runs_of_a_rank);
    const Domain& domain = ranks.domain();
    const Count most = domain.cells[0].count / (4 * all_ranks);
    for (int rank = 0; rank < all_ranks; ++rank) {
      const KnownCells& known = ranks.known(rank);
      ASSERT_EQ(known.cover.size(), ranks.known(0).cover.size());
      std::vector<int> covers(static_cast<std::size_t>(domain.leaves()), 0);  // by leaf
      for (std::int32_t c = 0; c < known.first_cover.back(); ++c) {
        const Cell& cover = known.cover_cell(c);
        EXPECT_TRUE(cover.count <= most || cover.leaves == 1);
        for (std::int32_t leaf = cover.first_leaf; leaf < cover.first_leaf + cover.leaves; ++leaf) {
          ++covers[static_cast<std::size_t>(leaf)];
          EXPECT_EQ(known.owner(c), domain.owners.owner(leaf));
        }
        EXPECT_EQ(cover.is_leaf(), cover.leaves == 1 || known.owner(c) != rank);
        Cell other = ranks.known(0).cover_cell(c);
        other.child = cover.child;
        EXPECT_EQ(cover, other) << "ranks know the same of it";
      }
      EXPECT_EQ(covers, std::vector<int>(covers.size(), 1));
      std::set<std::int32_t> own_leaves;
      for (const Cell& cell : known.cells) {
        if (cell.leaves == 1 && domain.owners.owner(cell.first_leaf) == rank)
          own_leaves.insert(cell.first_leaf);
      }
      EXPECT_EQ(static_cast<std::int32_t>(own_leaves.size()), domain.owners.own(rank).size());
      // A run of at most 27 leaves has at most 2 (log2 27 + 4) covers: those of its ends, and 4 times a
      // quarter.
      EXPECT_LE(known.cells.size(),
                2 * (own_leaves.size() + static_cast<std::size_t>(18 * runs_of_a_rank * all_ranks)));
    }
  }
}

TEST(TopMoments, of_cells_that_ranks_know_are_those_of_the_whole_tree_bit_for_bit) {
  for (const int runs_of_a_rank : {1, 3}) {
    const Ranks ranks(all_ranks, runs_of_a_rank);
    const TopMoments whole = ranks.whole();
    const TopTree expected = whole.view();
    for (int rank = 0; rank < all_ranks; ++rank) {
      const std::span<const Cell> cells = ranks.known(rank).cells;
      const TopTree top = ranks.top(rank);
      std::vector<std::int32_t> in_whole = {0};  // by known cell
      for (std::size_t n = 0; n < cells.size(); ++n) {
        const auto w = in_whole[n];
        EXPECT_EQ(std::memcmp(&top.core[n], &expected.core[w], sizeof(NodeCore)), 0);
        EXPECT_EQ(std::memcmp(&top.moments[n], &expected.moments[w], sizeof(NodeMoments)), 0);
        EXPECT_EQ(top.centre[n], expected.centre[w]);
        if (cells[n].is_leaf()) continue;
        const std::int32_t child = ranks.domain().cells[static_cast<std::size_t>(w)].child;
        in_whole.resize(std::max(in_whole.size(), static_cast<std::size_t>(cells[n].child) + 2));
        in_whole[static_cast<std::size_t>(cells[n].child)] = child;
        in_whole[static_cast<std::size_t>(cells[n].child) + 1] = child + 1;
      }
    }
  }
}

/// Every pair of covers, by the definition; both ranks of a pair say the same.
TEST(Reach, has_all_pairs_of_covers_of_which_one_may_open_the_other) {
  for (const int runs_of_a_rank : {1, 3}) {
    const Ranks ranks(all_ranks, runs_of_a_rank);
    std::size_t pairs = 0;
    for (int rank = 0; rank < all_ranks; ++rank) {
      const KnownCells& known = ranks.known(rank);
      const TopTree top = ranks.top(rank);
      const Reach reach(known, top, ranks.wanted(), ranks.unit(), 0, rank);
      const auto part_of = [](std::span<const Reach::Part> parts, int other) {
        const auto part =
            std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.rank == other; });
        return part == parts.end() ? Reach::Part{other, {}, {}} : *part;
      };
      for (int other = 0; other < all_ranks; ++other) {
        const Reach::Part out = part_of(reach.out(), other), in = part_of(reach.in(), other);
        std::set<std::int32_t> own, theirs;
        for (std::int32_t a = 0; a < known.first_cover.back(); ++a)
          for (std::int32_t b = 0; b < known.first_cover.back(); ++b) {
            const Wanted& walks = ranks.wanted()[static_cast<std::size_t>(b)];
            const std::int32_t cell = known.cover[static_cast<std::size_t>(a)];
            if (known.owner(a) != rank || known.owner(b) != other || other == rank || walks.is_nothing() ||
                !walks.may_open(top.centre[cell], top.core[cell], ranks.unit(), {}))
              continue;
            own.insert(a);
            theirs.insert(b);
          }
        pairs += own.size();
        EXPECT_EQ(out.own, std::vector<std::int32_t>(own.begin(), own.end()));
        EXPECT_EQ(out.other, std::vector<std::int32_t>(theirs.begin(), theirs.end()));
        const Reach of_other(ranks.known(other), ranks.top(other), ranks.wanted(), ranks.unit(), 0, other);
        const Reach::Part mirror = part_of(of_other.in(), rank);
        EXPECT_EQ(mirror.own, out.other);
        EXPECT_EQ(mirror.other, out.own);
        EXPECT_EQ(mirror.is_near, out.is_near);
      }
      const auto first = static_cast<std::size_t>(known.first_cover[static_cast<std::size_t>(rank)]),
                 last = static_cast<std::size_t>(known.first_cover[static_cast<std::size_t>(rank) + 1]);
      if (std::all_of(ranks.wanted().begin() + static_cast<std::ptrdiff_t>(first),
                      ranks.wanted().begin() + static_cast<std::ptrdiff_t>(last),
                      [](const Wanted& w) { return w.is_nothing(); })) {
        EXPECT_TRUE(reach.in().empty()) << "nothing is active on rank " << rank;
      }
    }
    EXPECT_GT(pairs, 20u);
  }
}

/// A cover's box stands for its leaves: whatever they may open, it may.
TEST(ReceiverSearch, finds_more_in_a_cover_than_in_its_leaves) {
  const Ranks ranks(all_ranks);
  const WalkUnits units{ranks.unit(), 1};
  const TopTree top = ranks.top(0);
  const Wanted a{{0, 0, 0}, {0.4, 0.2, 0.1}, 30}, b{{0.5, 0.1, 0.3}, {0.6, 1, 0.4}, 20};
  const std::vector<LeafTargets> leaves = {LeafTargets::of(a, ranks.unit()),
                                           LeafTargets::of(b, ranks.unit())};
  const std::vector<LeafTargets> both = {LeafTargets::of(Wanted::united(a, b), ranks.unit())};
  const ReceiverSearch fine(leaves, units), coarse(both, units), none({}, units);
  int opened = 0, closed = 0;
  for (std::int32_t n = 0; n < top.nodes; ++n) {
    const bool may = fine.may_open(top.centre[n], top.core[n], top.balls[n]);
    opened += may, closed += !may;
    EXPECT_GE(coarse.may_open(top.centre[n], top.core[n], top.balls[n]), may);
    EXPECT_FALSE(none.may_open(top.centre[n], top.core[n], top.balls[n]));
    std::vector<Receiver> found;
    fine.find(top.centre[n], top.core[n], top.balls[n], {0, 0, 0}, found);
    EXPECT_EQ(may, !found.empty());
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(closed, 0);
}

}  // namespace
}  // namespace grove
