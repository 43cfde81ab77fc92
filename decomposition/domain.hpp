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

/// The result of a decomposition: the cells of the ORB, all or those that a rank needs to know (KnownCells),
/// and which rank owns which leaves.
///
/// Leaves are numbered left to right; a rank owns a contiguous run of them. The cells and leaves do not
/// depend on the number of ranks; the runs do. A cell that is known is the same on every rank, but for where
/// its children are.
struct Domain {
  Box box;
  Count leaf_size = 0;  ///< the most particles in a leaf; under `halves` their mean, rounded up
  /// Breadth-first; cells[0] is the root; siblings are neighbours. Of cells of other ranks those below may be
  /// missing: then they have no child, but more than one leaf.
  std::vector<Cell> cells;
  Count domain_cell = 0;                 ///< CutScheme::domain_cell
  std::vector<std::int32_t> leaf_cell;   ///< index of the cell of each known leaf, from known_leaf on
  std::int32_t known_leaf = 0;           ///< the first one that is known
  bool is_whole = true;                  ///< all cells are known, on every rank
  std::vector<std::int32_t> first_leaf;  ///< first leaf of each rank, length P + 1

  /// The first particle of each leaf of this rank in its particle arrays, length own leaves + 1.
  std::vector<Count> leaf_begin;

  std::int32_t leaves() const { return cells.empty() ? 0 : cells[0].leaves; }
  /// A leaf that is known.
  const Cell& leaf(std::int32_t index) const {
    return cells[static_cast<std::size_t>(leaf_cell[static_cast<std::size_t>(index - known_leaf)])];
  }
  /// The rank that owns a leaf. Cost: log P.
  int owner(std::int32_t leaf_index) const { return owner_of(leaf_index, first_leaf); }
  /// Makes these the cells. Their leaves are known from one number up to another.
  void take_cells(std::vector<Cell> known, std::int32_t begin, std::int32_t end);
  /// Makes these the runs of the ranks: length P + 1, ascending from 0 to leaves(); else std::logic_error.
  /// The leaves of this rank must be known.
  void give_out(std::vector<std::int32_t> runs, const Communicator& comm);
  /// The bytes of these tables.
  TableBytes tables() const;
};

}  // namespace grove
