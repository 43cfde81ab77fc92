#pragma once

#include <gtest/gtest.h>

#include "forest/check.hpp"
#include "kernels/math/cut_rule.hpp"
#include "support/grown.hpp"

namespace grove::testing {

/// The trees and groups of all leaves keep the invariants of forest/check.hpp. bucket: particles of a node
/// that is not divided, at most.
inline void expect_sound(const Grown& grown, const GravityParameters& gravity,
                         std::int32_t bucket = bucket_size) {
  for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf) {
    const SourceTree tree = grown.forest.tree(leaf);
    const auto i = static_cast<std::size_t>(leaf);
    const auto particles = static_cast<std::int32_t>(grown.leaf_begin[i + 1] - grown.leaf_begin[i]);
    ASSERT_EQ(check_shape(tree, particles, bucket), "");
    ASSERT_EQ(check_moments(tree, gravity, grown.units, true), "");
    ASSERT_EQ(check_groups(grown.forest.target(leaf), tree, particles), "");
  }
}

}  // namespace grove::testing
