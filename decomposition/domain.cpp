#include "decomposition/domain.hpp"

#include <stdexcept>
#include <utility>

#include "comm/communicator.hpp"

namespace grove {

void Domain::take_whole(std::vector<Cell> all) {
  is_whole = true;
  cells = std::move(all);
  leaf_cell.assign(static_cast<std::size_t>(leaves()), 0);
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (cells[c].is_leaf())
      leaf_cell[static_cast<std::size_t>(cells[c].first_leaf)] = static_cast<std::int32_t>(c);
}

void Domain::take_part(std::vector<Cell> known, OwnLeaves leaves) {
  is_whole = false;
  cells = std::move(known);
  own = std::move(leaves);
  leaf_cell.assign(static_cast<std::size_t>(own.size()), 0);
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (const Cell& cell = cells[c]; cell.is_leaf() && cell.leaves == 1 && own.holds(cell.first_leaf))
      leaf_cell[static_cast<std::size_t>(own.before(cell.first_leaf))] = static_cast<std::int32_t>(c);
}

void Domain::give_out(LeafOwners to, const Communicator& comm) {
  if (to.ranks() != comm.size() || to.leaves() != leaves())
    throw std::logic_error("owners of other leaves, or other ranks");
  owners = std::move(to);
  own = owners.own(comm.rank());
  leaf_begin = {0};
  for (const OwnLeaves::Run& run : own.runs())
    for (LeafNumber index = run.begin; index < run.end; ++index)
      leaf_begin.push_back(leaf_begin.back() + leaf(index).count);
}

TableBytes Domain::tables() const {
  TableBytes bytes;
  bytes[TableBytes::cells] = bytes_of(cells);
  bytes[TableBytes::leaves] = bytes_of(leaf_cell, leaf_begin);
  bytes[TableBytes::runs] = bytes_of(owners.runs(), own.runs());
  return bytes;
}

}  // namespace grove
