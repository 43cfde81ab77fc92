#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/shares.hpp"

namespace grove {

/// The cells that are never divided among ranks (Cell::is_whole()): what moves together. They stand rank by
/// rank, left to right within; where leaves have no owners yet, left to right.
class WholeCells {
 public:
  /// Cost: O(cells log(cells)).
  explicit WholeCells(const Domain& domain);

  /// Sums of values by leaf.
  std::vector<Count> sums(std::span<const Count> by_leaf) const;
  /// First one of each rank, length P + 1; none: there are no owners.
  std::vector<std::int32_t> first() const;
  /// The owners of leaves if this is the first one of each rank, length P + 1, ascending.
  LeafOwners owners(std::span<const std::int32_t> first) const;

 private:
  struct Leaves {
    int rank;  ///< that owns them now
    std::int32_t first, count;
  };
  std::vector<Leaves> cells_;
  int ranks_;
  std::int32_t leaves_;
};

/// The parts of the cube that ranks are to own: those of their runs, or, if these take longer than others by
/// more than noise, parts of whole cells that share the work of the last decomposition out anew. For that the
/// cells stand as in WholeCells, so that only those at the ends of what ranks have change hands.
/// particle_work: of a particle in a longest step, beside its weight. shares: of all work. by_rungs: the
/// steps of each rung were shared out (CubeSharing); their sum is less even then, so times have to differ by
/// more. The same on all ranks. Collective, if other parts could pay. Cost: O(known cells), and a message
/// with the parts.
KeyRanges balanced_parts(const Communicator& comm, const Domain& domain, Count particle_work,
                         const Shares& shares, bool by_rungs);

}  // namespace grove
