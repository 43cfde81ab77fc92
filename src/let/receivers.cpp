#include "let/receivers.hpp"

namespace grove {
ReceiverSearch::ReceiverSearch(const Domain& domain, int own_rank, std::span<const TargetBounds> bounds,
                               std::span<const Vec3d> origins, const WalkUnits& units)
    : domain_(domain),
      own_rank_(own_rank),
      bounds_(bounds),
      origins_(origins),
      units_(units),
      wanted_(domain.cells.size()) {
  for (std::size_t c = domain.cells.size(); c-- > 0;) {  // children lie behind their parents
    const Cell& cell = domain.cells[c];
    const auto leaf = static_cast<std::size_t>(cell.first_leaf), child = static_cast<std::size_t>(cell.child);
    wanted_[c] = cell.is_leaf() ? Wanted::of_leaf(bounds[leaf], origins[leaf], units.length)
                                : Wanted::united(wanted_[child], wanted_[child + 1]);
  }
}

void ReceiverSearch::find(std::int32_t leaf, const TopTree& top, std::vector<Receiver>& receivers) const {
  receivers.clear();
  const auto node = static_cast<std::size_t>(domain_.leaf_cell[static_cast<std::size_t>(leaf)]);
  const Vec3d centre = top.centre[node], origin = origins_[static_cast<std::size_t>(leaf)];
  const NodeCore& core = top.core[node];
  const std::int32_t own_begin = domain_.first_leaf[static_cast<std::size_t>(own_rank_)];
  const std::int32_t own_end = domain_.first_leaf[static_cast<std::size_t>(own_rank_) + 1];

  std::vector<std::size_t> stack = {0};
  while (!stack.empty()) {
    const std::size_t c = stack.back();
    stack.pop_back();
    const Cell& cell = domain_.cells[c];
    const bool own = cell.first_leaf >= own_begin && cell.first_leaf + cell.leaves <= own_end;
    if (own || !wanted_[c].may_open(centre, core, units_.length)) continue;
    if (!cell.is_leaf()) {
      stack.push_back(static_cast<std::size_t>(cell.child) + 1);
      stack.push_back(static_cast<std::size_t>(cell.child));
      continue;
    }
    receivers.push_back({bounds_[static_cast<std::size_t>(cell.first_leaf)],
                         shift_between(origin, origins_[static_cast<std::size_t>(cell.first_leaf)], units_),
                         cell.first_leaf, domain_.owner(cell.first_leaf)});
  }
}

}  // namespace grove
