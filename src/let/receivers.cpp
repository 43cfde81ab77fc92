#include "let/receivers.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/math/acceptance.hpp"

namespace grove {
namespace {

/// By which the test of a cell of receivers is stricter than those of its leaves, besides selection_margin.
/// The former is computed in double precision; the latter round places relative to their distance from the
/// leaf's origin, by a few times 2^-24.
constexpr double place_margin = 1e-6;

Vec3d lesser(const Vec3d& a, const Vec3d& b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
Vec3d greater(const Vec3d& a, const Vec3d& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

}  // namespace

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
    if (cell.is_leaf()) {
      const TargetBounds& b = bounds[static_cast<std::size_t>(cell.first_leaf)];
      const Vec3d origin = origins[static_cast<std::size_t>(cell.first_leaf)];
      wanted_[c] = {lesser(origin, origin + units.length * b.low.as<double>()),
                    greater(origin, origin + units.length * b.high.as<double>()), b.strictness};
    } else {
      const Wanted& left = wanted_[static_cast<std::size_t>(cell.child)];
      const Wanted& right = wanted_[static_cast<std::size_t>(cell.child) + 1];
      wanted_[c] = {lesser(left.low, right.low), greater(left.high, right.high),
                    std::max(left.strictness, right.strictness)};
    }
  }
}

bool ReceiverSearch::may_open(const Wanted& wanted, const Vec3d& centre, const NodeCore& core) const {
  double distance2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double below = wanted.low[axis] - centre[axis], above = centre[axis] - wanted.high[axis];
    const double margin = place_margin * (std::abs(below) + std::abs(above));
    const double outside = std::max({below - margin, above - margin, 0.0}) / units_.length;
    distance2 += outside * outside;
  }
  // Rounded down on the way to single precision by at most 2^-24, which selection_margin covers.
  return !accepts(core, static_cast<float>(distance2), wanted.strictness, 2 * selection_margin);
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
    if (own || !may_open(wanted_[c], centre, core)) continue;
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
