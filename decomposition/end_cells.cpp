#include "decomposition/end_cells.hpp"

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

Array<Record> EndCells::merge_arrivals(const Communicator& comm, RankParticles& own, const ExchangePlan& plan,
                                       const Box& box, std::span<const Vec3d> positions) const {
  const auto ranks = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  std::vector<Count> portions, cells_per_rank(ranks, 0);
  for (std::size_t i = 0; i < size(); ++i) {
    portions.push_back(static_cast<Count>(own.records_of(cell_[i]).size()));
    ++cells_per_rank[static_cast<std::size_t>(owner_[i])];
  }
  const ExchangePlan portions_plan(comm, cells_per_rank);
  std::vector<Count> arriving(static_cast<std::size_t>(portions_plan.receive_total()));
  portions_plan.apply(std::span<const Count>(portions), std::span<Count>(arriving));

  const auto old = static_cast<std::uint32_t>(own.particles.size());
  std::vector<Count> next(plan.receive_offsets().begin(),
                          plan.receive_offsets().end() - 1);  // by source rank
  const Count own_cells = cells_per_rank[self];
  Array<Record> merged;
  merged.reserve(own.particles.size() + positions.size() - static_cast<std::size_t>(plan.send_total()));
  Count k = 0;  // counts this rank's cells
  for (std::size_t i = 0; i < size(); ++i) {
    if (owner_[i] != comm.rank()) continue;
    const auto stay = own.records_of(cell_[i]);
    merged.insert(merged.end(), stay.begin(), stay.end());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == self) continue;
      const Count last =
          next[rank] + arriving[rank * static_cast<std::size_t>(own_cells) + static_cast<std::size_t>(k)];
      for (Count& from = next[rank]; from < last; ++from) {
        const IntegerPosition c = box.coordinates(positions[static_cast<std::size_t>(from)]);
        merged.push_back({c.x, c.y, c.z, old + static_cast<std::uint32_t>(from)});
      }
    }
    ++k;
  }
  return merged;
}

}  // namespace grove
