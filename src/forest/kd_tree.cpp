#include <algorithm>
#include <cstddef>

#include "forest/leaf_by_leaf.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/kd_cut.hpp"

namespace grove {
namespace {

/// The two boxes of a node that cuts go by: its particles' tight one, and the one that the cuts above it
/// leave.
struct KdBoxes {
  IntegerPosition tight_low, tight_high, cut_low, cut_high;
};

/// Grows the tree of one leaf.
class LeafKdTree {
 public:
  LeafKdTree(KdSplit split, std::int32_t bucket, std::span<Record> records, const ParticleId* id,
             const double* mass, std::vector<NodeLinks>& links)
      : split_(split), bucket_(bucket), records_(records), id_(id), mass_(mass), links_(links) {}

  void grow() {
    const auto count = static_cast<std::int32_t>(records_.size());
    links_.push_back({NodeLinks::bucket, -1, 0, count});
    KdBoxes boxes = tight(0, count);
    boxes.cut_low = boxes.tight_low, boxes.cut_high = boxes.tight_high;
    divide(0, boxes);
  }

 private:
  /// A cut: how many particles go left, and where the boxes of both parts meet.
  struct Parting {
    std::int32_t left;
    Coordinate plane;
  };

  /// Brings the particles of a node into their final order, and appends all below it.
  void divide(std::int32_t node, const KdBoxes& boxes) {
    const std::int32_t first = link(node).first, count = link(node).count;
    if (count <= bucket_) {
      std::sort(begin(first), begin(first + count), Before{-1, id_});
      return;
    }
    const int axis = longest_axis(boxes.tight_low, boxes.tight_high);
    const Parting parting = part(first, count, axis, boxes);
    const std::int32_t child = nodes(), left = parting.left;
    links_.push_back({NodeLinks::bucket, child + 1, first, left});
    links_.push_back({NodeLinks::bucket, link(node).next, first + left, count - left});
    link(node).child = child;
    KdBoxes of_left = tight(first, left), of_right = tight(first + left, count - left);
    of_left.cut_low = of_right.cut_low = boxes.cut_low;
    of_left.cut_high = of_right.cut_high = boxes.cut_high;
    of_left.cut_high[axis] = of_right.cut_low[axis] = parting.plane;
    divide(child, of_left);
    divide(child + 1, of_right);
  }

  Parting part(std::int32_t first, std::int32_t count, int axis, const KdBoxes& boxes) {
    const Coordinate low = boxes.tight_low[axis], high = boxes.tight_high[axis];
    if (low == high) return order(first, count, count / 2, axis);
    if (count >= kd_large || split_ == KdSplit::middle)
      return part_in_the_middle(first, count, axis, low, high);
    if (split_ == KdSplit::median) return order(first, count, count / 2, axis);
    std::sort(begin(first), begin(first + count), Before{axis, id_});
    const bool is_tight = split_ == KdSplit::vmh_tight;
    const std::int32_t left = least_volume_mass(first, count, axis, is_tight ? low : boxes.cut_low[axis],
                                                is_tight ? high : boxes.cut_high[axis]);
    return {left, at(first + left - 1, axis)};
  }

  /// The first `left` particles in the order of (coordinate, id) go left.
  Parting order(std::int32_t first, std::int32_t count, std::int32_t left, int axis) {
    std::nth_element(begin(first), begin(first + left - 1), begin(first + count), Before{axis, id_});
    return {left, at(first + left - 1, axis)};
  }

  Parting part_in_the_middle(std::int32_t first, std::int32_t count, int axis, Coordinate low,
                             Coordinate high) {
    const Coordinate middle = kd_middle(low, high);
    const auto end =
        std::partition(begin(first), begin(first + count), [&](const Record& r) { return r[axis] < middle; });
    return {static_cast<std::int32_t>(end - begin(first)), middle};
  }

  std::int32_t least_volume_mass(std::int32_t first, std::int32_t count, int axis, Coordinate low,
                                 Coordinate high) const {
    double largest = 0;
    for (std::int32_t i = 0; i < count; ++i) largest = std::max(largest, mass(first + i));
    const auto mass_of = [&](std::int32_t i) { return kd_mass(mass(first + i), largest); };
    std::uint64_t all = 0;
    for (std::int32_t i = 0; i < count; ++i) all += mass_of(i);
    return volume_mass_cut(
        count, low, high, all, [&](std::int32_t i) { return at(first + i, axis); }, mass_of);
  }

  KdBoxes tight(std::int32_t first, std::int32_t count) const {
    const Record& any = records_[static_cast<std::size_t>(first)];
    IntegerPosition low{any.x, any.y, any.z}, high = low;
    for (std::int32_t i = first + 1; i < first + count; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], at(i, axis));
        high[axis] = std::max(high[axis], at(i, axis));
      }
    return {low, high, {}, {}};
  }

  /// The order on an axis; -1: by id alone.
  struct Before {
    int axis;
    const ParticleId* id;
    bool operator()(const Record& a, const Record& b) const {
      if (axis >= 0 && a[axis] != b[axis]) return a[axis] < b[axis];
      return id[a.index] < id[b.index];
    }
  };

  std::span<Record>::iterator begin(std::int32_t i) const { return records_.begin() + i; }
  Coordinate at(std::int32_t i, int axis) const { return records_[static_cast<std::size_t>(i)][axis]; }
  double mass(std::int32_t i) const { return mass_[records_[static_cast<std::size_t>(i)].index]; }
  std::int32_t nodes() const { return static_cast<std::int32_t>(links_.size()); }
  NodeLinks& link(std::int32_t node) { return links_[static_cast<std::size_t>(node)]; }

  KdSplit split_;
  std::int32_t bucket_;  ///< particles of a node that is not divided, at most
  std::span<Record> records_;
  const ParticleId* id_;
  const double* mass_;
  std::vector<NodeLinks>& links_;
};

/// Appends the largest nodes of at most group_size particles.
void append_groups(const NodeLinks* links, Array<GroupRun>& groups) {
  for (std::int32_t n = 0; n >= 0;) {
    const NodeLinks& link = links[n];
    const bool is_group = link.count <= group_size;
    if (is_group) groups.push_back({link.first, link.count});
    n = is_group ? link.next : link.child;
  }
}

class KdTreeBuilder : public TreeBuilder {
 public:
  KdTreeBuilder(KdSplit split, std::int32_t bucket) : split_(split), bucket_(bucket) {}

  void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
             const double* mass, TreeShapes& shapes) const override {
    build_leaf_by_leaf(
        "Grove::forest::kd_tree", leaf_begin, shapes, [&](std::size_t leaf, std::vector<NodeLinks>& links) {
          const auto first = static_cast<std::size_t>(leaf_begin[leaf]);
          const auto end = static_cast<std::size_t>(leaf_begin[leaf + 1]);
          LeafKdTree(split_, bucket_, records.subspan(first, end - first), id, mass, links).grow();
        });
  }
  void group(std::span<const Count> leaf_begin, TreeShapes& shapes) const override {
    shapes.groups.clear();
    shapes.group_begin.assign(1, 0);
    for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
      if (leaf_begin[leaf] < leaf_begin[leaf + 1])
        append_groups(shapes.links.data() + shapes.node_begin[leaf], shapes.groups);
      shapes.group_begin.push_back(static_cast<Count>(shapes.groups.size()));
    }
  }

 private:
  KdSplit split_;
  std::int32_t bucket_;
};

}  // namespace

std::unique_ptr<TreeBuilder> kd_tree_builder(KdSplit split, std::int32_t bucket) {
  return std::make_unique<KdTreeBuilder>(split, bucket);
}

}  // namespace grove
