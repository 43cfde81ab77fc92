#include "kernels/math/kd_cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace grove {
namespace {

/// A small node on its axis.
struct Node {
  std::vector<Coordinate> at;  ///< ascending
  std::vector<double> mass;

  std::int32_t count() const { return static_cast<std::int32_t>(at.size()); }
  double largest() const { return *std::max_element(mass.begin(), mass.end()); }
  std::int32_t cut() const {
    std::uint64_t sum = 0;
    const auto mass_of = [&](std::int32_t i) {
      return kd_mass(mass[static_cast<std::size_t>(i)], largest());
    };
    for (std::int32_t i = 0; i < count(); ++i) sum += mass_of(i);
    return volume_mass_cut(
        count(), at.front(), at.back(), sum, [&](std::int32_t i) { return at[static_cast<std::size_t>(i)]; },
        mass_of);
  }
  /// [k] the cost of the cut after k particles.
  std::vector<double> costs() const {
    const double all = std::accumulate(mass.begin(), mass.end(), 0.0);
    std::vector<double> result{0};
    double left = 0;
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      left += mass[i];
      const double plane = at[i];
      result.push_back((plane - at.front()) * left + (at.back() - plane) * (all - left));
    }
    return result;
  }
};

/// On a grid of this many coordinates, so that few of them make equal ones.
Node random_node(std::mt19937& random, bool equal_masses) {
  Node node;
  const auto count = 2 + random() % 254;
  const std::uint32_t grid = 1U << (1 + random() % 31);
  const double power = 0.25 * static_cast<double>(1 + random() % 16);  // even, or gathered at one end
  std::uniform_real_distribution<double> uniform;
  do {
    node.at.clear();
    for (std::size_t i = 0; i < count; ++i)
      node.at.push_back(static_cast<Coordinate>(std::pow(uniform(random), power) * grid) * (~0U / grid));
    std::sort(node.at.begin(), node.at.end());
  } while (node.at.front() == node.at.back());
  for (std::size_t i = 0; i < count; ++i)
    node.mass.push_back(equal_masses ? 3 : std::pow(10, 3 * uniform(random)));
  return node;
}

/// The cut after k particles has the least cost of all, but for what rounding masses to 2^-20 of the largest
/// one does: at most half a unit for each particle, over the node's extent.
void expect_least(const Node& node, std::int32_t cut) {
  ASSERT_GT(cut, 0);
  ASSERT_NE(node.at[static_cast<std::size_t>(cut - 1)], node.at[static_cast<std::size_t>(cut)]);
  const double extent = node.at.back() - node.at.front();
  const double rounding = extent * node.count() * node.largest() * std::ldexp(1, -20);
  const std::vector<double> costs = node.costs();
  for (std::size_t k = 1; k < costs.size(); ++k) {
    if (node.at[k - 1] == node.at[k]) continue;
    ASSERT_LE(costs[static_cast<std::size_t>(cut)], costs[k] + rounding) << k << " in place of " << cut;
  }
}

TEST(KdCut, volume_mass_is_the_least_of_all_cuts) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i)
    for (const bool equal : {true, false}) {
      const Node node = random_node(random, equal);
      expect_least(node, node.cut());
    }
}

// A plane with more than half of the mass and of the extent on one side costs less when it moves to that
// side: both products shrink. The plane stands at particles only, which leaves one particle of room.
TEST(KdCut, volume_mass_lies_between_middle_and_median) {
  std::mt19937 random(2);
  for (int i = 0; i < 10000; ++i) {
    const Node node = random_node(random, true);
    const double middle = 0.5 * (static_cast<double>(node.at.front()) + static_cast<double>(node.at.back()));
    const auto left_of_middle =
        static_cast<std::int32_t>(std::lower_bound(node.at.begin(), node.at.end(), middle) - node.at.begin());
    const std::int32_t median = node.count() / 2;
    std::int32_t from = std::min(left_of_middle, median) - 1;  // equal coordinates are not parted
    std::int32_t to = std::max(left_of_middle, median) + 1;
    while (from > 1 && node.at[static_cast<std::size_t>(from)] == node.at[static_cast<std::size_t>(from - 1)])
      --from;
    while (to < node.count() - 1 &&
           node.at[static_cast<std::size_t>(to)] == node.at[static_cast<std::size_t>(to - 1)])
      ++to;
    ASSERT_GE(node.cut(), from) << "middle " << left_of_middle << " of " << node.count();
    ASSERT_LE(node.cut(), to) << "middle " << left_of_middle << " of " << node.count();
  }
}

TEST(KdCut, equal_costs_give_the_leftmost) {
  const Node node{{0, 1, 2}, {3, 1, 2}};  // costs 2 x 3, and 1 x 4 + 1 x 2
  EXPECT_EQ(node.cut(), 1);
}

TEST(KdCut, middle_leaves_particles_on_both_sides) {
  for (const Coordinate extent : {1U, 2U, 3U, ~0U}) {
    const Coordinate low = extent == ~0U ? 0 : 7;
    EXPECT_GT(kd_middle(low, low + extent), low);
    EXPECT_LE(kd_middle(low, low + extent), low + extent);
  }
}

TEST(KdCut, masses_count_alike_where_there_are_none) { EXPECT_EQ(kd_mass(0, 0), kd_mass(5, 5)); }

}  // namespace
}  // namespace grove
