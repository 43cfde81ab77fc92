// The kd-trees of leaves that the GPU makes against those of the host: the same links, order and groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "forest/tree_builder.hpp"
#include "kernels/cuda/trees/kd_tree.hpp"
#include "kernels/cuda/trees/leaf_groups.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr KdSplit all_splits[] = {KdSplit::vmh, KdSplit::vmh_tight, KdSplit::middle, KdSplit::median};

enum class Masses { equal, different };

std::vector<double> masses_of(const Sample& sample, Masses kind) {
  std::vector<double> mass;
  for (const ParticleId id : sample.id)
    mass.push_back(kind == Masses::equal ? 0.1 : id % 5 == 0 ? 0 : 1e-3 * static_cast<double>(id % 1009));
  return mass;
}

std::vector<NodeLinks> downloaded(const cuda::DeviceArray<NodeLinks>& links) {
  std::vector<NodeLinks> nodes(links.size());
  links.download(nodes);
  return nodes;
}

void expect_same_groups(const std::vector<Count>& leaf_begin, const TreeShapes& shapes,
                        const cuda::DeviceArray<NodeLinks>& links) {
  std::vector<cuda::LeafPlaces> places;
  for (std::size_t i = 0; i + 1 < leaf_begin.size(); ++i)
    places.push_back({static_cast<std::uint64_t>(leaf_begin[i]),
                      static_cast<std::uint64_t>(shapes.node_begin[i]), 0,
                      static_cast<std::int32_t>(leaf_begin[i + 1] - leaf_begin[i]),
                      static_cast<std::int32_t>(shapes.node_begin[i + 1] - shapes.node_begin[i]), 0});
  const cuda::LeafGroups groups = cuda::nodes_as_groups(places, links.data());
  std::vector<GroupRun> runs(groups.runs.size());
  std::vector<std::uint32_t> leaf_of_group(groups.leaf_of_group.size());
  groups.runs.download(runs);
  groups.leaf_of_group.download(leaf_of_group);
  ASSERT_EQ(runs.size(), shapes.groups.size());
  for (std::size_t leaf = 0; leaf < places.size(); ++leaf) {
    ASSERT_EQ(static_cast<Count>(places[leaf].group), shapes.group_begin[leaf]);
    ASSERT_EQ(places[leaf].groups, shapes.group_begin[leaf + 1] - shapes.group_begin[leaf]);
    for (Count g = shapes.group_begin[leaf]; g < shapes.group_begin[leaf + 1]; ++g) {
      const auto at = static_cast<std::size_t>(g);
      ASSERT_EQ(leaf_of_group[at], leaf);
      ASSERT_EQ(runs[at].first, shapes.groups[at].first);
      ASSERT_EQ(runs[at].count, shapes.groups[at].count);
    }
  }
}

/// Leaves of these sizes, one after the other, of the records of a sample.
void expect_same(cuda::KdTreeBuilder& builder, KdSplit split, std::int32_t bucket, Masses masses,
                 const Sample& sample, const std::vector<Count>& leaf_begin) {
  Records records = sample.records;
  const std::vector<double> mass = masses_of(sample, masses);
  TreeShapes shapes;
  const auto on_host = kd_tree_builder(split, bucket);
  on_host->build(leaf_begin, records, sample.id.data(), mass.data(), shapes);
  on_host->group(leaf_begin, shapes);

  const cuda::DeviceRecords on_gpu = on_device(sample.records);
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  const cuda::DeviceArray<double> masses_on_gpu{std::span(mass)};
  cuda::DeviceArray<std::uint32_t> order(records.size());
  cuda::DeviceArray<NodeLinks> links;
  ASSERT_EQ(builder.build(leaf_begin, {on_gpu, id.data(), {masses_on_gpu.data(), masses_on_gpu.size()}},
                          order.data(), links),
            shapes.node_begin);
  std::vector<std::uint32_t> found(records.size());
  order.download(found);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), records.begin(),
                         [](std::uint32_t index, const Record& r) { return index == r.index; }));
  const std::vector<NodeLinks> nodes = downloaded(links);
  for (std::size_t n = 0; n < shapes.links.size(); ++n) {
    const NodeLinks &a = nodes[n], &b = shapes.links[n];
    ASSERT_TRUE(a.child == b.child && a.next == b.next && a.first == b.first && a.count == b.count)
        << "node " << n << " of " << shapes.links.size();
  }
  expect_same_groups(leaf_begin, shapes, links);
}

using GpuKdTree = GpuTest;

TEST_F(GpuKdTree, of_one_leaf_of_any_size_is_that_of_the_host) {
  for (const KdSplit split : all_splits)
    for (const std::int32_t bucket : {1, 8, 32}) {
      cuda::KdTreeBuilder builder(split, bucket);
      for (const std::size_t count : {1U, 2U, 9U, 33U, 255U, 256U, 5001U})
        for (const Sample& sample : samples(count))
          for (const Masses masses : {Masses::equal, Masses::different}) {
            SCOPED_TRACE(sample.name + " " + std::to_string(count) + ", bucket " + std::to_string(bucket) +
                         ", split " + std::to_string(static_cast<int>(split)));
            expect_same(builder, split, bucket, masses, sample, {0, static_cast<Count>(count)});
          }
    }
}

TEST_F(GpuKdTree, of_many_leaves_are_those_of_the_host) {
  for (const Sample& sample : samples(20000)) {
    SCOPED_TRACE(sample.name);
    // Some empty, some of one particle, some that need no division, some of large nodes.
    std::vector<Count> leaf_begin{0, 0, 1, 9, 9, 18, 42, 4138};
    while (leaf_begin.back() < 20000) leaf_begin.push_back(std::min<Count>(leaf_begin.back() + 777, 20000));
    leaf_begin.push_back(20000);
    cuda::KdTreeBuilder vmh(KdSplit::vmh, 8), middle(KdSplit::middle, 1);
    expect_same(vmh, KdSplit::vmh, 8, Masses::different, sample, leaf_begin);
    expect_same(middle, KdSplit::middle, 1, Masses::different, sample, leaf_begin);
  }
}

/// Each of the first particles is cut off by itself, the others are at one place: more small nodes than there
/// is memory for at first, and as many levels as there can be.
TEST_F(GpuKdTree, of_particles_that_are_cut_off_one_by_one_is_that_of_the_host) {
  std::size_t number = 0;
  const Sample spread = sample("spread", 360, [&](std::mt19937_64&) {
    IntegerPosition at{0, 0, 0};
    const auto i = static_cast<int>(number++);
    if (i < 96) at[i % 3] = static_cast<Coordinate>((std::uint64_t{1} << (32 - i / 3)) - 1);
    return at;
  });
  cuda::KdTreeBuilder builder(KdSplit::vmh, 1);
  for (int i = 0; i < 2; ++i) expect_same(builder, KdSplit::vmh, 1, Masses::equal, spread, {0, 360});
}

TEST_F(GpuKdTree, does_not_depend_on_what_was_built_before) {
  cuda::KdTreeBuilder builder(KdSplit::vmh, 8);
  for (const std::size_t count : {3000U, 40U, 5000U})
    for (const Sample& sample : samples(count)) {
      SCOPED_TRACE(sample.name + " " + std::to_string(count));
      expect_same(builder, KdSplit::vmh, 8, Masses::different, sample,
                  {0, static_cast<Count>(count / 2), static_cast<Count>(count)});
    }
}

TEST_F(GpuKdTree, of_no_particles_is_none) {
  cuda::KdTreeBuilder builder(KdSplit::vmh, 8);
  expect_same(builder, KdSplit::vmh, 8, Masses::equal, sample("none", 0, cusp), {0, 0, 0});
  expect_same(builder, KdSplit::vmh, 8, Masses::equal, sample("none", 0, cusp), {0});
}

}  // namespace
}  // namespace grove
