#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/shares.hpp"

namespace grove {

/// The cells of this rank that are never divided among ranks (Cell::is_whole()), left to right: what moves
/// together. If one is divided all the same, the largest cells in it that lie on one rank take its place.
class WholeCells {
 public:
  /// Cost: O(known cells).
  explicit WholeCells(const Domain& domain);

  std::size_t size() const { return cells_.size(); }
  /// The own number of the first leaf of one.
  std::int32_t own_leaf(std::size_t number) const { return cells_[number].own; }
  /// Sums of values by own leaf.
  std::vector<Count> sums(std::span<const Count> by_leaf) const;
  /// The owners of the leaves of all ranks, if each one's whole cells are to go to the ranks that it says, by
  /// cell. Collective.
  LeafOwners owners(const Communicator& comm, std::span<const int> to) const;

 private:
  struct Leaves {
    LeafNumber first;
    std::int32_t count;
    std::int32_t own;  ///< own number of the first one
  };
  std::vector<Leaves> cells_;
  LeafNumber leaves_;
};

/// The parts of the cube that ranks are to own: those of their runs, or, if these take longer than others by
/// more than noise, parts of whole cells that share the work of the last decomposition out anew. For that the
/// cells stand rank by rank, left to right within, so that only those at the ends of what ranks have change
/// hands. particle_work: of a particle in a longest step, beside its weight. shares: of all work. by_rungs:
/// the steps of each rung were shared out (CubeSharing); their sum is less even then, so times have to differ
/// by more. The same on all ranks. Collective, if other parts could pay. Cost: O(known cells), and a message
/// with the parts.
KeyRanges balanced_parts(const Communicator& comm, const Domain& domain, Count particle_work,
                         const Shares& shares, bool by_rungs);

}  // namespace grove
