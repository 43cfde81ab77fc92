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
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < size(); ++i)
    if (uncut_[i]) numbers.push_back(i);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::size_t a, std::size_t b) { return owner_[a] < owner_[b]; });
  std::vector<std::int32_t> cells;
  for (const std::size_t i : numbers) cells.push_back(cell_[i]);
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

ExchangePlan FrontierMoves::plan(const Communicator& comm) const {
  std::vector<Count> receive(send.size(), 0);
  for (const Arrival& a : arriving) receive[static_cast<std::size_t>(a.rank)] += a.count;
  return {comm, send, receive};
}

FrontierMoves Frontier::moves(const Communicator& comm, std::span<const Count> portions, Count all) const {
  const auto ranks = static_cast<std::size_t>(comm.size());
  FrontierMoves moves;
  moves.send.assign(ranks, 0);
  moves.all = all;
  std::vector<Count> cells(ranks, 0);  // by owner
  Count leaving = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    ++cells[static_cast<std::size_t>(owner_[i])];
    if (owner_[i] == comm.rank()) continue;
    moves.send[static_cast<std::size_t>(owner_[i])] += portions[i];
    leaving += portions[i];
  }
  moves.most = comm.size() == 1 ? 0 : comm.max(leaving);
  if (moves.most == 0) return moves;

  const auto own_cells = static_cast<std::size_t>(cells[static_cast<std::size_t>(comm.rank())]);
  const ExchangePlan plan(comm, cells, std::vector<Count>(ranks, static_cast<Count>(own_cells)));
  std::vector<Count> counts(ranks * own_cells);  // by source
  plan.apply(portions, std::span<Count>(counts));
  for (std::size_t cell = 0; cell < own_cells; ++cell)
    for (int rank = 0; rank < comm.size(); ++rank) {
      const Count count = counts[static_cast<std::size_t>(rank) * own_cells + cell];
      if (rank != comm.rank() && count > 0) moves.arriving.push_back({cell, rank, count});
    }
  return moves;
}

void Frontier::merge_arrivals(RankParticles& own, const Migration& migration,
                              std::span<const Arrival> arriving, int rank, const Box& box) const {
  std::vector<Run> runs;
  std::size_t end = 0;
  auto arrival = arriving.begin();
  for (std::size_t i = 0; i < size(); ++i) {
    if (owner_[i] != rank) continue;
    const auto staying = own.records_of(cell_[i]);
    const std::size_t k = runs.size();
    runs.push_back({static_cast<std::size_t>(staying.data() - own.records.data()), staying.size(), end});
    end += staying.size();
    for (; arrival != arriving.end() && arrival->cell == k; ++arrival)
      end += static_cast<std::size_t>(arrival->count);
  }
  own.records.resize(std::max(own.records.size(), end));
  shift(own.records, runs);
  own.records.resize(end);

  const auto offsets = migration.plan().receive_offsets();
  std::vector<Count> next(offsets.begin(), offsets.end() - 1);  // by source rank
  arrival = arriving.begin();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Record* record = &own.records[runs[k].to];
    if (migration.moves_staying())
      for (std::size_t i = 0; i < runs[k].size; ++i)
        record[i].index = migration.place_of_staying(record[i].index);
    record += runs[k].size;
    for (; arrival != arriving.end() && arrival->cell == k; ++arrival)
      for (Count j = 0; j < arrival->count; ++j) {
        const auto from = static_cast<std::size_t>(arrival->rank);
        const std::uint32_t place = migration.place_of_arrival(static_cast<std::size_t>(next[from]++));
        const IntegerPosition c = box.coordinates(own.positions()(place));
        *record++ = {c.x, c.y, c.z, place};
      }
  }
}

}  // namespace grove
