#include "decomposition/rung_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace grove {
namespace {

using Parts = std::vector<PartWork>;
using Speeds = std::vector<std::uint32_t>;

/// Makes parts of 100 particles each. work(class, part) gives the work of a class in a part.
template <class Work>
Parts parts_of(std::size_t number, const Work& work) {
  Parts parts(number);
  for (std::size_t i = 0; i < number; ++i) {
    parts[i].particles = 100;
    for (int c = 0; c < PartWork::classes; ++c) parts[i].work[c] = work(c, i);
  }
  return parts;
}

Parts by_rank(const Parts& parts, const std::vector<int>& owners, std::size_t ranks) {
  Parts sums(ranks);
  for (std::size_t i = 0; i < parts.size(); ++i) sums[static_cast<std::size_t>(owners[i])] += parts[i];
  return sums;
}

std::size_t runs_of(const std::vector<int>& owners) {
  std::size_t runs = 1;
  for (std::size_t i = 1; i < owners.size(); ++i) runs += owners[i] != owners[i - 1] ? 1 : 0;
  return runs;
}

/// The time of the ranks for a longest step over that of perfect shares, step by step: in each all wait for
/// the one that has most to do.
double time_over_least(const Parts& ranks, const Speeds& speeds, double particle_cost = 0) {
  constexpr int deepest = PartWork::classes - 1, steps = 1 << deepest;
  const double all_speeds = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  double time = 0, all = 0;
  for (int step = 0; step < steps; ++step) {
    double longest = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      double work = particle_cost * static_cast<double>(ranks[rank].particles);
      for (int c = 0; c <= deepest; ++c)  // class c has a step in every (steps >> c)-th of these
        if (step % (steps >> c) == 0) work += static_cast<double>(ranks[rank].work[c]) / (1 << c);
      all += work;
      longest = std::max(longest, work * all_speeds / speeds[rank]);
    }
    time += longest;
  }
  return time / all;
}

TEST(PartWork, classes_end_at_the_deepest_rung) {
  EXPECT_EQ(PartWork::class_of(0, 3), 0);
  EXPECT_EQ(PartWork::class_of(3, 3), 3);
  EXPECT_EQ(PartWork::class_of(12, 12), 7);
  EXPECT_EQ(PartWork::class_of(5, 12), 0);
  EXPECT_EQ(PartWork::class_of(2, 12), 0);
  EXPECT_EQ(PartWork::class_of(6, 12), 1);
  EXPECT_EQ(PartWork::class_of(5, 3), 3) << "deeper than said";
  EXPECT_EQ(PartWork::class_of(2, 0), 0);
}

/// Class 0 takes a step, class 2 takes 4: one with all, one with class 1, two alone. The first rank has all
/// of class 2, the other one all of class 0, with the same work in a longest step, w.
TEST(RungShares, all_wait_in_each_step_for_the_one_with_most_to_do) {
  constexpr Count w = 1000;
  Parts ranks(2);
  ranks[0].work[2] = w;
  ranks[1].work[0] = w;
  // In the step of all they have w/4 and w, in the three others the first has 3 w/4: 7 w/4, of 2 w in all.
  // Least is half of that for each.
  EXPECT_DOUBLE_EQ(time_over_least(ranks, Speeds{1, 1}), 1.75);
  EXPECT_DOUBLE_EQ(time_over_least(Parts{ranks[0], ranks[0]}, Speeds{1, 1}), 1);
  // One of three quarters of the speed that both have together does all.
  EXPECT_DOUBLE_EQ(time_over_least(Parts{ranks[0], Parts(1)[0]}, Speeds{3, 1}), 4.0 / 3);
}

TEST(RungShares, one_run_each_where_that_is_fair) {
  const Parts parts = parts_of(64, [](int c, std::size_t) { return Count{10} << c; });
  for (const std::size_t ranks : {1U, 2U, 4U, 8U}) {
    const std::vector<int> owners = owners_by_rungs(parts, Speeds(ranks, 1), 0);
    EXPECT_EQ(runs_of(owners), ranks);
    EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
    EXPECT_DOUBLE_EQ(time_over_least(by_rank(parts, owners, ranks), Speeds(ranks, 1)), 1);
  }
}

/// Deep rungs are at one end of the row, others spread: equal work in one run each leaves the deep ones to
/// the first rank. 2 cuts share two kinds of things among two (Alon 1987, Advances in Mathematics 63, 247),
/// here at part 8 and at part 40. A cut that misses by half a part misses by 1/16 of a rank's deep work.
TEST(RungShares, deep_rungs_are_shared_as_others_are) {
  const Parts parts = parts_of(64, [](int c, std::size_t i) -> Count {
    if (c == 0) return 1000;
    return c == 5 && i < 16 ? 4000 : 0;
  });
  std::vector<int> in_order(64, 1);
  std::fill_n(in_order.begin(), 16, 0);  // half of all work
  EXPECT_GT(time_over_least(by_rank(parts, in_order, 2), Speeds{1, 1}), 1.4);
  const std::vector<int> owners = owners_by_rungs(parts, Speeds{1, 1}, 0);
  EXPECT_LE(runs_of(owners), 4U);
  EXPECT_LE(time_over_least(by_rank(parts, owners, 2), Speeds{1, 1}), 1 + 1.0 / 16);
}

/// Equal work of a row in which it rises is 39 parts of 64 for the first rank. Where it is less than 1% of
/// what steps do for all particles that is not equal time: each rank is to have 32 parts. A cut that misses
/// by half a part misses by 1/64 of a rank's time.
TEST(RungShares, what_steps_do_for_all_particles_is_shared_out) {
  constexpr Count cost = 500;  // of a particle and step
  constexpr int deepest = PartWork::classes - 1;
  const Parts parts = parts_of(64, [](int c, std::size_t i) -> Count {
    return c == 0 || c == deepest ? static_cast<Count>(7 * (40 + i)) : 0;  // 504 per part in the mean
  });
  const Speeds two{1, 1};
  EXPECT_GT(time_over_least(by_rank(parts, owners_by_rungs(parts, two, 0), 2), two, cost), 1.1);
  const std::vector<int> owners = owners_by_rungs(parts, two, cost << deepest);
  EXPECT_LE(time_over_least(by_rank(parts, owners, 2), two, cost), 1 + 1.0 / 64);
}

/// Parts of work 14 (40 + i) in a longest step have 100 particles each, which add 10 each: k parts have
/// 7 k^2 + 1553 k of 128064, half of that for k = 35.5. In another unit, that of a step, it would be 32.8
/// or 38.1.
TEST(RungShares, particles_add_to_the_work_of_a_longest_step) {
  constexpr int deepest = 3;
  const Parts parts = parts_of(
      64, [](int c, std::size_t i) -> Count { return c == deepest ? static_cast<Count>(14 * (40 + i)) : 0; });
  const std::vector<int> owners = owners_by_rungs(parts, Speeds{1, 1}, 10);
  EXPECT_EQ(runs_of(owners), 2U);
  EXPECT_NEAR(static_cast<double>(std::count(owners.begin(), owners.end(), owners.front())), 35.5, 0.75);
}

/// Work of every class around a place of its own: more kinds than a halving has cuts for.
TEST(RungShares, many_ranks_have_few_runs_and_little_to_wait_for) {
  constexpr std::size_t number = 2048;
  const Parts parts = parts_of(number, [](int c, std::size_t i) {
    const double place = static_cast<double>(i) / number, from = place - 0.1 * (c + 1);
    return static_cast<Count>(1e6 * std::exp(-from * from / (2 * 0.04 * 0.04)));
  });
  for (const std::size_t ranks : {2U, 3U, 7U, 16U}) {
    const Speeds speeds(ranks, 1);
    std::vector<int> in_order;
    for (std::size_t i = 0; i < number; ++i) in_order.push_back(static_cast<int>(i * ranks / number));
    const std::vector<int> owners = owners_by_rungs(parts, speeds, 0);
    const double found = time_over_least(by_rank(parts, owners, ranks), speeds),
                 before = time_over_least(by_rank(parts, in_order, ranks), speeds);
    EXPECT_LT(found - 1, (before - 1) / 2) << ranks;
    const std::set<int> all(owners.begin(), owners.end());
    EXPECT_EQ(all.size(), ranks);
    std::vector<std::size_t> runs(ranks, 0);
    for (std::size_t i = 0; i < number; ++i)
      if (i == 0 || owners[i] != owners[i - 1]) ++runs[static_cast<std::size_t>(owners[i])];
    EXPECT_LE(*std::max_element(runs.begin(), runs.end()), 16U) << ranks;
    for (const PartWork& rank : by_rank(parts, owners, ranks))
      EXPECT_LE(static_cast<double>(rank.particles), 1.25 * 100 * number / static_cast<double>(ranks));
  }
}

TEST(RungShares, are_as_large_as_ranks_are_fast) {
  const Parts parts = parts_of(400, [](int c, std::size_t) { return c < 3 ? Count{100} : 0; });
  const Speeds speeds{3, 1, 4};
  const std::vector<int> owners = owners_by_rungs(parts, speeds, 0);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), 0), 150);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), 50);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), 2), 200);
}

/// The second rank has what comes first: it keeps that.
TEST(RungShares, particles_stay_where_they_are) {
  Parts parts = parts_of(64, [](int c, std::size_t) { return c < 2 ? Count{100} : 0; });
  for (std::size_t i = 0; i < 32; ++i) parts[i].ranks = parts[i].particles;
  const std::vector<int> owners = owners_by_rungs(parts, Speeds{1, 1}, 0);
  EXPECT_EQ(owners.front(), 1);
  EXPECT_EQ(owners.back(), 0);
  EXPECT_EQ(owners_by_rungs(parts, Speeds{1, 2}, 0).front(), 0)
      << "sides that are not alike keep their places";
}

TEST(RungShares, fewer_parts_than_ranks_leave_some_without_any) {
  const Parts parts = parts_of(2, [](int, std::size_t) { return Count{5}; });
  const std::vector<int> owners = owners_by_rungs(parts, Speeds(5, 1), 0);
  EXPECT_NE(owners[0], owners[1]);
  EXPECT_TRUE(owners_by_rungs(Parts{}, Speeds(3, 1), 0).empty());
}

}  // namespace
}  // namespace grove
