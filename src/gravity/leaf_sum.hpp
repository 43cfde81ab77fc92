#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"

namespace grove {

/// Sums one value per leaf over all leaves of all ranks, in the order of the tree: a cell's value is that of
/// its left child plus that of its right one. So the bits of a floating-point sum do not depend on the number
/// of ranks.
///
/// Only the largest cells that lie on one rank travel: at most 2 depth of a run, not one value per leaf.
template <Wire T>
class LeafSum {
 public:
  /// own_values: one value per leaf of this rank, in leaf order; must outlive the sum.
  LeafSum(const Communicator& comm, const Domain& domain, std::span<const T> own_values)
      : comm_(comm), domain_(domain), own_values_(own_values) {}

  /// Collective. The sum, everywhere; T{} if there are no leaves.
  T operator()() {
    if (domain_.cells.empty()) return T{};
    std::vector<T> own;
    std::vector<Count> parts(static_cast<std::size_t>(comm_.size()), 0);
    collect(domain_.cells[0], own, parts);
    parts_ = comm_.all_gather_arrays(std::span<const T>(own), std::span<const Count>(parts));
    next_.assign(parts.size(), 0);
    std::exclusive_scan(parts.begin(), parts.end(), next_.begin(), Count{0});
    return join(domain_.cells[0]);
  }

 private:
  const Cell& child(const Cell& cell, int side) const {
    return domain_.cells[static_cast<std::size_t>(cell.child + side)];
  }
  bool has_one_owner(const Cell& cell) const { return domain_.owners.have_one(cell.first_leaf, cell.leaves); }

  /// The values of the largest cells that lie wholly on this rank, left to right. parts: how many each rank
  /// has of these.
  void collect(const Cell& cell, std::vector<T>& own, std::vector<Count>& parts) const {
    if (has_one_owner(cell)) {
      const int owner = domain_.owners.owner(cell.first_leaf);
      ++parts[static_cast<std::size_t>(owner)];
      if (owner == comm_.rank()) own.push_back(local_sum(cell));
      return;
    }
    collect(child(cell, 0), own, parts);
    collect(child(cell, 1), own, parts);
  }
  T local_sum(const Cell& cell) const {
    if (cell.is_leaf()) return own_values_[static_cast<std::size_t>(domain_.own.before(cell.first_leaf))];
    const T left = local_sum(child(cell, 0));
    return left + local_sum(child(cell, 1));
  }
  /// The parts of each rank come in the order in which this descent meets their cells.
  T join(const Cell& cell) {
    if (has_one_owner(cell))
      return parts_[static_cast<std::size_t>(
          next_[static_cast<std::size_t>(domain_.owners.owner(cell.first_leaf))]++)];
    const T left = join(child(cell, 0));
    return left + join(child(cell, 1));
  }

  const Communicator& comm_;
  const Domain& domain_;
  std::span<const T> own_values_;
  std::vector<T> parts_;     ///< rank by rank
  std::vector<Count> next_;  ///< of each rank
};

}  // namespace grove
