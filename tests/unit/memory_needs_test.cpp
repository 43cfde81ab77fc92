#include "backend/memory_needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "forest/tree_builder.hpp"
#include "kernels/math/node.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

GravityParameters gravity_of(LocalTreeKind tree, Count bucket) {
  GravityParameters gravity;
  gravity.tree = tree, gravity.bucket = bucket;
  return gravity;
}
const GravityParameters bisections = gravity_of(LocalTreeKind::bisection, 8);

/// The published kd-tree, of which memory was measured on a GPU.
GravityParameters published_kd_tree() {
  GravityParameters gravity = gravity_of(LocalTreeKind::kd, 1);
  gravity.criterion = Criterion::relative_edge;
  gravity.walk = WalkKind::rope;
  return gravity;
}

/// Nodes per particle of one tree in a leaf.
double nodes_of(testing::Shape shape, std::size_t count, const GravityParameters& gravity) {
  testing::ShapeSampler sampler(shape, 7);
  std::vector<Vec3d> position(count);
  std::vector<ParticleId> id(count);
  for (std::size_t i = 0; i < count; ++i) position[i] = sampler(i), id[i] = i;
  Vec3d low = position[0], high = position[0];
  for (const Vec3d& place : position)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], place[axis]);
      high[axis] = std::max(high[axis], place[axis]);
    }
  std::vector<Record> records(count);
  make_records(Box::around(low, high), {position.data()}, count, records.data());
  TreeShapes shapes;
  tree_builder(gravity)->build(std::vector<Count>{0, static_cast<Count>(count)}, records, id.data(),
                               std::vector<double>(count, 1).data(), shapes);
  return static_cast<double>(shapes.links.size()) / static_cast<double>(count);
}

// Sizes over a factor of eight, because the nodes of a uniform octree come and go with the size of its cells.
TEST(MemoryNeeds, knows_how_many_nodes_there_are) {
  using testing::Shape;
  for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree, LocalTreeKind::kd})
    for (const Count bucket : {1, 2, 3, 5, 8, 16, 32}) {
      const GravityParameters gravity = gravity_of(tree, bucket);
      double most = 0;
      for (const Shape shape : {Shape::uniform, Shape::plummer, Shape::hernquist})
        for (std::size_t count = 2500; count <= 20000; count = count * 4 / 3)
          most = std::max(most, nodes_of(shape, count, gravity));
      EXPECT_LE(most, nodes_per_particle(gravity) + 2. / 2500) << bucket << ": and a bucket that is not full";
      EXPECT_GE(1.5 * most, nodes_per_particle(gravity)) << bucket << ": memory would be refused in vain";
    }
}

// The arrays of a node are those of kernels/math/node.hpp. What a criterion adds to them, it adds to memory.
TEST(MemoryNeeds, grow_by_the_arrays_of_nodes) {
  for (const LocalTreeKind tree : {LocalTreeKind::octree, LocalTreeKind::kd}) {
    const GravityParameters plain = gravity_of(tree, 4);
    const double nodes = nodes_per_particle(plain);
    GravityParameters boxes = plain, cells = plain;
    boxes.criterion = Criterion::relative_edge, cells.criterion = Criterion::opening_cell;
    for (const auto& bytes :
         {+[](const GravityParameters& gravity) { return host_bytes_per_particle(gravity); },
          +[](const GravityParameters& gravity) { return device_bytes_per_particle(1, gravity); }}) {
      EXPECT_NEAR(bytes(boxes) - bytes(plain), nodes * sizeof(NodeBox), 1e-9);
      EXPECT_NEAR(bytes(cells) - bytes(plain), nodes, 1e-9) << "a byte of a level";
      EXPECT_GT(bytes(plain) - bytes(gravity_of(tree, 8)),
                (nodes - nodes_per_particle(gravity_of(tree, 8))) *
                    (sizeof(NodeLinks) + sizeof(NodeCore) + sizeof(NodeMoments)));
    }
    EXPECT_NEAR(checkpoint_bytes_per_particle(plain) - checkpoint_bytes_per_particle(gravity_of(tree, 8)),
                (nodes - nodes_per_particle(gravity_of(tree, 8))) * sizeof(NodeLinks), 1e-9);
    EXPECT_NEAR(checkpoint_bytes_per_particle(cells) - checkpoint_bytes_per_particle(plain), nodes, 1e-9);
  }
}

// Bytes that were measured, docs/measurements: cpu.md, gpu-forces.md and checkpoints. An envelope holds them,
// and is not above them by more than a fifth.
TEST(MemoryNeeds, hold_what_was_measured) {
  const auto expect = [](double predicted, double measured, const char* what) {
    EXPECT_GE(predicted, measured) << what;
    EXPECT_LE(predicted, 1.2 * measured) << what;
  };
  expect(host_bytes_per_particle(bisections), 222, "bisections");
  expect(host_bytes_per_particle(gravity_of(LocalTreeKind::kd, 1)), 375, "kd-trees, bucket 1");
  expect(host_bytes_per_particle(published_kd_tree()), 399, "published kd-trees in small leaves");
  expect(host_bytes_of_leaf(1, gravity_of(LocalTreeKind::kd, 1)), 468, "one kd-tree, groups");
  expect(host_bytes_of_leaf(1, published_kd_tree()), 261, "one kd-tree, ropes");
  expect(device_bytes_per_particle(1, bisections), 184, "block steps on a GPU");
  // 391 bytes more than bisections, which had 286 as long as trees stayed while cells were cut.
  expect(device_bytes_per_particle(1, published_kd_tree()), 286 + 391, "published kd-trees on a GPU");
  EXPECT_GT(device_bytes_per_particle(2, bisections), device_bytes_per_particle(1, bisections));
  expect(host_bytes_per_particle(bisections, true), 571, "gas in block steps");
  EXPECT_EQ(checkpoint_bytes_per_particle(bisections), 110);
  EXPECT_EQ(checkpoint_bytes_per_particle(bisections, true), 178);
}

}  // namespace
}  // namespace grove
