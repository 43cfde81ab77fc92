#include "decomposition/end_cells.hpp"

#include <algorithm>

namespace grove {

EndCells::EndCells(std::span<const Cell> top, const Shares& shares) {
  Count before = 0;
  for (std::vector<std::int32_t> stack{0}; !stack.empty();) {
    const std::int32_t index = stack.back();
    const Cell& cell = top[static_cast<std::size_t>(index)];
    stack.pop_back();
    if (!cell.is_leaf()) {
      stack.insert(stack.end(), {cell.child + 1, cell.child});
      continue;
    }
    cell_.push_back(index);
    owner_.push_back(shares.owner(before, cell.weight));
    uncut_.push_back(cell.leaves > 1);
    before += cell.weight;
  }
}

std::vector<std::int32_t> EndCells::uncut() const {
  std::vector<std::int32_t> cells;
  for (std::size_t i = 0; i < size(); ++i)
    if (uncut_[i]) cells.push_back(cell_[i]);
  return cells;
}

Array<Record> EndCells::merge_arrivals(const Communicator& comm, RankParticles& own,
                                       const Migration& migration, const Box& box) const {
  const auto ranks = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  std::vector<Count> portions, cells_per_rank(ranks, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    portions.push_back(static_cast<Count>(own.records_of(cell_[i]).size()));
    ++cells_per_rank[static_cast<std::size_t>(owner_[i])];
  }
  const ExchangePlan plan(comm, cells_per_rank);
  std::vector<Count> arriving(static_cast<std::size_t>(plan.receive_total()));  // by source rank, by own cell
  plan.apply(std::span<const Count>(portions), std::span<Count>(arriving));

  const auto offsets = migration.plan().receive_offsets();
  std::vector<Count> next(offsets.begin(), offsets.end() - 1);  // by source rank
  const auto own_cells = static_cast<std::size_t>(cells_per_rank[self]);
  Array<Record> merged(migration.size());
  auto end = merged.begin();
  std::size_t k = 0;  // counts this rank's cells
  for (std::size_t i = 0; i < size(); ++i) {
    if (owner_[i] != comm.rank()) continue;
    const auto staying = own.records_of(cell_[i]);
    end = std::transform(staying.begin(), staying.end(), end, [&](Record r) {
      r.index = migration.place_of_staying(r.index);
      return r;
    });
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == self) continue;
      for (Count j = 0; j < arriving[rank * own_cells + k]; ++j) {
        const std::uint32_t place = migration.place_of_arrival(static_cast<std::size_t>(next[rank]++));
        const IntegerPosition c = box.coordinates(own.particles.position[place]);
        *end++ = {c.x, c.y, c.z, place};
      }
    }
    ++k;
  }
  return merged;
}

}  // namespace grove
