#include "forest/tree_builder.hpp"

#include <algorithm>
#include <stdexcept>

namespace grove {
namespace {

void link(const LocalCell* cells, NodeLinks* links, Count nodes) {
  if (nodes > 0) links[0].next = -1;
  for (Count n = 0; n < nodes; ++n) {
    const std::int32_t child = cells[n].is_bucket() ? NodeLinks::bucket : cells[n].child;
    links[n] = {child, links[n].next, cells[n].first, cells[n].count};
    if (child < 0) continue;
    links[child].next = child + 1;
    links[child + 1].next = links[n].next;
  }
}

class BisectionBuilder : public TreeBuilder {
 public:
  void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
             const double*, TreeShapes& shapes) const override {
    const std::size_t leaves = leaf_begin.size() - 1;
    shapes.node_begin.assign(1, 0);
    for (std::size_t i = 0; i < leaves; ++i)
      shapes.node_begin.push_back(shapes.node_begin.back() +
                                  local_cells(static_cast<std::int32_t>(leaf_begin[i + 1] - leaf_begin[i])));
    const auto nodes = static_cast<std::size_t>(shapes.node_begin.back());
    cells_.resize(nodes);
    shapes.links.resize(nodes);
    cut_leaves(leaf_begin, records.data(), id, shapes.node_begin, cells_.data());
    for (std::size_t i = 0; i < leaves; ++i)
      link(cells_.data() + shapes.node_begin[i], shapes.links.data() + shapes.node_begin[i],
           shapes.node_begin[i + 1] - shapes.node_begin[i]);
  }
  void group(std::span<const Count> leaf_begin, TreeShapes& shapes) const override {
    make_full_groups(leaf_begin, shapes);
  }

 private:
  mutable Array<LocalCell> cells_;  ///< kept from call to call: its pages are the cost of a fresh one
};

}  // namespace

void make_full_groups(std::span<const Count> leaf_begin, TreeShapes& shapes) {
  shapes.groups.clear();
  shapes.group_begin.assign(1, 0);
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    const auto count = static_cast<std::int32_t>(leaf_begin[leaf + 1] - leaf_begin[leaf]);
    for (std::int32_t first = 0; first < count; first += group_size)
      shapes.groups.push_back({first, std::min(group_size, count - first)});
    shapes.group_begin.push_back(static_cast<Count>(shapes.groups.size()));
  }
}

void bisect_leaf(std::span<Record> records, const ParticleId* id, NodeLinks* links) {
  thread_local Array<LocalCell> cells;
  const auto count = static_cast<std::int32_t>(records.size());
  cells.resize(static_cast<std::size_t>(local_cells(count)));
  cut_leaf(records.data(), count, id, cells.data());
  link(cells.data(), links, std::ssize(cells));
}

const TreeBuilder& bisection_builder() {
  static const BisectionBuilder builder;
  return builder;
}

std::unique_ptr<TreeBuilder> tree_builder(const GravityParameters& gravity) {
  switch (gravity.tree) {
    case LocalTreeKind::bisection:
      return std::make_unique<BisectionBuilder>();
    case LocalTreeKind::octree:
      return octree_builder(gravity.curve, static_cast<std::int32_t>(gravity.bucket));
    case LocalTreeKind::kd:
      return kd_tree_builder(gravity.split, static_cast<std::int32_t>(gravity.bucket));
  }
  throw std::logic_error("no builder for this kind of tree");
}

}  // namespace grove
