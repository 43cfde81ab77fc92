#include "decomposition/hand_over.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/array.hpp"
#include "comm/exchange_plan.hpp"
#include "decomposition/cover_rule.hpp"
#include "decomposition/join_cells.hpp"

namespace grove {

Holdings::Holdings(const Domain& domain) : first(static_cast<std::size_t>(domain.owners.ranks()) + 1, 0) {
  struct Found {
    int rank;
    std::int32_t index, from;
  };
  std::vector<Found> found;
  std::vector<std::int32_t> place{0};  // of each of `cells` in the domain
  cells = {domain.cells[0]};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Cell& cell = cells[i];
    const std::int32_t child = std::exchange(cell.child, -1);
    if (domain.owners.have_one(cell.first_leaf, cell.leaves)) {
      found.push_back({domain.owners.owner(cell.first_leaf), static_cast<std::int32_t>(i), place[i]});
      continue;
    }
    cell.child = static_cast<std::int32_t>(cells.size());
    place.insert(place.end(), {child, child + 1});
    const auto left = static_cast<std::size_t>(child);
    cells.insert(cells.end(), {domain.cells[left], domain.cells[left + 1]});
  }
  std::sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
    const auto leaf = [&](const Found& f) { return cells[static_cast<std::size_t>(f.index)].first_leaf; };
    return std::pair(a.rank, leaf(a)) < std::pair(b.rank, leaf(b));
  });
  for (const Found& f : found) {
    held.push_back(f.index);
    from.push_back(f.from);
    ++first[static_cast<std::size_t>(f.rank) + 1];
  }
  for (std::size_t rank = 1; rank < first.size(); ++rank) first[rank] += first[rank - 1];
}

std::vector<Cell> cells_below(const Domain& domain, const Holdings& holdings, int rank) {
  std::vector<Cell> all;
  for (std::int32_t h = holdings.first[static_cast<std::size_t>(rank)];
       h < holdings.first[static_cast<std::size_t>(rank) + 1]; ++h) {
    const std::vector<Cell> subtree = subtree_of(domain.cells, holdings.from[static_cast<std::size_t>(h)],
                                                 [](const Cell&) { return true; });
    all.insert(all.end(), subtree.begin(), subtree.end());
  }
  return all;
}

namespace {

/// Subtrees one after the other.
class Subtrees {
 public:
  explicit Subtrees(std::vector<Cell> cells) : cells_(std::move(cells)) {}

  std::span<const Cell> next() {
    const std::size_t size = subtree_size(cells_, at_);
    return std::span<const Cell>(cells_).subspan(std::exchange(at_, at_ + size), size);
  }

 private:
  std::vector<Cell> cells_;
  std::size_t at_ = 0;
};

/// The cells of a domain on their way to those that need them.
class HandOver {
 public:
  HandOver(const Communicator& comm, const Domain& domain, const LeafOwners& to)
      : comm_(comm),
        domain_(domain),
        to_(to),
        is_cover_(domain.cells[0].count, to),
        holdings_(domain),
        is_covered_(holdings_.cells.size(), 0) {
    comm.together([&] { own_ = to.own(comm.rank()); });
    for (std::size_t i = 0; i < is_covered_.size(); ++i) {
      const Cell& cell = holdings_.cells[i];
      if (is_cover_(cell)) is_covered_[i] = 1;
      if (cell.is_leaf()) continue;
      const auto child = static_cast<std::size_t>(cell.child);
      is_covered_[child] = is_covered_[child + 1] = is_covered_[i];
    }
  }

  /// The cells that this rank needs to know. Collective.
  std::vector<Cell> cells() const {
    Subtrees to_all(comm_.all_gather_arrays(std::span<const Cell>(for_all()))), to_this(arrived());
    std::vector<std::int32_t> uncut;
    std::vector<Cell> below;
    for (std::size_t number = 0; number < holdings_.held.size(); ++number) {
      const std::int32_t index = holdings_.held[number];
      const Cell& cell = holdings_.cells[static_cast<std::size_t>(index)];
      std::vector<Cell> staying;
      std::span<const Cell> subtree;
      if (is_covered_[static_cast<std::size_t>(index)] == 0) subtree = to_all.next();
      if (own_.among(cell.first_leaf, cell.leaves) > 0) {  // with all of the former
        const bool stays = domain_.owners.owner(cell.first_leaf) == comm_.rank();
        if (stays) staying = subtree_for(number, comm_.rank());
        subtree = stays ? std::span<const Cell>(staying) : to_this.next();
      }
      if (subtree.empty()) continue;
      uncut.push_back(index);
      below.insert(below.end(), subtree.begin(), subtree.end());
    }
    const std::vector<Cell> joined = join_cells(holdings_.cells, uncut, below);
    return subtree_of(joined, 0, [&](const Cell& cell) { return is_cover_.needs_below(cell, comm_.rank()); });
  }

 private:
  /// The cells of one of this rank's holdings that a rank needs to know.
  std::vector<Cell> subtree_for(std::size_t number, int rank) const {
    return subtree_of(domain_.cells, holdings_.from[number],
                      [&](const Cell& cell) { return is_cover_.needs_below(cell, rank); });
  }
  /// Calls visit(number, cell) for each of this rank's holdings.
  template <class Visit>
  void for_each_held(const Visit& visit) const {
    const auto rank = static_cast<std::size_t>(comm_.rank());
    for (std::int32_t h = holdings_.first[rank]; h < holdings_.first[rank + 1]; ++h) {
      const auto number = static_cast<std::size_t>(h);
      visit(number, holdings_.cells[static_cast<std::size_t>(holdings_.held[number])]);
    }
  }

  /// The cells of this rank's holdings down to covers, which all ranks need to know.
  std::vector<Cell> for_all() const {
    std::vector<Cell> all;
    for_each_held([&](std::size_t number, const Cell&) {
      if (is_covered_[static_cast<std::size_t>(holdings_.held[number])]) return;
      const std::vector<Cell> subtree = subtree_of(domain_.cells, holdings_.from[number],
                                                   [&](const Cell& cell) { return !is_cover_(cell); });
      all.insert(all.end(), subtree.begin(), subtree.end());
    });
    return all;
  }

  /// The cells of other ranks' holdings in which this rank is to have leaves, rank by rank. Collective.
  std::vector<Cell> arrived() const {
    std::vector<std::vector<Cell>> leaving(static_cast<std::size_t>(comm_.size()));
    for_each_held([&](std::size_t number, const Cell& cell) {
      for (const int rank : to_.owners(cell.first_leaf, cell.leaves)) {
        if (rank == comm_.rank()) continue;
        const std::vector<Cell> subtree = subtree_for(number, rank);
        std::vector<Cell>& out = leaving[static_cast<std::size_t>(rank)];
        out.insert(out.end(), subtree.begin(), subtree.end());
      }
    });
    std::vector<Count> counts;
    Array<Cell> cells;
    for (std::vector<Cell>& some : leaving) {
      counts.push_back(static_cast<Count>(some.size()));
      cells.insert(cells.end(), some.begin(), some.end());
      std::vector<Cell>().swap(some);
    }
    ExchangePlan(comm_, counts).apply(cells);
    return {cells.begin(), cells.end()};
  }

  const Communicator& comm_;
  const Domain& domain_;
  const LeafOwners& to_;
  OwnLeaves own_;
  CoverRule is_cover_;
  Holdings holdings_;
  std::vector<char> is_covered_;  ///< by cell of the holdings: it is one of the new covers, or lies in one
};

}  // namespace

void hand_over(const Communicator& comm, Domain& domain, LeafOwners to) {
  if (to.ranks() != comm.size() || to.leaves() != domain.leaves())
    throw std::logic_error("owners of other leaves, or other ranks");
  domain.take_part(HandOver(comm, domain, to).cells(), to.own(comm.rank()));
  domain.give_out(std::move(to), comm);
}

}  // namespace grove
