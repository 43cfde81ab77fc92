#include "forest/top_tree.hpp"

namespace grove {

void TopMoments::begin(std::span<const Cell> cells, const OwnLeaves& own, std::span<const LeafRoot> roots,
                       const WalkUnits& units, const AcceptanceRule& rule, double least_ball) {
  cells_ = cells;
  units_ = units;
  rule_ = rule;
  least_ball_ = least_ball;
  is_own_.resize(cells.size());
  tops_.resize(cells.size());
  centre_.resize(cells.size());
  core_.resize(cells.size());
  moments_.resize(cells.size());
  boxes_.resize(rule.needs_boxes() ? cells.size() : 0);
  links_.resize(cells.size());
  balls_.resize(cells.size());
  far_.resize(least_ball >= 0 ? cells.size() : 0);
  roots_.assign(roots.begin(), roots.end());
  for (std::size_t n = cells.size(); n-- > 0;) {
    const Cell& cell = cells[n];
    const std::int32_t first = own.before(cell.first_leaf), below = own.among(cell.first_leaf, cell.leaves);
    links_[n] = {cell.child, first, below};
    is_own_[n] = below == cell.leaves ? 1 : 0;
    if (is_own_[n] == 0) continue;
    const auto child = static_cast<std::size_t>(cell.child);
    if (cell.is_leaf())
      set_leaf(n, roots_[static_cast<std::size_t>(first)]);
    else
      set(n, united(tops_[child], tops_[child + 1], rule_.order));
  }
}

void TopMoments::set(std::size_t node, const TopSum& top) {
  tops_[node] = top;
  centre_[node] = top.sum.centre * units_.length;
  moments_[node] = top_moments(top, rule_.order);
  if (!boxes_.empty()) boxes_[node] = top_box(top);
  core_[node] = top_core(top, rule_);
  balls_[node] = least_ball_ >= 0 ? top_ball(top, units_.length, least_ball_) : Ball{};
}

void TopMoments::set_leaf(std::size_t node, const LeafRoot& root) {
  set(node, top_sum_of(root, units_, rule_.order));
  core_[node] = root.core;
  balls_[node] = root.ball;
}

TopMoments::Sum TopMoments::sum(std::int32_t cell) const {
  const auto n = static_cast<std::size_t>(cell);
  if (cells_[n].is_leaf()) return roots_[static_cast<std::size_t>(links_[n].first_leaf)];
  return tops_[n];
}

void TopMoments::take(std::int32_t cell, const Sum& sum) {
  const auto n = static_cast<std::size_t>(cell);
  if (is_own_[n] != 0) return;
  if (const LeafRoot* const root = std::get_if<LeafRoot>(&sum)) {
    links_[n] = {-1, static_cast<std::int32_t>(roots_.size()), 1};
    roots_.push_back(*root);
    set_leaf(n, *root);
  } else {
    links_[n] = TopLinks::unknown();
    set(n, std::get<TopSum>(sum));
  }
}

void TopMoments::finish() {
  for (std::size_t n = cells_.size(); n-- > 0;) {
    if (cells_[n].is_leaf() || is_own_[n] != 0) continue;
    const auto child = static_cast<std::size_t>(cells_[n].child);
    set(n, united(tops_[child], tops_[child + 1], rule_.order));
  }
  tops_ = {};
}

void TopMoments::unite_far(std::size_t node, const Images& images) {
  const auto child = static_cast<std::size_t>(cells_[node].child);
  far_[node] =
      united_moments(far_[child], balls_[child], far_[child + 1], balls_[child + 1], balls_[node], images);
}

void TopMoments::begin_far(std::span<const FarMoments> leaves, const Images& images) {
  for (std::size_t n = cells_.size(); n-- > 0;) {
    if (is_own_[n] == 0) continue;
    if (cells_[n].is_leaf())
      far_[n] = leaves[static_cast<std::size_t>(links_[n].first_leaf)];
    else
      unite_far(n, images);
  }
}

void TopMoments::take_far(std::int32_t cell, const FarMoments& moments) {
  far_[static_cast<std::size_t>(cell)] = moments;
}

void TopMoments::finish_far(const Images& images) {
  for (std::size_t n = cells_.size(); n-- > 0;)
    if (!cells_[n].is_leaf() && is_own_[n] == 0) unite_far(n, images);
}

TopCell TopMoments::cell(std::int32_t node) const {
  const auto n = static_cast<std::size_t>(node);
  if (links_[n].is_leaf()) return TopCell::of_leaf(roots_[static_cast<std::size_t>(links_[n].first_leaf)]);
  const NodeBox box = boxes_.empty() ? NodeBox{} : boxes_[n];
  return {core_[n], moments_[n], centre_[n], box.low, box.high, balls_[n], false};
}

std::int32_t TopMoments::append(const TopCell& cell, const FarMoments* far) {
  const auto node = static_cast<std::int32_t>(links_.size());
  NodeBox box{cell.low, cell.high};
  if (cell.is_leaf) {
    const LeafRoot root = cell.root();
    const TopSum top = top_sum_of(root, units_, rule_.order);
    links_.push_back({-1, static_cast<std::int32_t>(roots_.size()), 1});
    roots_.push_back(root);
    centre_.push_back(top.sum.centre * units_.length);
    moments_.push_back(top_moments(top, rule_.order));
    box = top_box(top);
  } else {
    links_.push_back(TopLinks::unknown());
    centre_.push_back(cell.place);
    moments_.push_back(cell.moments);
  }
  core_.push_back(cell.core);
  balls_.push_back(cell.ball);
  if (far != nullptr) far_.push_back(*far);
  if (rule_.needs_boxes()) boxes_.push_back(box);
  return node;
}

TopTree TopMoments::view() const {
  return {centre_.data(),
          core_.data(),
          moments_.data(),
          boxes_.data(),
          links_.data(),
          balls_.data(),
          static_cast<std::int32_t>(links_.size())};
}

}  // namespace grove
