#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "decomposition/domain.hpp"
#include "decomposition/geometric_cell.hpp"
#include "decomposition/known_cells.hpp"

namespace grove::testing {

/// A root cube that is halved down to leaves, as many as there are owners for, a power of two. All have equal
/// numbers of particles, of weight 1, and fill their cells. only: a rank; cells below covers of others are
/// left out; below 0: the whole domain.
inline Domain halved_domain(Count particles, LeafOwners owners, int only = -1) {
  Domain domain;
  domain.owners = std::move(owners);
  const Count most = most_in_cover(particles, static_cast<std::size_t>(domain.owners.ranks()));
  std::vector<GeometricCell> places(1);
  std::vector<Cell> cells(1);
  cells[0].count = cells[0].weight = particles;
  cells[0].leaves = domain.owners.leaves();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const GeometricCell place = places[c];
    cells[c].low = place.low;
    cells[c].high = place.high();
    if (cells[c].leaves == 1) continue;
    const bool is_cover =
        domain.owners.have_one(cells[c].first_leaf, cells[c].leaves) && cells[c].count <= most;
    if (only >= 0 && is_cover && domain.owners.owner(cells[c].first_leaf) != only) continue;
    cells[c].child = static_cast<std::int32_t>(cells.size());
    Cell half;
    half.count = half.weight = cells[c].count / 2;
    half.leaves = cells[c].leaves / 2;
    half.first = cells[c].first;
    half.first_leaf = cells[c].first_leaf;
    for (const bool right : {false, true}) {
      cells.push_back(half);
      places.push_back(place.half(right));
      half.first += half.count;
      half.first_leaf += half.leaves;
    }
  }
  if (only < 0)
    domain.take_whole(std::move(cells));
  else
    domain.take_part(std::move(cells), domain.owners.own(only));
  return domain;
}

}  // namespace grove::testing
