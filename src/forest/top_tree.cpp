#include "forest/top_tree.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/math/moments.hpp"

namespace grove {
namespace {

/// What is known of a cell of the ORB on the way up; walk units, places relative to the origin of the run.
struct TopSum {
  MomentSum sum;
  double radius;
  Vec3d low, high;  ///< tight box
};

TopSum of_leaf(const LeafRoot& root, const WalkUnits& units) {
  const Vec3d place = root.origin * (1 / units.length);
  TopSum top;
  const float softening = std::abs(root.core.softening);
  top.sum.centre = place + root.core.centre.as<double>();
  top.sum.mass = root.core.mass;
  top.sum.xx = root.moments.xx, top.sum.yy = root.moments.yy, top.sum.zz = root.moments.zz;
  top.sum.xy = root.moments.xy, top.sum.xz = root.moments.xz, top.sum.yz = root.moments.yz;
  top.sum.mass_softening2 = top.sum.mass * root.moments.softening2;
  top.sum.count = 1;
  top.sum.largest_softening = softening;
  top.sum.least_softening = root.core.softening < 0 ? -1 : softening;  // less than any: mixed stays mixed
  top.radius = root.core.radius;
  top.low = place + root.low.as<double>();
  top.high = place + root.high.as<double>();
  return top;
}

/// The radius is bounded by those of the children and by the farthest corner of the box: the particles
/// themselves are on many ranks.
TopSum combined(const TopSum& a, const TopSum& b) {
  TopSum top;
  top.sum = a.sum + b.sum;
  double corner2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    top.low[axis] = std::min(a.low[axis], b.low[axis]);
    top.high[axis] = std::max(a.high[axis], b.high[axis]);
    const double c = top.sum.centre[axis];
    const double side = std::max(top.high[axis] - c, c - top.low[axis]);
    corner2 += side * side;
  }
  const double below = std::max(a.radius + norm(a.sum.centre - top.sum.centre),
                                b.radius + norm(b.sum.centre - top.sum.centre));
  top.radius = std::min(below, std::sqrt(corner2));
  return top;
}

}  // namespace

void TopMoments::combine(std::span<const Cell> cells, std::span<const LeafRoot> roots, const WalkUnits& units,
                         const AcceptanceRule& rule) {
  constexpr double round_up = 1 + 1e-6;
  std::vector<TopSum> tops(cells.size());
  centre_.resize(cells.size());
  core_.resize(cells.size());
  moments_.resize(cells.size());
  links_.resize(cells.size());
  for (std::size_t n = cells.size(); n-- > 0;) {
    const Cell& cell = cells[n];
    const auto leaf = static_cast<std::size_t>(cell.first_leaf), child = static_cast<std::size_t>(cell.child);
    tops[n] = cell.is_leaf() ? of_leaf(roots[leaf], units) : combined(tops[child], tops[child + 1]);
    links_[n] = {cell.child, cell.first_leaf, cell.leaves};
    centre_[n] = tops[n].sum.centre * units.length;
    moments_[n] = node_moments(tops[n].sum);
    core_[n] = cell.is_leaf() ? roots[leaf].core : node_core(tops[n].sum);
    if (cell.is_leaf()) continue;
    core_[n].radius = static_cast<float>(tops[n].radius * round_up);
    const Vec3d side = tops[n].high - tops[n].low, middle = (tops[n].low + tops[n].high) * 0.5;
    rule.prepare(core_[n], static_cast<float>(std::max({side.x, side.y, side.z})),
                 static_cast<float>(norm(tops[n].sum.centre - middle)),
                 moments_[n].xx + moments_[n].yy + moments_[n].zz);
  }
}

TopTree TopMoments::view() const {
  return {centre_.data(), core_.data(), moments_.data(), links_.data(),
          static_cast<std::int32_t>(links_.size())};
}

}  // namespace grove
