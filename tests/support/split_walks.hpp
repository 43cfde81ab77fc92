#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"
#include "particles/particles.hpp"
#include "support/force_bounds.hpp"

/// Walks in which several warps sum for a group, beside those of one warp.
namespace grove::testing {

inline void expect_same_counts(const WalkCounts& found, const WalkCounts& expected) {
  EXPECT_EQ(found.cell, expected.cell);
  EXPECT_EQ(found.expanded, expected.expanded);
  EXPECT_EQ(found.particle, expected.particle);
  EXPECT_EQ(found.tests, expected.tests);
}

/// The same terms in another order, each sum of n rounded n times and a term some 50 times. A node at d has b
/// <= d/2: its particles, all within 3/2 d, would pull with 4/9 of m/d^2 at least, and its quadrupole, with
/// moments of 2 m b^2 at most, adds 7 (b/d)^2: 2.75 x 9/4 < 6.2 times what the bound counts for it.
inline void expect_same_sums(const Particles& found, const Particles& one, const GravityParameters& gravity) {
  bool differs = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(found.work[i], one.work[i]) << i;
    const double bound = 2 * 6.2 * rounding_bound(one, gravity, i, 0, one.work[i] + 50);
    ASSERT_LE(norm((found.acceleration[i] - one.acceleration[i]).as<double>()), bound) << i;
    differs |= found.acceleration[i] != one.acceleration[i];
  }
  EXPECT_TRUE(differs) << "not split at all";
}

}  // namespace grove::testing
