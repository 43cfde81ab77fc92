#include "decomposition/domain.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "comm/communicator.hpp"

namespace grove {

int owner_of(std::int32_t leaf, std::span<const std::int32_t> first_leaf) {
  return static_cast<int>(std::upper_bound(first_leaf.begin(), first_leaf.end(), leaf) - first_leaf.begin()) -
         1;
}

void Domain::take_cells(std::vector<Cell> known, std::int32_t begin, std::int32_t end) {
  cells = std::move(known);
  known_leaf = begin;
  leaf_cell.assign(static_cast<std::size_t>(end - begin), 0);
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (const Cell& cell = cells[c]; cell.is_leaf() && cell.first_leaf >= begin && cell.first_leaf < end)
      leaf_cell[static_cast<std::size_t>(cell.first_leaf - begin)] = static_cast<std::int32_t>(c);
}

void Domain::give_out(std::vector<std::int32_t> runs, const Communicator& comm) {
  if (runs.size() != static_cast<std::size_t>(comm.size()) + 1 || runs.front() != 0 ||
      runs.back() != leaves() || !std::is_sorted(runs.begin(), runs.end()))
    throw std::logic_error("runs of leaves that do not hold each leaf once");
  const auto r = static_cast<std::size_t>(comm.rank());
  first_leaf = std::move(runs);
  leaf_begin = {0};
  for (std::int32_t index = first_leaf[r]; index < first_leaf[r + 1]; ++index)
    leaf_begin.push_back(leaf_begin.back() + leaf(index).count);
}

TableBytes Domain::tables() const {
  TableBytes bytes;
  bytes[TableBytes::cells] = bytes_of(cells);
  bytes[TableBytes::leaves] = bytes_of(leaf_cell, leaf_begin);
  bytes[TableBytes::runs] = bytes_of(first_leaf);
  return bytes;
}

}  // namespace grove
