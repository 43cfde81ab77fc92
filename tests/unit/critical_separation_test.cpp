#include "gravity/critical_separation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace grove {
namespace {

struct Search {
  double found, cost;
  int calls = 0;
};

Search search(const std::function<double(double)>& cost) {
  const Communicator comm(MPI_COMM_WORLD);
  Search result{};
  result.found = find_critical_separation(comm, 1, [&](double separation) {
    ++result.calls;
    return cost(separation);
  });
  result.cost = cost(result.found);
  return result;
}

/// As costs are: nothing is split above some separation, everything below another one; between them the costs
/// of far reaching parts, a power of the separation, and of many parts.
double typical(double separation, double best) {
  const double x = std::clamp(separation / best, 1e-3, 1e2);
  return 100 + 10 * std::pow(x, 1.5) + 10 / x;
}

TEST(CriticalSeparation, costs_little_more_than_the_best_wherever_that_is) {
  for (double best = 1e-5; best < 0.01; best *= 1.3) {
    SCOPED_TRACE(best);
    const auto cost = [&](double separation) { return typical(separation, best); };
    double least = cost(1);
    for (double separation = 1e-6; separation < 1; separation *= 1.01)
      least = std::min(least, cost(separation));
    const Search result = search(cost);
    EXPECT_LE(result.cost, 1.05 * least);  // what it is to reach
    EXPECT_LE(result.calls, most_separation_trials);
  }
}

TEST(CriticalSeparation, is_the_largest_where_splitting_only_costs) {
  for (const double rise : {0.0, 0.001, 1.0}) {
    const Search result = search([&](double separation) { return 1 - rise * std::log(separation); });
    EXPECT_EQ(result.found, 1) << rise;
    EXPECT_LE(result.calls, most_separation_trials);
  }
}

/// The cost goes on falling: the search ends all the same.
TEST(CriticalSeparation, is_as_small_as_it_looks_for_where_splitting_only_saves) {
  const Search result = search([](double separation) { return 100 + std::log2(separation); });
  EXPECT_LT(result.found, 0x1p-19);
  EXPECT_GE(result.found, 0x1p-22);
  EXPECT_LE(result.calls, most_separation_trials);
}

/// Two passes of ranks' walks: the sum of all groups' instructions at 2000 a time, and the longest of each
/// pass.
TEST(WalkCost, is_that_of_all_groups_and_of_the_longest) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto pass = [&](Count instructions, Count longest) {
    WalkCounts counts;
    counts.instructions = instructions * (comm.rank() + 1);
    counts.longest = longest * (comm.rank() + 1);
    return counts;
  };
  const WalkCounts passes[] = {pass(4000, 7), pass(2000, 11)};
  const double ranks = comm.size();
  EXPECT_DOUBLE_EQ(walk_cost(comm, passes), 3 * ranks * (ranks + 1) / 2 + 18 * ranks);
}

/// Costs of 3 % less or more by chance.
TEST(CriticalSeparation, is_found_though_costs_are_rough) {
  const auto cost = [](double separation) {
    return typical(separation, 1e-3) * (1 + 0.03 * std::sin(1e5 * separation));
  };
  EXPECT_LE(search(cost).cost, 1.08 * typical(9e-4, 1e-3));
}

}  // namespace
}  // namespace grove
