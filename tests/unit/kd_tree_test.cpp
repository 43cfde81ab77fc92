#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "forest/check.hpp"
#include "forest/tree_builder.hpp"
#include "kernels/math/kd_cut.hpp"
#include "support/bisection_samples.hpp"
#include "support/distributions.hpp"
#include "support/grown.hpp"
#include "support/grown_checks.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr KdSplit all_splits[] = {KdSplit::vmh, KdSplit::vmh_tight, KdSplit::middle, KdSplit::median};

/// Masses of which kd_mass() loses nothing.
std::vector<double> masses_of(const Sample& sample) {
  std::vector<double> mass;
  for (const ParticleId id : sample.id) mass.push_back(static_cast<double>(1U << id % 3));
  return mass;
}

/// The kd-tree of one leaf, and what it was built of.
struct Built {
  Built(const Sample& from, Records in_order, KdSplit how, std::int32_t most)
      : sample(from), mass(masses_of(from)), split(how), bucket(most), records(std::move(in_order)) {
    leaf_begin = {0, static_cast<Count>(records.size())};
    const auto builder = kd_tree_builder(split, bucket);
    builder->build(leaf_begin, records, sample.id.data(), mass.data(), shapes);
    builder->group(leaf_begin, shapes);
  }

  const Sample& sample;
  std::vector<double> mass;
  KdSplit split;
  std::int32_t bucket;
  Records records;
  std::vector<Count> leaf_begin;
  TreeShapes shapes;
};

/// The box that the cuts above a node leave.
struct CutBox {
  IntegerPosition low, high;
};

/// Checks nodes against the definition, each by itself.
class Definition {
 public:
  explicit Definition(const Built& built) : b_(built) {}

  void expect_tree() const {
    CutBox box;
    tight(0, static_cast<std::int32_t>(b_.records.size()), box.low, box.high);
    expect_node(0, box);
  }

 private:
  void expect_node(std::int32_t n, const CutBox& box) const {
    const NodeLinks& link = b_.shapes.links[static_cast<std::size_t>(n)];
    ASSERT_EQ(link.is_bucket(), link.count <= b_.bucket);
    if (link.is_bucket()) {
      for (std::int32_t i = link.first + 1; i < link.first + link.count; ++i) ASSERT_LT(id(i - 1), id(i));
      return;
    }
    IntegerPosition low, high;
    tight(link.first, link.count, low, high);
    const int axis = longest_axis(low, high);
    const NodeLinks& left = b_.shapes.links[static_cast<std::size_t>(link.child)];
    const Coordinate plane = expect_cut(link, left.count, axis, low, high, box);
    CutBox of_left = box, of_right = box;
    of_left.high[axis] = of_right.low[axis] = plane;
    expect_node(link.child, of_left);
    expect_node(link.child + 1, of_right);
  }

  /// Returns the plane.
  Coordinate expect_cut(const NodeLinks& link, std::int32_t left, int axis, const IntegerPosition& low,
                        const IntegerPosition& high, const CutBox& box) const {
    std::vector<std::int32_t> order;
    for (std::int32_t i = link.first; i < link.first + link.count; ++i) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
      return at(i, axis) != at(j, axis) ? at(i, axis) < at(j, axis) : id(i) < id(j);
    });
    for (std::int32_t k = 0; k < link.count; ++k)
      EXPECT_EQ(order[static_cast<std::size_t>(k)] < link.first + left, k < left) << "not a prefix";
    const Coordinate last = at(order[static_cast<std::size_t>(left - 1)], axis);
    if (low[axis] == high[axis]) {
      EXPECT_EQ(left, link.count / 2);
      return last;
    }
    if (link.count >= kd_large || b_.split == KdSplit::middle) {
      const Coordinate middle = kd_middle(low[axis], high[axis]);
      EXPECT_LT(last, middle);
      EXPECT_GE(at(order[static_cast<std::size_t>(left)], axis), middle);
      return middle;
    }
    if (b_.split == KdSplit::median)
      EXPECT_EQ(left, link.count / 2);
    else if (b_.split == KdSplit::vmh)
      EXPECT_EQ(left, best(order, axis, box.low[axis], box.high[axis]));
    else
      EXPECT_EQ(left, best(order, axis, low[axis], high[axis]));
    return last;
  }

  std::int32_t best(const std::vector<std::int32_t>& order, int axis, Coordinate low, Coordinate high) const {
    double all = 0, left = 0, least = 1e300;  // integers below 2^53
    for (const std::int32_t i : order) all += mass(i);
    std::int32_t found = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      left += mass(order[k - 1]);
      const Coordinate plane = at(order[k - 1], axis);
      const double cost =
          static_cast<double>(plane - low) * left + static_cast<double>(high - plane) * (all - left);
      if (plane == at(order[k], axis) || cost >= least) continue;
      least = cost;
      found = static_cast<std::int32_t>(k);
    }
    return found;
  }

  void tight(std::int32_t first, std::int32_t count, IntegerPosition& low, IntegerPosition& high) const {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = high[axis] = at(first, axis);
      for (std::int32_t i = first; i < first + count; ++i) {
        low[axis] = std::min(low[axis], at(i, axis));
        high[axis] = std::max(high[axis], at(i, axis));
      }
    }
  }

  const Record& record(std::int32_t i) const { return b_.records[static_cast<std::size_t>(i)]; }
  Coordinate at(std::int32_t i, int axis) const { return record(i)[axis]; }
  ParticleId id(std::int32_t i) const { return b_.sample.id[record(i).index]; }
  double mass(std::int32_t i) const { return b_.mass[record(i).index]; }

  const Built& b_;
};

TEST(KdTree, is_cut_as_defined) {
  for (const std::size_t count : {1U, 2U, 33U, 255U, 256U, 1500U})
    for (const Sample& sample : samples(count))
      for (const KdSplit split : all_splits)
        for (const std::int32_t bucket : {1, 8, 31}) {
          SCOPED_TRACE(sample.name + " " + std::to_string(count) + " split " +
                       std::to_string(static_cast<int>(split)) + " bucket " + std::to_string(bucket));
          Definition(Built(sample, sample.records, split, bucket)).expect_tree();
        }
}

TEST(KdTree, does_not_depend_on_the_order_of_records) {
  for (const Sample& sample : samples(1500))
    for (const KdSplit split : all_splits) {
      SCOPED_TRACE(sample.name);
      Records reversed(sample.records.rbegin(), sample.records.rend());
      const Built one(sample, sample.records, split, 8), other(sample, reversed, split, 8);
      EXPECT_EQ(one.records, other.records);
      const auto is_same = [](const NodeLinks& a, const NodeLinks& b) {
        return a.child == b.child && a.next == b.next && a.first == b.first && a.count == b.count;
      };
      EXPECT_TRUE(std::equal(one.shapes.links.begin(), one.shapes.links.end(), other.shapes.links.begin(),
                             other.shapes.links.end(), is_same));
    }
}

TEST(KdTree, groups_are_the_largest_nodes_that_fit) {
  for (const Sample& sample : samples(1500)) {
    const Built built(sample, sample.records, KdSplit::vmh, 8);
    std::int32_t first = 0;
    for (const GroupRun& group : built.shapes.groups) {
      EXPECT_EQ(group.first, first);
      EXPECT_LE(group.count, group_size);
      first += group.count;
    }
    EXPECT_EQ(first, 1500);
    std::size_t parents = 0;  // nodes too large for a group whose children are not
    for (const NodeLinks& link : built.shapes.links) parents += link.count > group_size;
    EXPECT_EQ(built.shapes.groups.size(), parents + 1) << "a binary tree has one leaf more than inner nodes";
  }
}

TEST(KdTree, is_sound_for_all_shapes) {
  for (const Shape shape : all_shapes)
    for (const std::int32_t bucket : {1, 32}) {
      SCOPED_TRACE(name_of(shape));
      Particles particles = make_shape(shape, 2000);
      GravityParameters gravity;
      gravity.criterion = Criterion::opening_edge;
      gravity.softening.fill(0.01);
      Grown grown;
      grown.prepare(particles);
      grown.sort(particles, 512);
      grown.build(particles, *kd_tree_builder(KdSplit::vmh, bucket));
      grown.moments(particles, gravity, 0);
      expect_sound(grown, gravity, bucket);
    }
}

}  // namespace
}  // namespace grove
