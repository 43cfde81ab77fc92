#include "decomposition/frontier.hpp"

#include <algorithm>

#include "kernels/math/cell_walk.hpp"

namespace grove {

Frontier::Frontier(std::span<const Cell> top, const Shares& shares, Count domain_cell) {
  Count before = 0;
  const auto add = [&](std::int32_t index, const Cell& cell, int owner) {
    cell_.push_back(index);
    owner_.push_back(owner);
    uncut_.push_back(cell.leaves > 1);
    first_.push_back(cell.first);
  };
  walk_cells(top, 0, [&](std::int32_t index, const Cell& cell) {
    if (!cell.is_leaf() && !cell.is_whole(domain_cell)) return true;
    const int owner = shares.owner(before, cell.weight);
    for_each_leaf(top, index, [&](std::int32_t below, const Cell& leaf) { add(below, leaf, owner); });
    before += cell.weight;
    return false;
  });
}

Frontier::Frontier(std::span<const Cell> top, std::span<const int> owners)
    : owner_(owners.begin(), owners.end()) {
  for_each_leaf(top, 0, [&](std::int32_t index, const Cell& cell) {
    cell_.push_back(index);
    uncut_.push_back(cell.leaves > 1);
    first_.push_back(cell.first);
  });
}

std::vector<std::int32_t> Frontier::uncut() const {
  std::vector<std::int32_t> cells;
  for (std::size_t i = 0; i < size(); ++i)
    if (uncut_[i]) cells.push_back(cell_[i]);
  return cells;
}

namespace {

/// Records that stay together: where they are and where they go.
struct Run {
  std::size_t from, size, to;
};

/// Moves runs, which keep their order, inside one array. Those that go right, from the last one on, then
/// those that go left, from the first one on, overwrite nothing that is still to move.
void shift(Array<Record>& records, std::span<const Run> runs) {
  const auto at = [&](std::size_t i) { return records.begin() + static_cast<std::ptrdiff_t>(i); };
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->to > run->from)
      std::copy_backward(at(run->from), at(run->from + run->size), at(run->to + run->size));
  for (const Run& run : runs)
    if (run.to < run.from) std::copy(at(run.from), at(run.from + run.size), at(run.to));
}

}  // namespace

std::vector<Count> Frontier::arrivals(const Communicator& comm, std::span<const Count> portions) const {
  std::vector<Count> cells_per_rank(static_cast<std::size_t>(comm.size()), 0);
  for (const int owner : owner_) ++cells_per_rank[static_cast<std::size_t>(owner)];
  const ExchangePlan plan(comm, cells_per_rank);
  std::vector<Count> arriving(static_cast<std::size_t>(plan.receive_total()));
  plan.apply(portions, std::span<Count>(arriving));
  return arriving;
}

void Frontier::merge_arrivals(const Communicator& comm, RankParticles& own, const Migration& migration,
                              const Box& box) const {
  const auto ranks = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  std::vector<Count> portions;
  for (const std::int32_t cell : cell_) portions.push_back(static_cast<Count>(own.records_of(cell).size()));
  const std::vector<Count> arriving = arrivals(comm, portions);

  const std::size_t own_cells = arriving.size() / ranks;
  std::vector<Run> runs;
  std::size_t end = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (owner_[i] != comm.rank()) continue;
    const auto staying = own.records_of(cell_[i]);
    const std::size_t k = runs.size();
    runs.push_back({static_cast<std::size_t>(staying.data() - own.records.data()), staying.size(), end});
    end += staying.size();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      if (rank != self) end += static_cast<std::size_t>(arriving[rank * own_cells + k]);
  }
  own.records.resize(std::max(own.records.size(), end));
  shift(own.records, runs);
  own.records.resize(end);

  const auto offsets = migration.plan().receive_offsets();
  std::vector<Count> next(offsets.begin(), offsets.end() - 1);  // by source rank
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Record* record = &own.records[runs[k].to];
    if (migration.moves_staying())
      for (std::size_t i = 0; i < runs[k].size; ++i)
        record[i].index = migration.place_of_staying(record[i].index);
    record += runs[k].size;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == self) continue;
      for (Count j = 0; j < arriving[rank * own_cells + k]; ++j) {
        const std::uint32_t place = migration.place_of_arrival(static_cast<std::size_t>(next[rank]++));
        const IntegerPosition c = box.coordinates(own.positions()(place));
        *record++ = {c.x, c.y, c.z, place};
      }
    }
  }
}

}  // namespace grove
