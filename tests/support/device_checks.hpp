#pragma once

#include <gtest/gtest.h>

#include "forest/check.hpp"
#include "support/device_grown.hpp"

namespace grove::testing {

/// The leaves' trees and groups, as the host checks its own.
inline void expect_sound(const DeviceGrown& grown, const Particles& particles,
                         const GravityParameters& gravity) {
  const auto links = download(grown.links);
  const auto core = download(grown.core);
  const auto moments = download(grown.moments);
  const auto sources = download(grown.sources);
  const auto groups = download(grown.groups);
  const auto bounds = download(grown.bounds);
  for (std::size_t i = 0; i < grown.places.size(); ++i) {
    const cuda::LeafPlaces& leaf = grown.places[i];
    const SourceTree tree{.core = &core[leaf.node],
                          .moments = &moments[leaf.node],
                          .links = &links[leaf.node],
                          .particles = &sources[leaf.first],
                          .types = &particles.type[leaf.first],
                          .nodes = leaf.nodes};
    TargetLeaf target;
    target.bounds = bounds[i];
    target.groups = &groups[leaf.group];
    target.group_count = leaf.groups;
    target.particles = tree.particles;
    target.types = tree.types;
    ASSERT_EQ(check_shape(tree, leaf.count, static_cast<std::int32_t>(gravity.bucket)), "");
    ASSERT_EQ(check_moments(tree, gravity, grown.host.units, true), "");
    ASSERT_EQ(check_groups(target, tree, leaf.count), "");
  }
}

}  // namespace grove::testing
