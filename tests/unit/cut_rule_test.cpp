#include "kernels/math/cut_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/math/middle_bins.hpp"

namespace grove {
namespace {

TEST(CutRule, middle_gives_full_quanta) {
  EXPECT_EQ(middle_left_count(9, 1, 8), 8) << "between one and two quanta the right part is short";
  EXPECT_EQ(middle_left_count(15, 14, 8), 8);
  EXPECT_EQ(middle_left_count(16, 16, 8), 8);
  EXPECT_EQ(middle_left_count(23, 23, 8), 8) << "the right part keeps a whole quantum";
  EXPECT_EQ(middle_left_count(32, 20, 8), 24) << "halfway: the larger";
  EXPECT_EQ(middle_left_count(32, 19, 8), 16);
  EXPECT_EQ(middle_left_count(32, 1, 8), 8);
  EXPECT_EQ(middle_left_count(32, 0, 8), 16) << "one point is halved by number";
}

TEST(CutRule, spatial_middle_is_strictly_inside) {
  EXPECT_EQ(spatial_middle(0, 1), 1u);
  EXPECT_EQ(spatial_middle(0, 2), 1u);
  EXPECT_EQ(spatial_middle(7, 7), 7u);
  EXPECT_EQ(spatial_middle(0, ~0u), 0x80000000u);
  EXPECT_EQ(spatial_middle(~0u - 1, ~0u), ~0u);
}

TEST(MiddleBins, follow_each_other_and_reach_a_32nd_of_the_extent) {
  for (const Coordinate extent : {1u, 100u, (1u << 20) + 3, 0x89abcdefu, ~0u}) {
    const MiddleBins bins{0x80000000u, MiddleBins::shift_for(extent)};
    EXPECT_GE(bins.begin_of(MiddleBins::number) - bins.middle, std::int64_t{extent} / 32);
    EXPECT_EQ(bins.begin_of(MiddleBins::number) - bins.middle, bins.middle - bins.begin_of(0));
    EXPECT_EQ(bins.begin_of(MiddleBins::on_a_side), bins.middle);
    for (std::int32_t bin = 0; bin < MiddleBins::number; ++bin) {
      const std::int64_t first = bins.begin_of(bin), last = bins.begin_of(bin + 1) - 1;
      ASSERT_LE(first, last);
      EXPECT_EQ(bins.bin_of(static_cast<Coordinate>(first)), bin);
      EXPECT_EQ(bins.bin_of(static_cast<Coordinate>(last)), bin);
      // An eighth of the distance from a point eight units beyond the middle.
      const std::int64_t unit = std::int64_t{1} << bins.shift;
      const std::int64_t distance = std::max(first - bins.middle, bins.middle - 1 - last);
      EXPECT_LE(8 * (last - first + 1), distance + 8 * unit);
    }
    EXPECT_EQ(bins.bin_of(static_cast<Coordinate>(bins.begin_of(0) - 1)), MiddleBins::too_far);
    EXPECT_EQ(bins.bin_of(static_cast<Coordinate>(bins.begin_of(MiddleBins::number))), MiddleBins::too_far);
  }
}

TEST(MiddleBins, do_not_reach_around_the_cube) {
  EXPECT_EQ((MiddleBins{5, 0}.bin_of(~0u)), MiddleBins::too_far);
  EXPECT_EQ((MiddleBins{~0u - 5, 0}.bin_of(0)), MiddleBins::too_far);
}

TEST(CutRule, halves_make_an_array_heap) {
  // In an array heap of 2d - 1 nodes the left subtree's nodes are 1, 3, 4, 7, 8, 9, 10, ...
  for (std::int32_t d = 2; d < 600; ++d) {
    std::int32_t nodes = 0;
    for (std::int32_t first = 1, width = 1; first < 2 * d - 1; first = 2 * first + 1, width *= 2)
      nodes += std::min(width, 2 * d - 1 - first);
    EXPECT_EQ(2 * halves_left_leaves(d) - 1, nodes) << d;
  }
}

TEST(CutRule, halves_bound_does_not_overflow) {
  const std::int32_t leaves = 1000000007;
  const Count weight = 9000000000000000000;
  const auto wanted = static_cast<Count>(static_cast<__int128>(weight) * halves_left_leaves(leaves) / leaves);
  EXPECT_EQ(halves_target(Count{1} << 40, weight, leaves).weight, wanted);
}

}  // namespace
}  // namespace grove
