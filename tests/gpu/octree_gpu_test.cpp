// The octrees of leaves that the GPU makes against those of the host: the same links, the same order.
#include "kernels/cuda/trees/octree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "forest/tree_builder.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using namespace testing;

/// Leaves of these sizes, one after the other, of the records of a sample.
void expect_same(cuda::OctreeBuilder& builder, Curve curve, const Sample& sample,
                 const std::vector<Count>& leaf_begin, std::int32_t bucket = bucket_size) {
  Records records = sample.records;
  TreeShapes shapes;
  octree_builder(curve, bucket)->build(leaf_begin, records, sample.id.data(), nullptr, shapes);

  const cuda::DeviceRecords on_gpu = on_device(sample.records);
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  cuda::DeviceArray<std::uint32_t> order(records.size());
  cuda::DeviceArray<NodeLinks> links;
  builder.sort(leaf_begin, on_gpu, id.data());
  ASSERT_EQ(builder.build(order.data(), links), shapes.node_begin);
  std::vector<std::uint32_t> found(records.size());
  order.download(found);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), records.begin(),
                         [](std::uint32_t index, const Record& r) { return index == r.index; }));
  std::vector<NodeLinks> nodes(links.size());
  links.download(nodes);
  for (std::size_t n = 0; n < shapes.links.size(); ++n) {
    const NodeLinks &a = nodes[n], &b = shapes.links[n];
    ASSERT_TRUE(a.child == b.child && a.next == b.next && a.first == b.first && a.count == b.count)
        << "node " << n << " of " << shapes.links.size();
  }
}

/// Pairs in pairs of pairs: as deep as coordinates go.
Sample nested(std::size_t count) {
  std::size_t number = 0;
  return sample("nested", count, [&](std::mt19937_64& random) {
    const int depth = static_cast<int>(number++ % 32);
    const Coordinate x = 0x55555555U ^ (1U << depth);
    return IntegerPosition{x, ~x, static_cast<Coordinate>(random() % 3)};
  });
}

using GpuOctree = GpuTest;

TEST_F(GpuOctree, of_one_leaf_of_any_size_is_that_of_the_host) {
  for (const Curve curve : {Curve::hilbert, Curve::morton}) {
    cuda::OctreeBuilder builder(curve);
    for (const std::size_t count : {1U, 2U, 8U, 9U, 31U, 32U, 33U, 65U, 600U, 5001U}) {
      std::vector<Sample> all = samples(count);
      all.push_back(nested(count));
      for (const Sample& sample : all) {
        SCOPED_TRACE(sample.name + " " + std::to_string(count));
        expect_same(builder, curve, sample, {0, static_cast<Count>(count)});
      }
    }
  }
}

TEST_F(GpuOctree, with_buckets_of_any_size_is_that_of_the_host) {
  for (const std::int32_t bucket : {1, 2, 3, 7, 9, 16, 31, 32}) {
    cuda::OctreeBuilder builder(Curve::hilbert, bucket);
    for (const std::size_t count : {1U, 2U, 9U, 31U, 32U, 33U, 65U, 600U, 5001U}) {
      std::vector<Sample> all = samples(count);
      all.push_back(nested(count));
      const auto n = static_cast<Count>(count);
      for (const Sample& sample : all) {
        SCOPED_TRACE(sample.name + " " + std::to_string(count) + ", buckets of " + std::to_string(bucket));
        expect_same(builder, Curve::hilbert, sample, {0, n}, bucket);
        expect_same(builder, Curve::hilbert, sample, {0, n / 3, n / 3, n / 3 + n / 2, n}, bucket);
      }
    }
  }
}

TEST_F(GpuOctree, of_many_leaves_are_those_of_the_host) {
  for (const Sample& sample : samples(20000)) {
    SCOPED_TRACE(sample.name);
    cuda::OctreeBuilder builder(Curve::hilbert);
    // Some empty, some of one particle, some that need no division.
    std::vector<Count> leaf_begin{0, 0, 1, 9, 9, 18, 42, 4138};
    while (leaf_begin.back() < 20000) leaf_begin.push_back(std::min<Count>(leaf_begin.back() + 777, 20000));
    leaf_begin.push_back(20000);
    expect_same(builder, Curve::hilbert, sample, leaf_begin);
  }
}

TEST_F(GpuOctree, does_not_depend_on_what_was_built_before) {
  cuda::OctreeBuilder builder(Curve::hilbert);
  for (const std::size_t count : {3000U, 40U, 5000U})
    for (const Sample& sample : samples(count)) {
      SCOPED_TRACE(sample.name + " " + std::to_string(count));
      expect_same(builder, Curve::hilbert, sample,
                  {0, static_cast<Count>(count / 2), static_cast<Count>(count)});
    }
}

TEST_F(GpuOctree, of_no_particles_is_none) {
  cuda::OctreeBuilder builder(Curve::hilbert);
  expect_same(builder, Curve::hilbert, sample("none", 0, cusp), {0, 0, 0});
  expect_same(builder, Curve::hilbert, sample("none", 0, cusp), {0});
}

}  // namespace
}  // namespace grove
