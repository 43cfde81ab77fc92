// Friends of friends on GPUs beside the host. Ranks share GPUs if there are fewer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "kernels/cuda/neighbours/friend_linking.hpp"
#include "neighbours/gpu/device_friends.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/catalogue_columns.hpp"
#include "support/friend_ranks.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using test::FriendSet;
using testing::columns_of;
using testing::grove;

class FriendsOnGpu : public testing::GpuRanks {
 protected:
  int users() const { return devices_.shared ? comm_.size() : 1; }

  void check(FriendSet set, double length, double period, std::uint64_t count = 20000) const {
    SCOPED_TRACE(fmt::format("set {}, length {}, period {}", static_cast<int>(set), length, period));
    const test::FriendsOnRanks ranks(comm_, set, count);
    const Array<GroupLabel> expected = ranks.link(length, period),
                            actual = ranks.link(length, period, DeviceFriends(users()));
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(actual[i].id, expected[i].id) << ranks.particles.id[i];
      ASSERT_EQ(actual[i].rank, expected[i].rank) << ranks.particles.id[i];
    }
  }
};

// Lengths of the sets of tests/unit/friend_cells_test.cpp.
TEST_F(FriendsOnGpu, of_uniform_places_are_those_of_the_host) {
  for (const double period : {0.0, 1.0})
    for (const double length : {1e-7, 0.0074, 0.033, 0.2, 0.31, 0.49})
      check(FriendSet::uniform, length, period);
}
TEST_F(FriendsOnGpu, of_clumps_are_those_of_the_host) {
  for (const double period : {0.0, 1.0})
    for (const double length : {1e-7, 0.001, 0.0074, 0.02}) check(FriendSet::clumps, length, period);
  check(FriendSet::clumps, 0.001, 1, 400000);
}
TEST_F(FriendsOnGpu, of_chains_are_those_of_the_host) {
  check(FriendSet::chain, 0.002, 0);
  check(FriendSet::chain, 0.0001, 0);
}
TEST_F(FriendsOnGpu, of_coincident_places_are_those_of_the_host) {
  check(FriendSet::coincident, 1e-9, 1);
  check(FriendSet::coincident, 0.03, 0);
}
// Two cells with thousands of particles, whose tight boxes or first friends decide.
TEST_F(FriendsOnGpu, in_crowded_cells_are_those_of_the_host) {
  for (const double length : {0.004, 0.02, 0.0221, 0.0245, 0.03})
    check(FriendSet::crowds, length, 0), check(FriendSet::crowds, length, 1, 100000);
}
TEST_F(FriendsOnGpu, at_the_length_are_those_of_the_host) {
  for (const double length : {0.0625, 0.0626, 0.125})
    check(FriendSet::lattice, length, 0), check(FriendSet::lattice, length, 1);
}
TEST_F(FriendsOnGpu, in_cells_of_the_same_key_are_those_of_the_host) {
  for (const double period : {0.0, 1.0}) check(FriendSet::aliases, 1e-7, period);
}
TEST_F(FriendsOnGpu, with_some_far_away_are_those_of_the_host) {
  check(FriendSet::far, 0.0074, 0);
  check(FriendSet::far, 1e-4, 0);  // too far for a grid
}

TEST_F(FriendsOnGpu, are_those_of_brute_force) {
  constexpr std::uint64_t count = 10000;
  const NearestImage nearest = NearestImage::of(Images{1});
  std::vector<Vec3d> place;
  for (std::uint64_t i = 0; i < count; ++i) place.push_back(test::friend_place(FriendSet::clumps, i, count));
  const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(place)};
  const cuda::DeviceArray<std::uint32_t> least(count);
  ASSERT_TRUE(cuda::link_friends(position.data(), count, 0.0093, nearest, least.data()));
  std::vector<std::uint32_t> found(count);
  least.download(found);
  EXPECT_EQ(found, test::friends_by_brute_force(place, 0.0093, nearest));
}

TEST_F(FriendsOnGpu, of_few_particles_are_found) {
  EXPECT_TRUE(cuda::link_friends(nullptr, 0, 1, NearestImage{}, nullptr));
  const std::vector<Vec3d> place{{0, 0, 0}, {3, 0, 0}, {0.5, 0, 0}};
  const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(place)};
  const cuda::DeviceArray<std::uint32_t> least(3);
  ASSERT_TRUE(cuda::link_friends(position.data(), 3, 1, NearestImage{}, least.data()));
  std::vector<std::uint32_t> found(3);
  least.download(found);
  EXPECT_EQ(found, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_FALSE(cuda::link_friends(position.data(), 3, 1e-12, NearestImage{}, least.data()));
}

TEST_F(FriendsOnGpu, give_the_catalogue_of_the_host) {
  const testing::TestFolder folder(comm_, "friends-gpu");
  const std::string file = folder / "set.hdf5";
  for (const double box : {0.0, 1.0}) {
    const test::FriendsOnRanks ranks(comm_, FriendSet::clumps, 20000);
    WriteOptions options;
    options.box = box;
    write_snapshot(comm_, file, ranks.particles, options);
    for (const char* backend : {"kokkos", "cuda"}) {
      std::vector<std::string> words{"fof",         file,        "--length", "0.0074", "-o", folder / backend,
                                     "--overwrite", "--backend", backend};
      if (words.back() == "cuda") words.emplace_back("--share-gpu");
      grove(comm_, words);
    }
    comm_.barrier();
    const auto on_host = columns_of(folder / "kokkos"), on_gpu = columns_of(folder / "cuda");
    ASSERT_GE(on_host.at("Group/GroupLen").shape[0], 10u);
    for (const auto& [name, column] : on_host) EXPECT_EQ(on_gpu.at(name), column) << name;
    comm_.barrier();
  }
  EXPECT_THROW(grove(comm_, {"fof", file, "--length", "0.5", "--backend", "cuda", "--share-gpu"}),
               InputError);
}

TEST_F(FriendsOnGpu, of_runs_are_those_of_their_snapshots) {
  const testing::TestFolder folder(comm_, "friends-gpu-run");
  const Parameters parameters = parse_parameters(
      fmt::format("units: {{system: none}}\n"
                  "initial_conditions: {{model: plummer, n: 2000}}\n"
                  "gravity: {{softening: 0.05}}\n"
                  "time: {{end: 0.02, step: 0.01}}\n"
                  "output: {{folder: {}, render: false, times: [0.013], fof: true, fof_length: 0.2}}\n",
                  folder.path()),
      "test", {});
  InitialState state = initial_state(comm_, parameters);
  Simulation(comm_, parameters,
             make_backend(comm_, {"cuda", true, {}}, std::move(state.particles), parameters.gravity),
             state.time)
      .run();
  const std::string again = folder / "again.hdf5";
  grove(comm_, {"fof", folder / "snapshot_000.hdf5", "--length", "0.2", "-o", again, "--backend", "kokkos"});
  comm_.barrier();
  const auto of_run = columns_of(folder / "fof_tab_000.hdf5");
  ASSERT_GE(of_run.at("Group/GroupLen").shape[0], 1u);
  for (const auto& [name, column] : columns_of(again)) EXPECT_EQ(of_run.at(name), column) << name;
}

}  // namespace
}  // namespace grove
