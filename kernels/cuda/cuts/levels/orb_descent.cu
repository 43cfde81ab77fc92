#include "kernels/cuda/cuts/levels/orb_descent.cuh"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "kernels/cuda/cuts/levels/orb_cuts.cuh"
#include "kernels/cuda/cuts/levels/orb_plan.cuh"

namespace grove::cuda {
namespace {

/// Cuts that keep the host busy for longer than their transfer takes.
constexpr std::uint32_t worth_a_transfer = 256;

/// At most so large is what remains of a level some levels further down. most_cells: that there can be.
LevelSize bound_below(const LevelSize& size, int levels, std::uint64_t most_cells) {
  const auto grown = [&](std::uint64_t cells, std::uint64_t most) {
    return static_cast<std::uint32_t>(std::min(cells << levels, most));
  };
  constexpr std::uint64_t least_pieces = most_without_bracket / OrbPartition::tile_size;  // with a bracket
  LevelSize bound = size;
  bound.cells = grown(size.cells, most_cells);
  bound.pieces = size.pieces + bound.cells;  // one of each cell may not be full
  bound.bracketed_cells = grown(size.bracketed_cells, size.bracketed_pieces / least_pieces);
  bound.bracketed_pieces = size.bracketed_pieces + bound.bracketed_cells;
  return bound;
}

/// Cuts there are at most after so many levels more.
std::uint64_t cuts_after(const LevelHead& head, int levels, std::uint64_t most_cells) {
  std::uint64_t cuts = head.cuts_before;
  for (int i = 0; i < levels; ++i) cuts += bound_below(head.size, i, most_cells).cells;
  return cuts;
}

/// Levels that a cell of so many leaves has below it, at least.
int levels_below(std::int32_t leaves) { return std::bit_width(static_cast<std::uint32_t>(leaves - 1)); }

}  // namespace

void OrbDescent::reserve(const LevelSize& size, std::uint64_t most_cells) {
  const LevelSize most = bound_below(size, 31, most_cells);
  for (int parity = 0; parity < 2; ++parity) {
    head_[parity].reserve(1);
    tasks_[parity].reserve(most.cells);
    places_[parity].reserve(most.cells);
  }
  bounds_.reserve(most.cells);
  brackets_.reserve(most.bracketed_cells);
  pieces_.reserve(most.pieces);
  left_in_.reserve(most.pieces);
  left_before_.reserve(most.pieces);
  piece_lists_.reserve(most.bracketed_pieces);
}

void OrbDescent::make_room(std::uint64_t cuts) {
  if (cuts <= cuts_.size()) return;
  DeviceArray<FoundCut> more(std::max<std::uint64_t>(cuts, 2 * cuts_.size()));
  device_copy(more.data(), cuts_.data(), cuts_.size() * sizeof(FoundCut));
  cuts_ = std::move(more);
}

OrbLevel OrbDescent::level(int parity) const {
  return {head_[parity].data(), tasks_[parity].data(), places_[parity].data(),
          bounds_.data(),       brackets_.data(),      pieces_.data(),
          left_in_.data(),      left_before_.data(),   piece_lists_.data()};
}

void OrbDescent::cut(const OrbLevel& level, const LevelSize& bound) {
  const LevelSize* const size = &level.head->size;  // on the device
  if (bound.bracketed_cells > 0) {
    find_brackets(columns_, scheme_, level.tasks, bound.bracketed_cells, &size->bracketed_cells);
    split_at_brackets(columns_, scheme_, level.tasks, level.pieces, bound.bracketed_pieces,
                      &size->bracketed_pieces, level.brackets, level.lists, level.left_in);
  }
  find_cuts(columns_, ids_, scheme_, level, bound);
  OrbPartition().run(columns_, ids_, level.tasks, level.pieces, bound.pieces, &size->pieces,
                     level.left_before, level.bounds);
}

void OrbDescent::run(std::span<const OrbCell> cells, std::int32_t first_child, const TakeCut& take,
                     PhaseTimers* levels, std::size_t depth) {
  LevelHead head{};
  std::uint64_t leaves = 0;
  for (const OrbCell& cell : cells) {
    head.size += size_of(cell, scheme_);
    head.most_leaves = std::max(head.most_leaves, cell.leaves);
    leaves += static_cast<std::uint64_t>(cell.leaves);
  }
  if (cells.empty()) return;
  // A cell that is cut has two leaves. Where they are not known, it has more records than fit into a leaf.
  const std::uint64_t most_cells = scheme_.knows_leaves() ? leaves / 2 : leaves;
  reserve(head.size, most_cells);
  if (scheme_.knows_leaves()) make_room(leaves);
  const DeviceArray<OrbCell> roots(cells);
  plan_first_level(scheme_, roots.data(), static_cast<std::uint32_t>(cells.size()), level(0));
  std::vector<FoundCut> found;
  std::uint32_t taken = 0;
  for (int parity = 0; head.size.cells > 0;) {
    std::optional<PhaseTimers::Scope> time;
    if (levels) time.emplace(*levels, level_name(depth));
    const int number = levels_below(head.most_leaves);
    if (!scheme_.knows_leaves()) make_room(cuts_after(head, number, most_cells));
    for (int i = 0; i < number; ++i, parity = 1 - parity) {
      cut(level(parity), bound_below(head.size, i, most_cells));
      plan_next_level(scheme_, level(parity), first_child, cuts_.data(), level(1 - parity));
    }
    depth += static_cast<std::size_t>(number);
    std::for_each(found.begin(), found.end(), take);  // while the device works
    const std::uint64_t records_before = head.records_before;
    head_[parity].download(std::span(&head, 1));
    activity().device_bytes += 40 * (head.records_before - records_before);
    const std::uint32_t waiting = head.cuts_before - taken;
    found.resize(head.size.cells == 0 || waiting >= worth_a_transfer ? waiting : 0);
    if (!found.empty()) device_download(found.data(), cuts_.data() + taken, found.size() * sizeof(FoundCut));
    taken += static_cast<std::uint32_t>(found.size());
  }
  std::for_each(found.begin(), found.end(), take);
}

}  // namespace grove::cuda
