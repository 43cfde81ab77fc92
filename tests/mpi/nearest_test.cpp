#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/errors.hpp"
#include "neighbours/nearest.hpp"
#include "support/neighbour_clouds.hpp"

namespace grove {
namespace {

using test::Cloud;
using test::Shared;

/// Ids of the nearest particles of one place, in order.
using NearestIds = std::vector<ParticleId>;

/// All particles, by id.
struct NearestCloud {
  std::vector<Vec3d> position;
  std::vector<std::uint64_t> order;  ///< place in the tree over all ranks

  NearestCloud(const Communicator& comm, const Shared& shared, Cloud cloud, std::uint64_t count)
      : order(count, 0) {
    for (std::uint64_t i = 0; i < count; ++i) position.push_back(test::place_in(cloud, i));
    const std::vector<std::uint64_t> sizes = comm.all_gather<std::uint64_t>(shared.particles.size());
    std::uint64_t before = 0;
    for (int rank = 0; rank < comm.rank(); ++rank) before += sizes[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < shared.particles.size(); ++i) order[shared.particles.id[i]] = before + i;
    comm.sum(std::span<std::uint64_t>(order));
  }
  NearestIds by_brute_force(const Vec3d& place, ParticleId without, std::size_t k, double period) const {
    std::vector<std::tuple<double, std::uint64_t, ParticleId>> all;
    for (ParticleId j = 0; j < position.size(); ++j) {
      const Vec3d d = position[j] - place;
      const Vec3d nearest{test::period_nearest(d.x, period), test::period_nearest(d.y, period),
                          test::period_nearest(d.z, period)};
      if (j != without) all.emplace_back(squared_length(nearest), order[j], j);
    }
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all.end());
    NearestIds ids;
    for (std::size_t i = 0; i < k; ++i) ids.push_back(std::get<2>(all[i]));
    return ids;
  }
};

NearestIds ids_of(std::span<const NearestNeighbour> nearest, const Array<ParticleId>& id) {
  NearestIds ids;
  for (const NearestNeighbour& neighbour : nearest) ids.push_back(id[neighbour.number]);
  return ids;
}

struct NearestVariant {
  Cloud cloud;
  double period;
  std::uint64_t count;
  std::uint32_t k;
};
class NearestSets : public testing::TestWithParam<NearestVariant> {};

TEST_P(NearestSets, are_those_of_brute_force_in_the_order_of_distance_and_tree) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [cloud, period, count, k] = GetParam();
  const Shared shared(comm, cloud, count);
  const NearestCloud all(comm, shared, cloud, count);
  NearestNeighbours nearest(comm, shared.domain, shared.forest.shapes(), Images{period});
  nearest.search(shared.particles.position, k);
  const Array<ParticleId> id = nearest.share(std::span<const ParticleId>(shared.particles.id));
  for (std::size_t i = 0; i < shared.particles.size(); i += 7) {  // some, to save time
    const Vec3d place = shared.particles.position[i];
    ASSERT_EQ(ids_of(nearest.of(i), id), all.by_brute_force(place, shared.particles.id[i], k, period)) << i;
    const Vec3d d = test::place_in(cloud, id[nearest.of(i)[k - 1].number]) - place;
    const Vec3d image{test::period_nearest(d.x, period), test::period_nearest(d.y, period),
                      test::period_nearest(d.z, period)};
    ASSERT_EQ(nearest.of(i)[k - 1].r2, squared_length(image));
  }
}

TEST_P(NearestSets, of_places_are_those_of_brute_force) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto [cloud, period, count, k] = GetParam();
  const Shared shared(comm, cloud, count);
  const NearestCloud all(comm, shared, cloud, count);
  std::vector<Vec3d> places;  // some where particles are, of this rank or another; ranks have other numbers
  for (int i = 0; i < 30 + comm.rank(); ++i) {
    const auto number = static_cast<std::uint64_t>(1000 * comm.rank() + i);
    places.push_back(i % 2 == 0 ? test::place_in(cloud, number % count)
                                : test::place(test::Shape::uniform, 31 * number));
  }
  NearestNeighbours nearest(comm, shared.domain, shared.forest.shapes(), Images{period});
  nearest.search_around(shared.particles.position, places, k);
  const Array<ParticleId> id = nearest.share(std::span<const ParticleId>(shared.particles.id));
  for (std::size_t i = 0; i < places.size(); ++i)
    ASSERT_EQ(ids_of(nearest.of(i), id), all.by_brute_force(places[i], ~ParticleId{0}, k, period)) << i;
}

std::vector<NearestVariant> nearest_variants() {
  std::vector<NearestVariant> variants;
  for (const Cloud cloud : {Cloud::random, Cloud::clustered, Cloud::coincident, Cloud::lattice})
    for (const double period : {0.0, 1.0}) {
      variants.push_back({cloud, period, 6000, 50});  // more than the 40 that coincide
      variants.push_back({cloud, period, 6000, 1});
    }
  // Leaves of 64 particles: ranks have fewer than k by themselves.
  variants.push_back({Cloud::random, 0, 300, 150});
  variants.push_back({Cloud::random, 1, 300, 100});
  return variants;
}
INSTANTIATE_TEST_SUITE_P(All, NearestSets, testing::ValuesIn(nearest_variants()));

TEST(Nearest, of_a_place_far_outside_are_found) {
  const Communicator comm(MPI_COMM_WORLD);
  const Shared shared(comm, Cloud::random, 500);
  const NearestCloud all(comm, shared, Cloud::random, 500);
  NearestNeighbours nearest(comm, shared.domain, shared.forest.shapes());
  std::vector<Vec3d> places;
  if (comm.rank() == comm.size() - 1) places.push_back({300, -200, 5});
  nearest.search_around(shared.particles.position, places, 500);  // all there are
  const Array<ParticleId> id = nearest.share(std::span<const ParticleId>(shared.particles.id));
  for (std::size_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(ids_of(nearest.of(i), id), all.by_brute_force(places[i], ~ParticleId{0}, 500, 0));
}

TEST(Nearest, refuse_more_than_there_are_or_than_half_a_periodic_box_has) {
  const Communicator comm(MPI_COMM_WORLD);
  const Shared shared(comm, Cloud::random, 200);
  const auto message = [&](double period, std::uint32_t k) -> std::string {
    NearestNeighbours nearest(comm, shared.domain, shared.forest.shapes(), Images{period});
    try {
      nearest.search(shared.particles.position, k);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(0, 199), "no error");
  EXPECT_NE(message(0, 200).find("with 200 particles there are 1 to 199"), std::string::npos);
  EXPECT_NE(message(0, 0).find("1 to 199"), std::string::npos);
  // A sphere of half the edge holds pi / 6 of a box.
  EXPECT_NE(message(1, 199).find("within half the edge"), std::string::npos);
}

}  // namespace
}  // namespace grove
