#pragma once

#include <cstdint>
#include <vector>

#include "decomposition/domain.hpp"
#include "kernels/math/domain_cell.hpp"

namespace grove {

/// The domain cells of a rank that hold several leaves, left to right.
struct DomainCells {
  std::vector<DomainCell> cells;
  std::vector<CountedCut> cuts;

  DomainCellsView view() const {
    return {cells.data(), static_cast<std::uint32_t>(cells.size()), cuts.data()};
  }
};

/// None where a domain has no domain cells, or they are leaves. Cost: O(cells that the rank knows).
DomainCells domain_cells(const Domain& domain);

}  // namespace grove
