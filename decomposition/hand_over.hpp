#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/leaf_owners.hpp"
#include "kernels/math/cell.hpp"

/// Cells whose leaves change hands, without any rank that knows all cells.
namespace grove {

/// The holdings of a rank are the largest cells whose leaves it owns. All ranks find the same ones of all.
struct Holdings {
  /// The domain may be the part that one rank knows.
  explicit Holdings(const Domain& domain);

  std::vector<Cell> cells;          ///< these and those above, breadth-first; these have no children here
  std::vector<std::int32_t> held;   ///< index of each of them in `cells`, rank by rank, left to right within
  std::vector<std::int32_t> from;   ///< and in the cells of the domain
  std::vector<std::int32_t> first;  ///< the first one of each rank, length P + 1
};

/// All cells below those of Holdings that a rank owns, which knows them: one subtree after the other, each
/// with its root first and children behind their parents, counted from it, as subtree_size() has them.
std::vector<Cell> cells_below(const Domain& domain, const Holdings& holdings, int rank);

/// Gives the leaves of a domain other owners, and this rank the cells that it needs to know then
/// (known_part()), also if it knew all. Collective. domain (in/out): as it was, if an error is thrown.
/// std::logic_error where these are not owners of all its leaves among all ranks. Cost: cells below what
/// changes hands go to those that need them; all ranks get those down to new covers.
void hand_over(const Communicator& comm, Domain& domain, LeafOwners to);

}  // namespace grove
