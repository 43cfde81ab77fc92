// The trees of leaves that the GPU cuts against those of the host: the same links, the same order.
#include "kernels/cuda/trees/leaf_bisection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "forest/tree_builder.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using namespace testing;

/// Leaves of these sizes, one after the other, of the records of a sample.
void expect_same(const Sample& sample, const std::vector<Count>& leaf_begin) {
  Records records = sample.records;
  TreeShapes shapes;
  bisection_builder().build(leaf_begin, records, sample.id.data(), nullptr, shapes);

  const cuda::DeviceRecords on_gpu = on_device(sample.records);
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  cuda::DeviceArray<std::uint32_t> order(records.size());
  cuda::DeviceArray<NodeLinks> links(shapes.links.size());
  cuda::cut_leaves(leaf_begin, shapes.node_begin, on_gpu, id.data(), order.data(), links.data());
  std::vector<std::uint32_t> found(records.size());
  order.download(found);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), records.begin(),
                         [](std::uint32_t index, const Record& r) { return index == r.index; }));
  std::vector<NodeLinks> nodes(shapes.links.size());
  links.download(nodes);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const NodeLinks &a = nodes[n], &b = shapes.links[n];
    ASSERT_TRUE(a.child == b.child && a.next == b.next && a.first == b.first && a.count == b.count)
        << "node " << n << " of " << nodes.size();
  }
}

using GpuLeafBisection = GpuTest;

TEST_F(GpuLeafBisection, one_leaf_of_any_size_is_cut_as_on_the_host) {
  std::vector<std::size_t> counts(70);
  std::iota(counts.begin(), counts.end(), 1);
  counts.insert(counts.end(), {95, 96, 97, 511, 512, 513, 1000, 1025, 2048, 2049, 4095, 4096});
  for (const std::size_t count : counts)
    for (const Sample& sample : samples(count)) {
      SCOPED_TRACE(sample.name + " " + std::to_string(count));
      expect_same(sample, {0, static_cast<Count>(count)});
    }
}

TEST_F(GpuLeafBisection, many_leaves_at_once_are_cut_as_on_the_host) {
  for (const Sample& sample : samples(30000)) {
    SCOPED_TRACE(sample.name);
    // Some empty, some of one particle, some full.
    std::vector<Count> leaf_begin{0, 0, 1, 9, 9, 42, 4138};
    while (leaf_begin.back() < 30000) leaf_begin.push_back(std::min<Count>(leaf_begin.back() + 1777, 30000));
    expect_same(sample, leaf_begin);
  }
}

}  // namespace
}  // namespace grove
