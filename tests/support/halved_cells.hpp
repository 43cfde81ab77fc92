#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decomposition/domain_cells.hpp"

namespace grove::testing {

/// The cuts of a cell of these leaves, each of which divides them by halves. begin: of the domain cell.
inline void add_halving_cuts(std::span<const Count> leaf_begin, Count begin, std::int32_t depth,
                             std::vector<CountedCut>& cuts) {
  const std::size_t leaves = leaf_begin.size() - 1, left = leaves / 2;
  if (leaves < 2) return;
  const Count first = leaf_begin.front();
  cuts.push_back(
      {static_cast<std::uint32_t>(first - begin), static_cast<std::uint32_t>(leaf_begin.back() - first),
       static_cast<std::uint32_t>(leaf_begin[left] - first), depth, left == 1, leaves - left == 1});
  add_halving_cuts(leaf_begin.first(left + 1), begin, depth + 1, cuts);
  add_halving_cuts(leaf_begin.subspan(left), begin, depth + 1, cuts);
}

/// Every `leaves` leaves from one on are a domain cell; what is left at the end is none.
inline DomainCells halved_cells(std::span<const Count> leaf_begin, std::size_t first_leaf,
                                std::size_t leaves) {
  DomainCells all;
  for (std::size_t leaf = first_leaf; leaf + leaves < leaf_begin.size(); leaf += leaves) {
    const auto first_cut = static_cast<std::uint32_t>(all.cuts.size());
    const Count first = leaf_begin[leaf];
    add_halving_cuts(leaf_begin.subspan(leaf, leaves + 1), first, 0, all.cuts);
    all.cells.push_back({static_cast<std::uint64_t>(first),
                         static_cast<std::uint32_t>(leaf_begin[leaf + leaves] - first),
                         static_cast<std::int32_t>(leaf), static_cast<std::int32_t>(leaves), first_cut,
                         static_cast<std::uint32_t>(all.cuts.size()) - first_cut});
  }
  return all;
}

}  // namespace grove::testing
