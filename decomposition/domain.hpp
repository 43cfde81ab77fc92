#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/table_bytes.hpp"
#include "base/types.hpp"
#include "decomposition/leaf_owners.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

class Communicator;

/// The result of a decomposition: the cells of the ORB, all or those that a rank needs to know (KnownCells),
/// and which rank owns which leaves.
///
/// Leaves are numbered left to right; a rank owns one or several runs of them, and numbers its own likewise.
/// The cells and leaves do not depend on the number of ranks; the runs do. A cell that is known is the same
/// on every rank, but for where its children are.
struct Domain {
  Box box;
  Count leaf_size = 0;  ///< the most particles in a leaf; under `halves` their mean, rounded up
  /// Breadth-first; cells[0] is the root; siblings are neighbours. Of cells of other ranks those below may be
  /// missing: then they have no child, but more than one leaf.
  std::vector<Cell> cells;
  Count domain_cell = 0;                ///< CutScheme::domain_cell
  bool is_whole = true;                 ///< all cells are known, on every rank
  std::vector<std::int32_t> leaf_cell;  ///< cell of each leaf, or, if not whole, of each own one
  LeafOwners owners;
  OwnLeaves own;  ///< those of this rank

  /// The first particle of each leaf of this rank in its particle arrays, length own leaves + 1.
  std::vector<Count> leaf_begin;

  LeafNumber leaves() const { return cells.empty() ? 0 : cells[0].leaves; }
  /// A leaf that is known.
  const Cell& leaf(LeafNumber index) const {
    const LeafNumber known = is_whole ? index : own.before(index);
    return cells[static_cast<std::size_t>(leaf_cell[static_cast<std::size_t>(known)])];
  }
  /// Makes these the cells, all that there are.
  void take_whole(std::vector<Cell> all);
  /// Makes these the cells, of which all leaves of this rank are known; it owns these.
  void take_part(std::vector<Cell> known, OwnLeaves leaves);
  /// Makes these the owners, of all leaves, else std::logic_error. The leaves of this rank must be known.
  void give_out(LeafOwners to, const Communicator& comm);
  /// The bytes of these tables.
  TableBytes tables() const;
};

}  // namespace grove
