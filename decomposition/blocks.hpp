#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/domain.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// A cell of the ORB with at most Domain::block_leaves leaves, whose parent has more: what its trees cost is
/// counted together.
struct Block {
  std::int32_t cell;        ///< its number in Domain::cells
  std::int32_t first_leaf;  ///< and the leaves it has
  std::int32_t leaves;
};

/// All blocks of leaves that are known, left to right. Cost: O(cells above them).
std::vector<Block> blocks_of(const Domain& domain);

/// True if a block may have leaves of several ranks: then all ranks have to know all blocks, and all cells.
/// No block is larger than a domain cell, which lies on one.
bool have_shared_blocks(const Domain& domain);

/// The largest cells of whose particles at least half are in blocks that are due, left to right: particles of
/// such blocks have gone to their neighbours, and cutting all of them together catches these. None is larger
/// than a domain cell. is_due: by block. Cost: O(cells).
std::vector<std::int32_t> mostly_due(const Domain& domain, std::span<const Block> blocks,
                                     const std::vector<bool>& is_due);

/// Puts new subtrees in the place of cells. domain (in/out): bounds of the cells above become
/// those of what is below, but those of cells larger than a domain cell stay. roots (in): numbers of the
/// cells; subtrees (in): of each, root first, children counted from it, with as many leaves as before. Cost:
/// O(cells).
void replace_subtrees(Domain& domain, std::span<const std::int32_t> roots,
                      std::span<const std::vector<Cell>> subtrees);

}  // namespace grove
