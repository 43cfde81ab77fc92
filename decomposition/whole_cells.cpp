#include "decomposition/whole_cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/math/cell_walk.hpp"

namespace grove {

WholeCells::WholeCells(const Domain& domain) : leaves_(domain.leaves()) {
  walk_cells(domain.cells, 0, [&](std::int32_t, const Cell& cell) {
    if (!domain.owners.have_one(cell.first_leaf, cell.leaves)) return true;
    if (!domain.own.holds(cell.first_leaf)) return false;
    if (!cell.is_leaf() && !cell.is_whole(domain.domain_cell)) return true;
    cells_.push_back(
        {cell.first_leaf, static_cast<std::int32_t>(cell.leaves), domain.own.before(cell.first_leaf)});
    return false;
  });
}

std::vector<Count> WholeCells::sums(std::span<const Count> by_leaf) const {
  std::vector<Count> sums;
  for (const Leaves& cell : cells_) {
    const auto begin = by_leaf.begin() + cell.own;
    sums.push_back(std::accumulate(begin, begin + cell.count, Count{0}));
  }
  return sums;
}

LeafOwners WholeCells::owners(const Communicator& comm, std::span<const int> to) const {
  std::vector<LeafOwners::Run> own;
  LeafNumber next = -1;  // leaf behind the last one
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (own.empty() || own.back().rank != to[i] || cells_[i].first != next)
      own.push_back({cells_[i].first, to[i]});
    next = cells_[i].first + cells_[i].count;
  }
  std::vector<LeafOwners::Run> runs = comm.all_gather_arrays(std::span<const LeafOwners::Run>(own));
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.first_leaf < b.first_leaf; });
  return {runs, leaves_, comm.size()};
}

namespace {

/// Own whole cells, one after the other, that are to go to one rank.
struct Share {
  IntegerPosition begin;
  int rank;
  Count weight;
};

/// The work of ranks as it is, and the own whole cells.
class ShareFinder {
 public:
  ShareFinder(const Domain& domain, Count particle_work, int own_rank)
      : domain_(domain),
        particle_work_(particle_work),
        own_rank_(own_rank),
        weight_(static_cast<std::size_t>(domain.owners.ranks()), 0) {
    visit(0, {0, 0, 0});
  }
  std::span<const Count> weight() const { return weight_; }  ///< by rank

  /// Whose the own ones should be.
  std::vector<Share> own(const Shares& shares) const {
    Count before = std::accumulate(weight_.begin(), weight_.begin() + own_rank_, Count{0});
    std::vector<Share> own;
    LeafNumber next = -1;  // leaf behind the last one
    for (const OwnCell& cell : own_) {
      const int rank = shares.owner(before, cell.weight);
      if (own.empty() || own.back().rank != rank || cell.first_leaf != next)
        own.push_back({cell.begin, rank, 0});
      own.back().weight += cell.weight;
      before += cell.weight;
      next = cell.first_leaf + cell.leaves;
    }
    return own;
  }

 private:
  struct OwnCell {
    IntegerPosition begin;
    LeafNumber first_leaf, leaves;
    Count weight;
  };

  void visit(std::int32_t index, const IntegerPosition& begin) {
    const Cell& cell = domain_.cells[static_cast<std::size_t>(index)];
    const int first = domain_.owners.owner(cell.first_leaf);
    const bool is_end = cell.is_leaf() || cell.is_whole(domain_.domain_cell),
               has_one = domain_.owners.have_one(cell.first_leaf, cell.leaves);
    if (!is_end && (!has_one || first == own_rank_)) {
      visit(cell.child, begin);
      visit(cell.child + 1, right_half(cell.low, cell.high));
      return;
    }
    const Count weight = cell.weight + particle_work_ * cell.count;
    if (first == own_rank_) own_.push_back({begin, cell.first_leaf, cell.leaves, weight});
    weight_[static_cast<std::size_t>(first)] += weight;
  }

  const Domain& domain_;
  Count particle_work_;
  int own_rank_;
  std::vector<Count> weight_;
  std::vector<OwnCell> own_;  ///< left to right
};

}  // namespace

KeyRanges balanced_parts(const Communicator& comm, const Domain& domain, Count particle_work,
                         const Shares& shares, bool by_rungs) {
  const Count part_of_noise = by_rungs ? 8 : 32;
  constexpr std::size_t usual = 8;  // of a few runs, and what goes to neighbours
  const auto is_longer = [=](Count now, Count then) { return now > then + then / part_of_noise; };
  const ShareFinder found(domain, particle_work, comm.rank());
  const Count now = shares.longest(found.weight());
  const Count all = domain.cells[0].weight + particle_work * domain.cells[0].count;
  if (is_longer(now, all / comm.size())) {
    const std::vector<Share> own = found.own(shares);
    std::vector<Share> told = comm.all_gather_few(std::span<const Share>(own), usual);
    std::sort(told.begin(), told.end(),
              [](const auto& a, const auto& b) { return comes_before(a.begin, b.begin); });
    std::vector<Count> weight(found.weight().size(), 0);
    std::vector<KeyRanges::Part> parts;
    for (const Share& share : told) {
      weight[static_cast<std::size_t>(share.rank)] += share.weight;
      if (parts.empty() || parts.back().rank != share.rank) parts.push_back({share.begin, share.rank});
    }
    if (is_longer(now, shares.longest(weight))) return KeyRanges(std::move(parts));
  }
  return KeyRanges(domain);
}

}  // namespace grove
