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

/// The least longest time of all runs there are, by trying them.
double least_time(const std::vector<Count>& work, const std::vector<double>& speeds, Runs& runs,
                  std::size_t rank) {
  if (rank == speeds.size()) return longest_time(work, runs, speeds);
  double least = std::numeric_limits<double>::infinity();
  for (runs[rank] = runs[rank - 1]; runs[rank] <= static_cast<std::int32_t>(work.size()); ++runs[rank])
    least = std::min(least, least_time(work, speeds, runs, rank + 1));
  return least;
}

TEST(LeafRuns, take_hardly_longer_than_the_best_of_all) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::size_t ranks = 1 + mixed(seed) % 4, leaves = 1 + mixed(seed + 1000) % 9;
    std::vector<Count> work;
    std::vector<double> speeds;
    for (std::uint64_t i = 0; i < leaves; ++i)
      work.push_back(static_cast<Count>(mixed(100 * seed + i) % 1000000));
    for (std::uint64_t i = 0; i < ranks; ++i)
      speeds.push_back(static_cast<double>(1 + mixed(100 * seed + 50 + i) % 8));
    Runs current(ranks + 1, 0);
    current.back() = static_cast<std::int32_t>(leaves);
    const Runs found = runs_of_least_time(work, current, speeds);
    ASSERT_EQ(found.size(), ranks + 1);
    EXPECT_EQ(found.front(), 0);
    EXPECT_EQ(found.back(), current.back());
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    Runs tried = current;
    // Half a per cent, as they say.
    EXPECT_LE(longest_time(work, found, speeds), 1.005 * least_time(work, speeds, tried, 1)) << seed;
  }
}

TEST(LeafRuns, stay_where_they_are_as_far_as_they_may) {
  const std::vector<Count> work(40, 10);
  const std::vector<double> speeds{1, 1, 1, 1};
  const Runs even{0, 10, 20, 30, 40}, uneven{0, 10, 20, 34, 40};
  EXPECT_EQ(runs_of_least_time(work, even, speeds), even);
  EXPECT_EQ(runs_of_least_time(work, uneven, speeds), even) << "only one end is in the way";
  // The first rank half as fast: ranks last at least 400 / 3.5 = 114, so 120 in whole leaves. It gives the
  // fewest that it can, and so do those behind it.
  EXPECT_EQ(runs_of_least_time(work, even, std::vector<double>{0.5, 1, 1, 1}), (Runs{0, 6, 18, 30, 40}));
}

TEST(LeafRuns, hold_what_a_rank_would_walk_in_more_than_there_is_to_count) {
  // Half of all takes the slow rank 5e10 s, in which the fast one would walk 5e22, which no Count holds. By
  // speeds the slow one has a thousandth of a leaf, so none.
  const std::vector<Count> work(1000, 100000000000000);
  EXPECT_EQ(runs_of_least_time(work, Runs{0, 500, 1000}, std::vector<double>{1e12, 1e6}),
            (Runs{0, 1000, 1000}));
}

TEST(LeafRuns, leaves_without_work_are_nobodys_hurry) {
  const std::vector<Count> nothing(5, 0);
  const Runs current{0, 5, 5};
  EXPECT_EQ(runs_of_least_time(nothing, current, std::vector<double>{1, 2}), current);
}

TEST(LeafRuns, what_moves_is_counted) {
  const Runs from{0, 10, 20, 30}, to{0, 6, 25, 30};
  std::vector<Count> amount(30, 1);
  amount[8] = 100;
  EXPECT_EQ(leaves_moved(from, to), 9);
  EXPECT_EQ(leaves_moved(from, from), 0);
  EXPECT_EQ(most_moved(amount, from, to), 103 + 5) << "the second rank takes from both of its neighbours";
  EXPECT_EQ(most_moved(amount, from, Runs{0, 0, 0, 30}), 109 + 10) << "the third one takes all";
  EXPECT_EQ(most_moved(amount, from, from), 0);
}

}  // namespace
}  // namespace grove
