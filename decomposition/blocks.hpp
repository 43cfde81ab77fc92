#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/domain.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// A cell of the ORB with at most Domain::block_leaves leaves, whose parent has more. All leaves of a block
/// have one owner, so that it may be cut anew without the other ranks.
struct Block {
  std::int32_t cell;        ///< its number in Domain::cells
  std::int32_t first_leaf;  ///< and the leaves it has
  std::int32_t leaves;
};

/// All blocks, left to right. Cost: O(cells above them).
std::vector<Block> blocks_of(const Domain& domain);

/// Puts new subtrees in the place of blocks. cells (in/out): of the ORB, breadth-first; bounds of the cells
/// above the blocks become those of what is below. roots (in): numbers of the cells; subtrees (in): of each,
/// root first, children counted from it, with as many leaves as before. Cost: O(cells).
void replace_subtrees(std::vector<Cell>& cells, std::span<const std::int32_t> roots,
                      std::span<const std::vector<Cell>> subtrees);

}  // namespace grove
