// Searches of neighbours on GPUs beside brute force and the host. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/decompose.hpp"
#include "forest/forest.hpp"
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

TEST_F(NeighboursOnGpu, are_found_in_trees_of_any_kind) {
  GravityParameters gravity;
  for (const LocalTreeKind kind : {LocalTreeKind::octree, LocalTreeKind::kd}) {
    gravity.tree = kind;
    check(Cloud::clustered, gravity);
  }
}

}  // namespace
}  // namespace grove
