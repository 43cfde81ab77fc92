#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/hand_over.hpp"
#include "decomposition/join_cells.hpp"

namespace grove::test {

/// The same domain with all cells, on all ranks. Collective.
inline Domain whole_domain(const Communicator& comm, const Domain& domain) {
  Domain whole = domain;
  if (domain.is_whole) return whole;
  const Holdings holdings(domain);
  const std::vector<Cell> own = cells_below(domain, holdings, comm.rank());
  whole.take_whole(
      join_cells(holdings.cells, holdings.held, comm.all_gather_arrays(std::span<const Cell>(own))));
  return whole;
}

}  // namespace grove::test
