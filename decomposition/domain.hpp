#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/table_bytes.hpp"
#include "base/types.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

class Communicator;

/// The rank that owns a leaf. first_leaf: of each rank, length P + 1. Cost: log P.
int owner_of(std::int32_t leaf, std::span<const std::int32_t> first_leaf);

/// The result of a decomposition: the cells of the ORB, the same on every rank, and which rank owns which
/// leaves.
///
/// Leaves are numbered left to right; a rank owns a contiguous run of them. The cells and leaves do not
/// depend on the number of ranks; the runs do.
struct Domain {
  Box box;
  Count leaf_size = 0;            ///< the most particles in a leaf; under `halves` their mean, rounded up
  std::int32_t block_leaves = 1;  ///< the most leaves of a block (blocks.hpp)
  std::vector<Cell> cells;        ///< breadth-first; cells[0] is the root; siblings are neighbours
  Count domain_cell = 0;          ///< CutScheme::domain_cell
  std::vector<std::int32_t> leaf_cell;   ///< index of the cell of each leaf, length leaves()
  std::vector<std::int32_t> first_leaf;  ///< first leaf of each rank, length P + 1

  /// The first particle of each leaf of this rank in its particle arrays, length own leaves + 1.
  std::vector<Count> leaf_begin;

  std::int32_t leaves() const { return static_cast<std::int32_t>(leaf_cell.size()); }
  const Cell& leaf(std::int32_t index) const {
    return cells[static_cast<std::size_t>(leaf_cell[static_cast<std::size_t>(index)])];
  }
  /// The rank that owns a leaf. Cost: log P.
  int owner(std::int32_t leaf_index) const { return owner_of(leaf_index, first_leaf); }
  /// Makes these the runs of the ranks: length P + 1, ascending from 0 to leaves(); else std::logic_error.
  void give_out(std::vector<std::int32_t> runs, const Communicator& comm);
  /// The bytes of these tables.
  TableBytes tables() const;
};

}  // namespace grove
