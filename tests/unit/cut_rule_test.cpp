#include "kernels/math/cut_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

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

TEST(CutRule, cuts_lie_in_the_middle_quarter) {
  EXPECT_EQ(scattered_middle(7, 7, ~0u), 7u) << "nothing is left of one coordinate";
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto low = static_cast<Coordinate>(random());
    const Coordinate extent = ~low >> random() % 32;
    if (extent == 0) continue;
    const Coordinate left = scattered_middle(low, low + extent, static_cast<std::uint32_t>(random())) - low;
    // Roundings: of the half, of the eighth and of the share of the quarter.
    ASSERT_GE(left, std::max<std::int64_t>(1, std::int64_t{3} * extent / 8)) << low << " " << extent;
    ASSERT_LE(left, std::min<std::int64_t>(extent, std::int64_t{5} * extent / 8 + 2)) << low << " " << extent;
  }
}

/// The scatter of cuts, as chi^2 of 16 parts of the quarter; shares are of the extent.
class Scatter {
 public:
  void add(Coordinate low, Coordinate high, Coordinate middle) {
    const double share = static_cast<double>(middle - low) / static_cast<double>(high - low);
    const int part = static_cast<int>((share - 0.375) / 0.25 * static_cast<double>(found_.size()));
    ++found_.at(static_cast<std::size_t>(std::clamp(part, 0, 15)));
    ++cuts_;
  }
  double chi2() const {
    const double expected = cuts_ / static_cast<double>(found_.size());
    double sum = 0;
    for (const double n : found_) sum += (n - expected) * (n - expected) / expected;
    return sum;
  }
  /// Uniform numbers exceed it once in a million times (15 degrees of freedom).
  static constexpr double too_much = 57;

 private:
  std::array<double, 16> found_{};
  double cuts_ = 0;
};

TEST(CutRule, cuts_in_a_leaf_lie_elsewhere_for_other_bounds) {
  constexpr Coordinate extent = 1U << 20;
  Scatter scatter;
  for (Coordinate i = 0; i < 64; ++i)
    for (Coordinate j = 0; j < 32; ++j) scatter.add(i, extent + j, middle_in_leaf(i, extent + j));
  EXPECT_LT(scatter.chi2(), Scatter::too_much);
}

TEST(CutRule, cuts_to_leaves_lie_elsewhere_in_another_epoch) {
  CutScheme scheme{CutRule::middle, 8};
  Scatter scatter;
  for (scheme.epoch = 0; scheme.epoch < 128; ++scheme.epoch)
    for (int bit = 16; bit < 32; ++bit) {
      const Coordinate high = Coordinate{1} << bit;
      scatter.add(0, high, scheme.middle(0, high, 9));
      EXPECT_EQ(scheme.middle(5, high + 5, 9), scheme.middle(0, high, 9) + 5) << "cells that move";
    }
  EXPECT_LT(scatter.chi2(), Scatter::too_much);
}

/// The first cut that divides a cell of these bounds, if the root cube is halved on z, y, x, z, y, ...
struct Halving {
  int axis;
  std::uint64_t middle;
};
Halving first_halving(const IntegerPosition& low, const IntegerPosition& high) {
  std::uint64_t begin[3] = {0, 0, 0}, edge[3] = {1ULL << 32, 1ULL << 32, 1ULL << 32};
  for (int level = 0;; ++level) {
    const int axis = 2 - level % 3;
    edge[axis] /= 2;
    const std::uint64_t middle = begin[axis] + edge[axis];
    if (low[axis] < middle && high[axis] >= middle) return {axis, middle};
    if (low[axis] >= middle) begin[axis] = middle;
  }
}

TEST(CutRule, centre_cuts_where_halving_the_cube_first_divides) {
  const CutScheme scheme{CutRule::centre, 8};
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    IntegerPosition low, high;
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<Coordinate>(random());
      // From the same point to the other end of the cube.
      const auto b = a ^ static_cast<Coordinate>((std::uint64_t{random()} >> random() % 33));
      low[axis] = std::min(a, b), high[axis] = std::max(a, b);
    }
    if (low == high) continue;
    const Halving wanted = first_halving(low, high);
    const int axis = scheme.axis(low, high, 9);
    ASSERT_EQ(axis, wanted.axis) << i;
    ASSERT_EQ(scheme.middle(low[axis], high[axis], 9), wanted.middle) << i;
  }
  EXPECT_EQ(scheme.axis({0, 0, 0}, {~0u, ~0u, ~0u}, 9), 2);
  EXPECT_EQ(scheme.axis({0, 0, 1}, {1, 1, 1}, 9), 1);
  EXPECT_EQ(scheme.axis({1, 1, 1}, {2, 2, 1}, 9), 1)
      << "cubes of four: y before x, though both extend over one";
  EXPECT_EQ(scheme.middle(7, 7, 9), 7u) << "nothing is left of it";
  EXPECT_EQ(scheme.middle(0, 0, 9), 0u);
}

TEST(CutRule, domains_are_geometric_above_domain_cells_and_rounded_in_them) {
  const CutScheme scheme{CutRule::domains, 8, 5, 100};
  const CutScheme above{CutRule::centre, 8, 5}, inside{CutRule::middle, 8, 5};
  const IntegerPosition low{1000, 7, 1}, high{9000, 7, 5000};
  EXPECT_EQ(above.axis(low, high, 0), 0);
  for (const Count count : {9, 100, 101, 5000}) {
    const CutScheme& like = count > 100 ? above : inside;
    EXPECT_EQ(scheme.axis(low, high, count), like.axis(low, high, count));
    EXPECT_EQ(scheme.middle(1000, 9000, count), like.middle(1000, 9000, count));
    EXPECT_EQ(scheme.target(count, count, 0, 5), like.target(count, count, 0, 5));
    EXPECT_EQ(scheme.rounding(count), like.rounding(count));
  }
  EXPECT_NE(above.middle(1000, 9000, 101), inside.middle(1000, 9000, 101));
  EXPECT_NE(above.target(101, 101, 0, 5), inside.target(101, 101, 0, 5));
  EXPECT_FALSE(scheme.knows_leaves());
}

TEST(CutRule, right_halves_begin_where_left_ones_end) {
  std::mt19937 random(5);
  for (int i = 0; i < 10000; ++i) {
    const auto any = [&] { return static_cast<Coordinate>(random()) >> random() % 32; };
    const IntegerPosition a{any(), any(), any()}, b{any(), any(), any()};
    if (a == b) continue;
    const IntegerPosition low{std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)},
        high{std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
    const IntegerPosition begin = right_half(low, high);
    EXPECT_TRUE(comes_before(low, begin));
    EXPECT_FALSE(comes_before(high, begin));
    // Morton's order is that of the interleaved bits.
    const auto key = [](const IntegerPosition& p) {
      std::array<bool, 96> bits{};
      for (int bit = 0; bit < 96; ++bit)
        bits[static_cast<std::size_t>(bit)] = p[2 - bit % 3] >> (31 - bit / 3) & 1;
      return bits;
    };
    EXPECT_EQ(comes_before(a, b), key(a) < key(b));
    EXPECT_EQ(comes_before(b, a), key(b) < key(a));
    // The right half begins with the common prefix of low and high, then a bit that is set, then none.
    auto wanted = key(low);
    const auto other = key(high);
    std::size_t bit = 0;
    while (wanted[bit] == other[bit]) ++bit;
    wanted[bit] = true;
    std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(bit) + 1, wanted.end(), false);
    EXPECT_EQ(key(begin), wanted);
  }
}

TEST(CutRule, centre_takes_what_is_left_and_halves_one_point_by_number) {
  const CutScheme scheme{CutRule::centre, 8};
  EXPECT_EQ(scheme.target(20, 99, 3, 1), (CutTarget{1, 1, 99}));
  EXPECT_EQ(scheme.target(20, 99, 3, 19), (CutTarget{19, 19, 99}));
  EXPECT_EQ(scheme.target(32, 99, 4, 0), (CutTarget{16, 16, 99}));
  EXPECT_FALSE(scheme.is_leaf(9, 2));
  EXPECT_TRUE(scheme.is_leaf(8, 1));
  EXPECT_GT(scheme.leaves_of(9), 1);
  EXPECT_EQ(scheme.child_leaves(3, 20, 1).left, 1);
  EXPECT_EQ(scheme.child_leaves(3, 20, 1).right, 3) << "more than are left of the three";
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
