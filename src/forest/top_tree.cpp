#include "forest/top_tree.hpp"

#include "kernels/math/moments.hpp"
#include "kernels/math/top_sum.hpp"

namespace grove {
void TopMoments::combine(std::span<const Cell> cells, std::span<const LeafRoot> roots, const WalkUnits& units,
                         const AcceptanceRule& rule) {
  std::vector<TopSum> tops(cells.size());
  centre_.resize(cells.size());
  core_.resize(cells.size());
  moments_.resize(cells.size());
  boxes_.resize(rule.needs_boxes() ? cells.size() : 0);
  links_.resize(cells.size());
  for (std::size_t n = cells.size(); n-- > 0;) {
    const Cell& cell = cells[n];
    const auto leaf = static_cast<std::size_t>(cell.first_leaf), child = static_cast<std::size_t>(cell.child);
    tops[n] = cell.is_leaf() ? top_sum_of(roots[leaf], units) : tops[child] + tops[child + 1];
    links_[n] = {cell.child, cell.first_leaf, cell.leaves};
    centre_[n] = tops[n].sum.centre * units.length;
    moments_[n] = node_moments(tops[n].sum);
    if (!boxes_.empty()) boxes_[n] = top_box(tops[n]);
    core_[n] = cell.is_leaf() ? roots[leaf].core : top_core(tops[n], rule);
  }
}

TopTree TopMoments::view() const {
  return {centre_.data(), core_.data(),  moments_.data(),
          boxes_.data(),  links_.data(), static_cast<std::int32_t>(links_.size())};
}

}  // namespace grove
