#include "decomposition/leaf_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/hash.hpp"

namespace grove {
namespace {

using Runs = std::vector<std::int32_t>;

/// True if each rank has at most half as many particles again as the mean, or at most as many as before if
/// that is more.
bool have_room(const std::vector<Count>& particles, const Runs& runs, const Runs& before) {
  const Count all = std::accumulate(particles.begin(), particles.end(), Count{0});
  const auto ranks = static_cast<Count>(runs.size() - 1);
  const auto held = [&](const Runs& by, std::size_t rank) {
    return std::accumulate(particles.begin() + by[rank], particles.begin() + by[rank + 1], Count{0});
  };
  for (std::size_t rank = 0; rank + 1 < runs.size(); ++rank)
    if (2 * ranks * held(runs, rank) > 3 * all && held(runs, rank) > held(before, rank)) return false;
  return true;
}

/// The least longest time of all runs there are that have room, by trying them.
double least_time(const std::vector<Count>& work, const std::vector<Count>& particles, const Runs& current,
                  const std::vector<double>& speeds, Runs& runs, std::size_t rank) {
  double least = std::numeric_limits<double>::infinity();
  if (rank == speeds.size())
    return have_room(particles, runs, current) ? longest_time(work, runs, speeds) : least;
  for (runs[rank] = runs[rank - 1]; runs[rank] <= static_cast<std::int32_t>(work.size()); ++runs[rank])
    least = std::min(least, least_time(work, particles, current, speeds, runs, rank + 1));
  return least;
}

TEST(LeafRuns, take_hardly_longer_than_the_best_of_all_that_have_room) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::size_t ranks = 1 + mixed(seed) % 4, leaves = 1 + mixed(seed + 1000) % 9;
    std::vector<Count> work, particles;
    std::vector<double> speeds;
    Runs current{0};
    for (std::uint64_t i = 0; i < leaves; ++i) {
      work.push_back(static_cast<Count>(mixed(100 * seed + i) % 1000000));
      particles.push_back(static_cast<Count>(mixed(100 * seed + 30 + i) % 4096));
    }
    for (std::uint64_t i = 0; i < ranks; ++i)
      speeds.push_back(static_cast<double>(1 + mixed(100 * seed + 50 + i) % 8));
    for (std::uint64_t i = 1; i < ranks; ++i)
      current.push_back(static_cast<std::int32_t>(mixed(100 * seed + 70 + i) % (leaves + 1)));
    current.push_back(static_cast<std::int32_t>(leaves));
    std::sort(current.begin(), current.end());
    const Runs found = runs_of_least_time(work, particles, current, speeds);
    ASSERT_EQ(found.size(), ranks + 1);
    EXPECT_EQ(found.front(), 0);
    EXPECT_EQ(found.back(), current.back());
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_TRUE(have_room(particles, found, current)) << seed;
    Runs tried = current;
    // Half a per cent, as they say.
    EXPECT_LE(longest_time(work, found, speeds),
              1.005 * least_time(work, particles, current, speeds, tried, 1))
        << seed;
  }
}

TEST(LeafRuns, give_no_rank_half_as_many_particles_again_as_the_mean) {
  const std::vector<Count> alike(40, 10);
  EXPECT_EQ(runs_of_least_time(alike, alike, Runs{0, 20, 40}, std::vector<double>{10, 1}), (Runs{0, 30, 40}));
  EXPECT_EQ(runs_of_least_time(alike, alike, Runs{0, 34, 40}, std::vector<double>{10, 1}), (Runs{0, 34, 40}))
      << "what it has it may keep";
  std::vector<Count> work = alike;
  std::fill_n(work.begin(), 25, 1);
  // By work the first rank would have 31 leaves: 85 of 175.
  EXPECT_EQ(runs_of_least_time(work, alike, Runs{0, 20, 40}, std::vector<double>{1, 1}), (Runs{0, 30, 40}));
}

TEST(LeafRuns, speeds_are_bounded_by_the_mean_of_the_result) {
  using Speeds = std::vector<double>;
  EXPECT_EQ(bounded_speeds(Speeds{7}), (Speeds{7}));
  EXPECT_EQ(bounded_speeds(Speeds{3, 1}), (Speeds{3, 1}));
  EXPECT_EQ(bounded_speeds(Speeds{1, 10}), (Speeds{1, 3}));
  EXPECT_EQ(bounded_speeds(Speeds{8, 1, 1, 2, 16}), (Speeds{3, 1, 1, 2, 3})) << "two of five have 3/5 in all";
}

TEST(LeafRuns, stay_where_they_are_as_far_as_they_may) {
  const std::vector<Count> work(40, 10);
  const std::vector<double> speeds{1, 1, 1, 1};
  const Runs even{0, 10, 20, 30, 40}, uneven{0, 10, 20, 34, 40};
  EXPECT_EQ(runs_of_least_time(work, work, even, speeds), even);
  EXPECT_EQ(runs_of_least_time(work, work, uneven, speeds), even) << "only one end is in the way";
  // The first rank half as fast: ranks last at least 400 / 3.5 = 114, so 120 in whole leaves. It gives the
  // fewest that it can, and so do those behind it.
  EXPECT_EQ(runs_of_least_time(work, work, even, std::vector<double>{0.5, 1, 1, 1}),
            (Runs{0, 6, 18, 30, 40}));
}

TEST(LeafRuns, hold_what_a_rank_would_walk_in_more_than_there_is_to_count) {
  // Half of all takes the slow rank 5e10 s, in which the fast one would walk 5e22, which no Count holds. By
  // speeds the slow one has a thousandth of a leaf; it keeps what the other has no room for.
  const std::vector<Count> work(1000, 100000000000000);
  EXPECT_EQ(runs_of_least_time(work, work, Runs{0, 500, 1000}, std::vector<double>{1e12, 1e6}),
            (Runs{0, 750, 1000}));
}

TEST(LeafRuns, leaves_without_work_are_nobodys_hurry) {
  const std::vector<Count> nothing(5, 0);
  const Runs current{0, 5, 5};
  EXPECT_EQ(runs_of_least_time(nothing, nothing, current, std::vector<double>{1, 2}), current);
}

TEST(LeafRuns, what_moves_is_counted) {
  const Runs from{0, 10, 20, 30}, to{0, 6, 25, 30};
  std::vector<Count> amount(30, 1);
  amount[8] = 100;
  EXPECT_EQ(most_moved(amount, from, to), 103 + 5) << "the second rank takes from both of its neighbours";
  EXPECT_EQ(most_moved(amount, from, Runs{0, 0, 0, 30}), 109 + 10) << "the third one takes all";
  EXPECT_EQ(most_moved(amount, from, from), 0);
}

}  // namespace
}  // namespace grove
