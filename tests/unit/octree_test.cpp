#include "kernels/math/octree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forest/check.hpp"
#include "forest/tree_builder.hpp"
#include "support/bisection_samples.hpp"
#include "support/distributions.hpp"
#include "support/grown.hpp"
#include "support/grown_checks.hpp"

namespace grove {
namespace {

using namespace testing;

/// A place along the curve, level by level.
using Key = std::array<std::uint8_t, 32>;
Key key_of(Curve curve, Coordinate x, Coordinate y, Coordinate z) {
  Key key{};
  CurveState state = first_state(curve);
  for (int level = 0; level < 32; ++level) {
    const CurveStep step = curve_step(state, octant_of(x, y, z, 31 - level));
    key[static_cast<std::size_t>(level)] = static_cast<std::uint8_t>(step.digit());
    state = step.state();
  }
  return key;
}

TEST(Curve, meets_every_cell_once) {
  for (const Curve curve : {Curve::hilbert, Curve::morton}) {
    std::set<Key> keys;
    for (Coordinate i = 0; i < 4096; ++i)
      keys.insert(key_of(curve, (i & 15) << 28, (i >> 4 & 15) << 28, (i >> 8) << 28));
    EXPECT_EQ(keys.size(), 4096u);
  }
}

TEST(Curve, of_hilbert_goes_from_neighbour_to_neighbour) {
  std::vector<std::pair<Key, std::array<int, 3>>> cells;
  for (Coordinate i = 0; i < 4096; ++i) {
    const Coordinate x = i & 15, y = i >> 4 & 15, z = i >> 8;
    cells.push_back({key_of(Curve::hilbert, x << 28, y << 28, z << 28),
                     {static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)}});
  }
  std::sort(cells.begin(), cells.end());
  for (std::size_t i = 1; i < cells.size(); ++i) {
    int steps = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      steps += std::abs(cells[i].second[axis] - cells[i - 1].second[axis]);
    ASSERT_EQ(steps, 1) << i;
  }
}

/// Leading bits that the coordinates of some records have in common.
int common_level(const Record* r, std::int32_t count) {
  Coordinate differing = 0;
  for (std::int32_t i = 1; i < count; ++i) differing |= (r[i].x ^ r->x) | (r[i].y ^ r->y) | (r[i].z ^ r->z);
  return std::countl_zero(differing);
}

/// Every node is a whole cell of the octree, divided into its octants along the curve, or by number if all
/// its particles coincide.
void expect_octree(const NodeLinks* links, std::int32_t node, const Record* records, std::int32_t count,
                   const ParticleId* id, Curve curve, std::int32_t bucket) {
  const NodeLinks& at = links[node];
  const Record* own = records + at.first;
  if (at.child == NodeLinks::bucket) {
    ASSERT_LE(at.count, bucket);
    ASSERT_EQ(at.first / group_size, (at.first + at.count - 1) / group_size) << "a group ends in it";
    return;
  }
  ASSERT_GT(at.count, bucket);
  const int level = common_level(own, at.count);
  const auto key = [&](std::int32_t i) { return key_of(curve, records[i].x, records[i].y, records[i].z); };
  const auto is_inside = [&](std::int32_t i) {
    return common_level(std::vector<Record>{*own, records[i]}.data(), 2) >= level;
  };
  if (level < 32) {
    EXPECT_TRUE(at.first == 0 || !is_inside(at.first - 1));
    EXPECT_TRUE(at.first + at.count == count || !is_inside(at.first + at.count));
  }
  std::vector<int> digits;
  for (std::int32_t c = at.child; c != at.next; c = links[c].next) {
    digits.push_back(level < 32 ? key(links[c].first)[static_cast<std::size_t>(level)] : 0);
    for (std::int32_t i = links[c].first + 1; i < links[c].first + links[c].count; ++i)
      if (level == 32)
        EXPECT_LT(id[records[i - 1].index], id[records[i].index]);
      else
        EXPECT_EQ(key(i)[static_cast<std::size_t>(level)], digits.back());
    expect_octree(links, c, records, count, id, curve, bucket);
  }
  EXPECT_TRUE(std::is_sorted(digits.begin(), digits.end()));
  EXPECT_GE(digits.size(), 2u);
  EXPECT_TRUE(level < 32 || digits.size() <= 8);
}

TEST(Octree, is_made_of_the_cells_of_the_root_cube) {
  for (const Curve curve : {Curve::hilbert, Curve::morton})
    for (const std::int32_t bucket : {1, 5, 8, 32})
      for (const std::size_t count : {1U, 8U, 9U, 33U, 600U, 3001U})
        for (const Sample& sample : samples(count)) {
          SCOPED_TRACE(sample.name + " " + std::to_string(count) + " bucket " + std::to_string(bucket));
          Records records = sample.records;
          TreeShapes shapes;
          const std::vector<Count> leaf_begin{0, static_cast<Count>(count)};
          octree_builder(curve, bucket)->build(leaf_begin, records, sample.id.data(), nullptr, shapes);
          expect_octree(shapes.links.data(), 0, records.data(), static_cast<std::int32_t>(count),
                        sample.id.data(), curve, bucket);
        }
}

/// The particles of those nodes of a leaf's octree that are divided into octants, by level and place along
/// the curve. root: whether the leaf's own node counts.
using CellCounts = std::map<std::pair<int, Key>, std::int32_t>;
CellCounts counts_by_cell(const TreeShapes& shapes, std::size_t leaf, const Record* records, Curve curve,
                          bool root) {
  CellCounts counts;
  for (auto n = static_cast<std::size_t>(shapes.node_begin[leaf]) + (root ? 0 : 1);
       n < static_cast<std::size_t>(shapes.node_begin[leaf + 1]); ++n) {
    const NodeLinks& node = shapes.links[n];
    if (node.child == NodeLinks::bucket) continue;
    const Record* const first = records + node.first;
    const int level = common_level(first, node.count);
    if (level == 32) continue;  // one point, divided by number
    Key key = key_of(curve, first->x, first->y, first->z);
    std::fill(key.begin() + level, key.end(), std::uint8_t{0});
    counts[{level, key}] = node.count;
  }
  return counts;
}

/// Nodes in leaves of a bisection by this rule, but for the roots, that are not nodes of the octree over all.
std::size_t strangers(const Sample& sample, CutRule rule, Count quantum, Curve curve) {
  Records all = sample.records, sorted = sample.records;
  const auto size = static_cast<Count>(all.size());
  TreeShapes global, local;
  octree_builder(curve)->build(std::vector<Count>{0, size}, all, sample.id.data(), nullptr, global);
  const CellCounts wanted = counts_by_cell(global, 0, all.data(), curve, true);

  const CutScheme scheme{rule, quantum};
  const auto cells =
      cut_to_leaves(scheme, root_of(scheme, all.size(), size, 0), sorted, sample.id.data(), nullptr);
  std::vector<Count> leaf_begin(static_cast<std::size_t>(cells[0].leaves) + 1, size);
  for (const Cell& cell : cells)
    if (cell.is_leaf())
      leaf_begin[static_cast<std::size_t>(cell.first_leaf - first_leaf_of_root)] = cell.first - first_of_root;
  octree_builder(curve)->build(leaf_begin, sorted, sample.id.data(), nullptr, local);
  std::size_t found = 0, strange = 0;
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf)
    for (const auto& [cell, count] :
         counts_by_cell(local, leaf, sorted.data() + leaf_begin[leaf], curve, false)) {
      const auto in_global = wanted.find(cell);
      strange += in_global == wanted.end() || in_global->second != count;
      ++found;
    }
  EXPECT_GT(found, 0U);
  return strange;
}

TEST(Octree, in_leaves_by_centre_has_the_nodes_of_the_octree_over_all) {
  for (const Curve curve : {Curve::hilbert, Curve::morton})
    for (const std::size_t kind : {0, 1, 3}) {  // uniform, a cusp, a plane
      const Sample sample = samples(20000)[kind];
      for (const Count quantum : {64, 1000})
        EXPECT_EQ(strangers(sample, CutRule::centre, quantum, curve), 0U) << sample.name << quantum;
      EXPECT_GT(strangers(sample, CutRule::middle, 1000, curve), 0U) << "whatever the rule";
    }
}

TEST(Octree, does_not_depend_on_the_order_of_records) {
  for (const Sample& sample : samples(2000)) {
    Records records = sample.records, reversed = records;
    TreeShapes shapes, others;
    const std::vector<Count> leaf_begin{0, 0, 700, 2000};
    std::reverse(reversed.begin(), reversed.begin() + 700);
    std::reverse(reversed.begin() + 700, reversed.end());
    octree_builder(Curve::hilbert)->build(leaf_begin, records, sample.id.data(), nullptr, shapes);
    octree_builder(Curve::hilbert)->build(leaf_begin, reversed, sample.id.data(), nullptr, others);
    EXPECT_EQ(records, reversed) << sample.name;
    EXPECT_EQ(shapes.node_begin, others.node_begin);
    EXPECT_EQ(shapes.node_begin[1], 0);
  }
}

TEST(Octree, is_sound_for_all_shapes_sizes_and_leaves) {
  for (const Curve curve : {Curve::hilbert, Curve::morton})
    for (const Shape shape : all_shapes)
      for (const double offset : {0.0, 1e9})
        for (const std::size_t count : {1U, 2U, 7U, 31U, 33U, 65U, 4097U})
          for (const Count quantum : {64, 1024, 1 << 20}) {
            SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
            Particles particles = make_shape(shape, count);
            for (Vec3d& p : particles.position) p += Vec3d{offset, -offset, 0};
            for (std::size_t i = 0; i < count; ++i)
              particles.type[i] = static_cast<std::uint8_t>(1 + particles.id[i] % 2);
            GravityParameters gravity;
            gravity.criterion = curve == Curve::hilbert ? Criterion::opening_edge : Criterion::opening_radius;
            gravity.softening = {0.01, 0.01, 0.05, 0, 0, 0};
            Grown grown;
            grown.prepare(particles);
            grown.sort(particles, quantum, curve == Curve::hilbert ? CutRule::middle : CutRule::centre);
            grown.build(particles, *octree_builder(curve));
            grown.moments(particles, gravity, 0);
            expect_sound(grown, gravity);
          }
}

}  // namespace
}  // namespace grove
