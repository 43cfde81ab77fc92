// The trees of leaves that the GPU cuts against those of the host: the same links, the same order.
#include "kernels/cuda/trees/leaf_bisection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "forest/forest.hpp"
#include "forest/tree_builder.hpp"
#include "kernels/cuda/trees/tree_renewal.hpp"
#include "support/active_leaves.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"
#include "support/distributions.hpp"
#include "support/grown.hpp"
#include "support/halved_cells.hpp"

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

template <class T>
cuda::FieldBytes bytes_of(const cuda::DeviceArray<T>& array) {
  return {reinterpret_cast<std::byte*>(array.data()), sizeof(T)};
}

/// Fields of elements of 24, 12, 8, 4 and 1 bytes. cell: leaves of a domain cell, 0: there are none.
void expect_renewed_as_on_the_host(Shape shape, Count leaf_size, std::size_t cell) {
  SCOPED_TRACE(name_of(shape) + ", leaves of " + std::to_string(leaf_size) + ", cells of " +
               std::to_string(cell));
  {
    Particles particles = make_shape(shape, 30000);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      const auto number = static_cast<float>(i);
      particles.acceleration[i] = {number, 2 * number, 3 * number};
      particles.potential[i] = -number;
    }
    std::vector<Count> leaf_begin{0, 0, 1, 9};
    while (leaf_begin.back() < 30000)
      leaf_begin.push_back(std::min<Count>(leaf_begin.back() + leaf_size, 30000));
    Grown grown;
    grown.prepare(particles);
    Forest forest;
    forest.build(particles, grown.box, leaf_begin);
    activate_leaves(leaf_begin, 2, particles);
    DomainCells cells;
    if (cell > 0) cells = halved_cells(leaf_begin, 3, cell);
    for (std::size_t c = 0; c < cells.cells.size(); c += 2)  // every other one is at rest but for 9 particles
      for (std::size_t i = 9; i < cells.cells[c].count; ++i) particles.rung[cells.cells[c].first + i] = 1;
    for (std::size_t i = 0; i < particles.size(); ++i)
      particles.position[i] += Vec3d{0.3 * std::sin(static_cast<double>(i)), -0.2, 0.1};

    const auto upload = [](const auto& field) {
      using T = typename std::remove_cvref_t<decltype(field)>::value_type;
      return cuda::DeviceArray<T>{std::span<const T>(field)};
    };
    const auto position = upload(particles.position);
    const auto id = upload(particles.id);
    const auto rung = upload(particles.rung);
    const auto acceleration = upload(particles.acceleration);
    const auto potential = upload(particles.potential);
    const auto links = upload(forest.shapes().links);
    std::vector<cuda::LeafPlaces> places;
    for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf)
      places.push_back({static_cast<std::uint64_t>(leaf_begin[leaf]),
                        static_cast<std::uint64_t>(forest.shapes().node_begin[leaf]), 0,
                        static_cast<std::int32_t>(leaf_begin[leaf + 1] - leaf_begin[leaf]), 0, 0});
    const cuda::FieldBytes fields[] = {bytes_of(position), bytes_of(id), bytes_of(rung),
                                       bytes_of(acceleration), bytes_of(potential)};
    const cuda::DeviceDomainCells device_cells(cells.view());
    cuda::renew_trees(upload(places), static_cast<std::int32_t>(leaf_size), device_cells,
                      {grown.box, particles.size(), position.data(), id.data(), rung.data(), 2}, fields,
                      links.data(), GroupCuts{});

    const Array<ParticleId> before = particles.id;
    forest.renew(particles, 2, cells.view());
    EXPECT_NE(particles.id, before);
    const auto expect_equal = [](const auto& found, const auto& expected) {
      auto host = expected;
      found.download(host);
      EXPECT_TRUE(host == expected);
    };
    expect_equal(position, particles.position);
    expect_equal(id, particles.id);
    expect_equal(rung, particles.rung);
    expect_equal(acceleration, particles.acceleration);
    expect_equal(potential, particles.potential);
    std::vector<NodeLinks> nodes(forest.shapes().links.size());
    links.download(nodes);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const NodeLinks &a = nodes[n], &b = forest.shapes().links[n];
      ASSERT_TRUE(a.child == b.child && a.next == b.next && a.first == b.first && a.count == b.count) << n;
    }
  }
}

TEST_F(GpuLeafBisection, trees_of_active_leaves_are_renewed_as_on_the_host) {
  for (const Count leaf_size : {300, 1000, 1777, 4096})
    expect_renewed_as_on_the_host(Shape::plummer, leaf_size, 0);
}

/// In a lattice many coordinates are equal.
TEST_F(GpuLeafBisection, active_domain_cells_are_cut_as_on_the_host) {
  for (const Shape shape : {Shape::plummer, Shape::clumps, Shape::lattice}) {
    for (const Count leaf_size : {300, 1000}) expect_renewed_as_on_the_host(shape, leaf_size, 7);
    expect_renewed_as_on_the_host(shape, 4096, 3);
    expect_renewed_as_on_the_host(shape, 64, 32);
  }
}

}  // namespace
}  // namespace grove
