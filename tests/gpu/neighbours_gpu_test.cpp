// Searches of neighbours on GPUs beside brute force and the host. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
#include "kernels/cuda/neighbours/lowest_of_nodes.hpp"
#include "neighbours/gpu/device_neighbours.hpp"
#include "support/gpu_ranks.hpp"
#include "support/neighbour_sets.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::NeighbourSet;
using test::uniform;

enum class Cloud { random, clustered, coincident, lattice };
constexpr std::uint64_t count = 10000;

/// In the unit cube.
Vec3d place_in(Cloud cloud, std::uint64_t i) {
  const Vec3d u = test::place(test::Shape::uniform, i);
  switch (cloud) {
    case Cloud::random:
      return u;
    case Cloud::clustered:  // half of them around a corner, which periodic images share
      if (i % 2 == 0) return u;
      for (Vec3d p = std::pow(uniform(7777 + i), 3) * 1e-2 * (u - Vec3d{0.5, 0.5, 0.5});;) {
        for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
        return p;
      }
    case Cloud::coincident:  // 3600 in one place, more than a warp gathers at once, and 400 in others
      return test::place(test::Shape::uniform, i < 3600 ? 0 : i / 400);
    case Cloud::lattice:  // separations are equal to radii, or nearly
      return 0.05 * Vec3d{static_cast<double>(i % 20), static_cast<double>(i / 20 % 20),
                          static_cast<double>(i / 400 % 20)};
  }
  return u;
}

double radius_of(Cloud cloud, std::uint64_t i) {
  switch (cloud) {
    case Cloud::random:
      return 0.02 + 0.06 * uniform(31 * i + 5);
    case Cloud::clustered:
      return i % 2 == 0 ? 0.05 : 1e-4 * std::exp(4 * uniform(31 * i + 5));
    case Cloud::coincident:
      return i % 3 == 0 ? 0 : 0.05;
    case Cloud::lattice:
      return i % 4 == 0 ? -1 : 0.05 * static_cast<double>(1 + i % 3);  // a quarter of them takes no part
  }
  return 0;
}

/// This rank's particles, decomposed.
struct Shared {
  Particles particles;
  Domain domain;

  Shared(const Communicator& comm, Cloud cloud) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm.size())) != comm.rank()) continue;
      const std::size_t at = particles.size();
      particles.resize(at + 1);
      test::set_particle(particles, at, test::Shape::uniform, i, false);
      particles.id[at] = i;
      particles.position[at] = place_in(cloud, i);
    }
    DecompositionReport report;
    domain = decompose(comm, particles, {.leaf_size = 256}, {}, report);
  }
};

Array<double> reach_of(Cloud cloud, const Array<ParticleId>& id) {
  Array<double> radii(id.size());
  for (std::size_t i = 0; i < radii.size(); ++i) radii[i] = radius_of(cloud, id[i]);
  return radii;
}

/// By id, of all ranks, from those of the own particles.
std::vector<NeighbourSet> of_all(const Communicator& comm, const std::vector<NeighbourSet>& own,
                                 const Array<ParticleId>& id) {
  std::vector<std::uint64_t> numbers(3 * count, 0);  // each particle is on one rank, all others have 0
  for (std::size_t i = 0; i < own.size(); ++i) {
    numbers[3 * id[i]] = own[i].number;
    numbers[3 * id[i] + 1] = own[i].sum;
    numbers[3 * id[i] + 2] = own[i].chain;
  }
  comm.sum(std::span<std::uint64_t>(numbers));
  std::vector<NeighbourSet> sets(count);
  for (std::size_t i = 0; i < count; ++i) sets[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
  return sets;
}

std::vector<NeighbourSet> on_host(const Communicator& comm, Cloud cloud, NeighbourSearch kind,
                                  double period) {
  Shared shared(comm, cloud);
  Forest forest;
  forest.build(shared.particles, shared.domain.box, shared.domain.leaf_begin);
  Neighbours neighbours(comm, shared.domain, forest.shapes(), Images{period});
  neighbours.search(shared.particles.position, reach_of(cloud, shared.particles.id), kind);
  const Array<ParticleId> id = neighbours.share(std::span<const ParticleId>(shared.particles.id));
  std::vector<NeighbourSet> sets(shared.particles.size());
  neighbours.walk(test::CollectSets{id.data(), sets.data()});
  return of_all(comm, sets, shared.particles.id);
}

class NeighboursOnGpu : public testing::GpuRanks {
 protected:
  std::vector<NeighbourSet> on_gpu(const Communicator& comm, Cloud cloud, NeighbourSearch kind, double period,
                                   const GravityParameters& gravity) const {
    const Shared shared(comm, cloud);
    DeviceParticles particles(shared.particles);
    const DeviceExchange exchange(comm, devices_.shared, std::nullopt);
    cuda::DeviceRecords records(particles.size());
    cuda::make_records(shared.domain.box, {particles.values(fields::position)}, particles.size(), 0, records);
    DeviceForest forest(gravity);
    forest.cut(particles, shared.domain.leaf_begin, records, 32);
    forest.arrange(particles);
    const Particles arranged = particles.download();
    const Array<double> radii = reach_of(cloud, arranged.id);
    const cuda::DeviceArray<double> reach{std::span<const double>(radii)};

    DeviceNeighbours neighbours(comm, exchange, shared.domain, forest, Images{period});
    neighbours.search(particles.values(fields::position), reach.data(), kind);
    cuda::DeviceArray<ParticleId> memory;
    const ParticleId* const id = neighbours.share<ParticleId>(particles.values(fields::id), memory);
    const cuda::DeviceArray<NeighbourSet> found{std::vector<NeighbourSet>(particles.size())};
    test::collect_sets(neighbours.tree(), neighbours.groups(), {id, found.data()});
    std::vector<NeighbourSet> sets(particles.size());
    found.download(sets);
    return of_all(comm, sets, arranged.id);
  }

  void check(Cloud cloud, const GravityParameters& gravity = {}) const {
    const Communicator alone(MPI_COMM_SELF);
    for (const NeighbourSearch kind : {NeighbourSearch::gather, NeighbourSearch::symmetric})
      for (const double period : {0.0, 1.0}) {
        const auto expected = on_host(alone, cloud, kind, period),
                   actual = on_gpu(comm_, cloud, kind, period, gravity);
        std::uint64_t pairs = 0;
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(actual[i].number, expected[i].number) << i;
          ASSERT_EQ(actual[i].sum, expected[i].sum) << i;
          if (gravity.tree == LocalTreeKind::bisection) {  // whose order the host's trees have
            ASSERT_EQ(actual[i].chain, expected[i].chain) << i;
          }
          pairs += expected[i].number;
        }
        EXPECT_GT(pairs, count) << "there is something to find";
        compare_with_brute_force(actual, cloud, kind, period);
      }
  }

  static void compare_with_brute_force(const std::vector<NeighbourSet>& actual, Cloud cloud,
                                       NeighbourSearch kind, double period) {
    const NearestImage nearest = NearestImage::of(Images{period});
    std::vector<Vec3d> position;
    std::vector<double> reach;
    for (std::uint64_t i = 0; i < count; ++i)
      position.push_back(place_in(cloud, i)), reach.push_back(radius_of(cloud, i));
    for (std::uint64_t i = 0; i < count; i += 97) {
      NeighbourSet expected;
      for (std::uint64_t j = 0; j < count && reach[i] >= 0; ++j) {
        if (j == i || reach[j] < 0) continue;
        const double h = kind == NeighbourSearch::symmetric ? std::max(reach[i], reach[j]) : reach[i];
        if (squared_length(nearest(position[j] - position[i])) < h * h) expected.add(j);
      }
      ASSERT_EQ(actual[i].number, expected.number) << i;
      ASSERT_EQ(actual[i].sum, expected.sum) << i;
    }
  }
};

TEST_F(NeighboursOnGpu, of_random_places_are_those_of_the_host) { check(Cloud::random); }
TEST_F(NeighboursOnGpu, of_clustered_places_are_those_of_the_host) { check(Cloud::clustered); }
TEST_F(NeighboursOnGpu, of_coincident_places_are_those_of_the_host) { check(Cloud::coincident); }
TEST_F(NeighboursOnGpu, at_their_radii_are_those_of_the_host) { check(Cloud::lattice); }

/// Nodes of one piece of 32 particles, of several, of as many as are looked into and of one more; none of
/// them takes part in a third of all, and numbers of particles end within a piece or with it.
TEST_F(NeighboursOnGpu, lowest_values_of_nodes_are_those_of_particles_nearby) {
  for (const std::size_t particles : {std::size_t{5000}, std::size_t{4096}}) {
    const auto all = static_cast<std::uint32_t>(particles);
    std::vector<double> reach(particles);
    std::vector<std::uint8_t> value(particles);
    for (std::size_t i = 0; i < particles; ++i) {
      reach[i] = i % 3 == 0 ? -1 : 0;
      value[i] = static_cast<std::uint8_t>(uniform(i) < 0.02 ? 3 : 20 + 10 * uniform(i + particles));
    }
    std::vector<NeighbourNode> nodes;
    for (const std::uint32_t size : {0U, 1U, 31U, 32U, 33U, 64U, 500U, 2047U, 2048U, 2049U, all})
      for (const std::uint32_t first : {0U, 7U, 31U, 32U, 1000U, all - size})
        if (first + size <= all) nodes.push_back({{0, 0, 0}, {0, 0, 0}, 0, 0, first, size});
    const cuda::DeviceArray<NeighbourNode> nodes_there{std::span<const NeighbourNode>(nodes)};
    const cuda::DeviceArray<double> reach_there{std::span<const double>(reach)};
    const cuda::DeviceArray<std::uint8_t> value_there{std::span<const std::uint8_t>(value)};
    const NeighbourTree tree{nodes_there.data(),
                             static_cast<std::uint32_t>(nodes.size()),
                             nullptr,
                             reach_there.data(),
                             NearestImage::of({}),
                             false};
    std::vector<std::uint8_t> lowest(nodes.size());
    cuda::lowest_of_nodes(tree, value_there.data(), particles).download(lowest);
    const auto lowest_in = [&](std::size_t begin, std::size_t end) {
      std::uint8_t found = 255;
      for (std::size_t i = begin; i < std::min(end, particles); ++i)
        if (reach[i] >= 0) found = std::min(found, value[i]);
      return found;
    };
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const std::size_t first = nodes[n].first, end = first + nodes[n].count;
      if (first == end || end - first > cuda::most_particles_looked_into)
        EXPECT_EQ(lowest[n], 0) << n;
      else
        EXPECT_EQ(lowest[n], lowest_in(first / 32 * 32, (end + 31) / 32 * 32)) << first << " to " << end;
    }
  }
  const NeighbourTree none{nullptr, 0, nullptr, nullptr, NearestImage::of({}), false};
  EXPECT_EQ(cuda::lowest_of_nodes(none, nullptr, 0).size(), 0u);
}

TEST_F(NeighboursOnGpu, are_found_in_trees_of_any_kind) {
  GravityParameters gravity;
  for (const LocalTreeKind kind : {LocalTreeKind::octree, LocalTreeKind::kd}) {
    gravity.tree = kind;
    check(Cloud::clustered, gravity);
  }
}

}  // namespace
}  // namespace grove
