#include "decomposition/whole_cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/math/cell_walk.hpp"

namespace grove {

std::vector<Count> sums_of_runs(std::span<const Count> values, std::span<const std::int32_t> begin) {
  std::vector<Count> result;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i)
    result.push_back(std::accumulate(values.begin() + begin[i], values.begin() + begin[i + 1], Count{0}));
  return result;
}

WholeCells::WholeCells(const Domain& domain) {
  walk_cells(domain.cells, 0, [&](std::int32_t, const Cell& cell) {
    if (!cell.is_leaf() && !cell.is_whole(domain.domain_cell)) return true;
    first_leaf_.push_back(cell.first_leaf);
    return false;
  });
  first_leaf_.push_back(domain.leaves());
}

std::vector<std::int32_t> WholeCells::of_leaves(std::vector<std::int32_t> runs) const {
  for (std::int32_t& begin : runs)
    begin = static_cast<std::int32_t>(std::lower_bound(first_leaf_.begin(), first_leaf_.end(), begin) -
                                      first_leaf_.begin());
  return runs;
}

std::vector<std::int32_t> WholeCells::to_leaves(std::vector<std::int32_t> runs) const {
  for (std::int32_t& begin : runs) begin = first_leaf_[static_cast<std::size_t>(begin)];
  return runs;
}

namespace {

/// Some own whole cells, one after the other, that are to go to one rank.
struct Share {
  IntegerPosition begin;
  int rank;
  Count weight;
};

/// The work of ranks as it is, and whose the own whole cells should be.
class ShareFinder {
 public:
  ShareFinder(const Domain& domain, const Shares& shares, int own_rank)
      : domain_(domain), shares_(shares), own_rank_(own_rank), weight_(domain.first_leaf.size() - 1, 0) {
    visit(0, {0, 0, 0});
  }
  std::span<const Count> weight() const { return weight_; }  ///< by rank
  std::span<const Share> own() const { return own_; }

 private:
  void visit(std::int32_t index, const IntegerPosition& begin) {
    const Cell& cell = domain_.cells[static_cast<std::size_t>(index)];
    const int first = domain_.owner(cell.first_leaf), last = domain_.owner(cell.first_leaf + cell.leaves - 1);
    const bool is_end = cell.is_leaf() || cell.is_whole(domain_.domain_cell);
    if (!is_end && (first != last || first == own_rank_)) {
      visit(cell.child, begin);
      visit(cell.child + 1, right_half(cell.low, cell.high));
      return;
    }
    if (first == own_rank_) share_out(cell, begin);
    weight_[static_cast<std::size_t>(first)] += cell.weight;
    before_ += cell.weight;
  }
  void share_out(const Cell& cell, const IntegerPosition& begin) {
    const int rank = shares_.owner(before_, cell.weight);
    if (own_.empty() || own_.back().rank != rank) own_.push_back({begin, rank, 0});
    own_.back().weight += cell.weight;
  }

  const Domain& domain_;
  const Shares& shares_;
  int own_rank_;
  std::vector<Count> weight_;
  std::vector<Share> own_;
  Count before_ = 0;  ///< weight to the left
};

}  // namespace

KeyRanges balanced_parts(const Communicator& comm, const Domain& domain, const Shares& shares) {
  constexpr Count part_of_noise = 32;
  constexpr std::size_t usual = 3;  // the left neighbour's, the own one, the right neighbour's
  const auto is_longer = [](Count now, Count then) { return now > then + then / part_of_noise; };
  const ShareFinder found(domain, shares, comm.rank());
  const Count now = shares.longest(found.weight());
  if (is_longer(now, domain.cells[0].weight / comm.size())) {
    std::vector<Count> weight(found.weight().size(), 0);
    std::vector<KeyRanges::Part> parts;
    for (const Share& share : comm.all_gather_few(found.own(), usual)) {
      weight[static_cast<std::size_t>(share.rank)] += share.weight;
      if (parts.empty() || parts.back().rank != share.rank) parts.push_back({share.begin, share.rank});
    }
    if (is_longer(now, shares.longest(weight))) return KeyRanges(std::move(parts));
  }
  return {domain, domain.first_leaf};
}

}  // namespace grove
