#include "decomposition/blocks.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/math/cell_walk.hpp"
#include "kernels/math/leaf_numbers.hpp"

namespace grove {
namespace {

/// The cells below the first one, level by level, siblings adjacent.
std::vector<Cell> breadth_first(const std::vector<Cell>& cells) {
  std::vector<Cell> ordered{cells[0]};
  ordered.reserve(cells.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(ordered[i].child);
    ordered[i].child = static_cast<std::int32_t>(ordered.size());
    ordered.push_back(cells[child]);
    ordered.push_back(cells[child + 1]);
  }
  return ordered;
}

/// Geometric cells, those above domain cells, keep the bounds that they were halved with: these say which
/// places are whose (KeyRanges).
void bound_by_children(std::vector<Cell>& cells, Count domain_cell) {
  for (std::size_t c = cells.size(); c-- > 0;) {
    const bool is_geometric = domain_cell > 0 && !cells[c].is_whole(domain_cell);
    if (cells[c].is_leaf() || is_geometric) continue;
    const Cell &left = cells[static_cast<std::size_t>(cells[c].child)],
               &right = cells[static_cast<std::size_t>(cells[c].child) + 1];
    for (int axis = 0; axis < 3; ++axis) {
      cells[c].low[axis] = std::min(left.low[axis], right.low[axis]);
      cells[c].high[axis] = std::max(left.high[axis], right.high[axis]);
    }
  }
}

}  // namespace

std::vector<Block> blocks_of(const Domain& domain) {
  std::vector<Block> blocks;
  if (domain.cells.empty()) return blocks;
  const std::int32_t end = domain.known_leaf + static_cast<std::int32_t>(domain.leaf_cell.size());
  walk_cells(domain.cells, 0, [&](std::int32_t index, const Cell& cell) {
    if (cell.first_leaf >= end || cell.first_leaf + cell.leaves <= domain.known_leaf) return false;
    if (cell.leaves > domain.block_leaves && !cell.is_leaf()) return true;
    blocks.push_back({index, cell.first_leaf, cell.leaves});
    return false;
  });
  return blocks;
}

bool have_shared_blocks(const Domain& domain) { return domain.block_leaves > 1 && domain.domain_cell == 0; }

std::vector<std::int32_t> mostly_due(const Domain& domain, std::span<const Block> blocks,
                                     const std::vector<bool>& is_due) {
  std::vector<Count> due(domain.cells.size(), 0);
  std::vector<bool> is_block(domain.cells.size(), false);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto cell = static_cast<std::size_t>(blocks[b].cell);
    is_block[cell] = true;
    if (is_due[b]) due[cell] = domain.cells[cell].count;
  }
  for (std::size_t c = domain.cells.size(); c-- > 0;)
    if (const Cell& cell = domain.cells[c]; !cell.is_leaf() && !is_block[c])
      due[c] = due[static_cast<std::size_t>(cell.child)] + due[static_cast<std::size_t>(cell.child) + 1];
  std::vector<std::int32_t> chosen;
  walk_cells(domain.cells, 0, [&](std::int32_t index, const Cell& cell) {
    const Count own = due[static_cast<std::size_t>(index)];
    // Only below geometric cells do counts tell the leaves.
    const bool may_be_chosen = domain.domain_cell == 0 || cell.is_whole(domain.domain_cell);
    const bool is_chosen = may_be_chosen && own > 0 && 2 * own >= cell.count;
    if (is_chosen) chosen.push_back(index);
    return own > 0 && !is_chosen && !is_block[static_cast<std::size_t>(index)];
  });
  return chosen;
}

void replace_subtrees(Domain& domain, std::span<const std::int32_t> roots,
                      std::span<const std::vector<Cell>> subtrees) {
  std::vector<Cell> cells = std::move(domain.cells);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    Cell& root = cells[static_cast<std::size_t>(roots[i])];
    if (subtrees[i].empty() || subtrees[i][0].leaves != root.leaves)
      throw std::logic_error("a block has other leaves than before");
    const auto offset = static_cast<std::int32_t>(cells.size()) - 1;  // the root has its place already
    root = subtrees[i][0];
    if (!root.is_leaf()) root.child += offset;
    for (std::size_t c = 1; c < subtrees[i].size(); ++c) {
      cells.push_back(subtrees[i][c]);
      if (!cells.back().is_leaf()) cells.back().child += offset;
    }
  }
  cells = breadth_first(cells);
  bound_by_children(cells, domain.domain_cell);
  number_leaves(cells);
  const std::int32_t end = domain.known_leaf + static_cast<std::int32_t>(domain.leaf_cell.size());
  domain.take_cells(std::move(cells), domain.known_leaf, end);
}

}  // namespace grove
