#include "decomposition/domain_cells.hpp"

#include <cstddef>
#include <utility>

namespace grove {
namespace {

/// Adds the cuts of a domain cell, parents first.
void add_cuts(const Domain& domain, std::int32_t root, std::vector<CountedCut>& cuts) {
  const Count begin = domain.cells[static_cast<std::size_t>(root)].first;
  std::vector<std::pair<std::int32_t, std::int32_t>> stack{{root, 0}};  // cells and their depths
  while (!stack.empty()) {
    const auto [number, depth] = stack.back();
    stack.pop_back();
    const Cell& cell = domain.cells[static_cast<std::size_t>(number)];
    if (cell.is_leaf()) continue;
    const Cell &left = domain.cells[static_cast<std::size_t>(cell.child)],
               &right = domain.cells[static_cast<std::size_t>(cell.child) + 1];
    cuts.push_back({static_cast<std::uint32_t>(cell.first - begin), static_cast<std::uint32_t>(cell.count),
                    static_cast<std::uint32_t>(left.count), depth, left.is_leaf(), right.is_leaf()});
    stack.emplace_back(cell.child + 1, depth + 1);
    stack.emplace_back(cell.child, depth + 1);
  }
}

}  // namespace

DomainCells domain_cells(const Domain& domain) {
  DomainCells own;
  if (domain.domain_cell == 0 || domain.cells.empty()) return own;
  std::vector<std::int32_t> stack{0};
  while (!stack.empty()) {
    const std::int32_t number = stack.back();
    stack.pop_back();
    const Cell& cell = domain.cells[static_cast<std::size_t>(number)];
    if (cell.is_leaf() || domain.own.among(cell.first_leaf, cell.leaves) == 0) continue;
    if (!cell.is_whole(domain.domain_cell)) {
      stack.push_back(cell.child + 1);
      stack.push_back(cell.child);
      continue;
    }
    const auto first_cut = static_cast<std::uint32_t>(own.cuts.size());
    add_cuts(domain, number, own.cuts);
    const std::int32_t leaf = domain.own.before(cell.first_leaf);
    own.cells.push_back({static_cast<std::uint64_t>(domain.leaf_begin[static_cast<std::size_t>(leaf)]),
                         static_cast<std::uint32_t>(cell.count), leaf, static_cast<std::int32_t>(cell.leaves),
                         first_cut, static_cast<std::uint32_t>(own.cuts.size()) - first_cut});
  }
  return own;
}

}  // namespace grove
