#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "forest/tree_builder.hpp"
#include "kernels/kokkos/host_loop.hpp"

namespace grove {

/// Builds trees of which it is not known beforehand how many nodes they have: grow(leaf, links) appends those
/// of a leaf that has particles, and is called for all such leaves in parallel.
template <class Grow>
void build_leaf_by_leaf(const char* label, std::span<const Count> leaf_begin, TreeShapes& shapes,
                        const Grow& grow) {
  const std::size_t leaves = leaf_begin.size() - 1;
  std::vector<std::vector<NodeLinks>> links(leaves);
  host_loop(label, leaves, [&](std::size_t leaf) {
    if (leaf_begin[leaf] < leaf_begin[leaf + 1]) grow(leaf, links[leaf]);
  });
  shapes.node_begin.assign(1, 0);
  for (const auto& of_leaf : links)
    shapes.node_begin.push_back(shapes.node_begin.back() + static_cast<Count>(of_leaf.size()));
  shapes.links.resize(static_cast<std::size_t>(shapes.node_begin.back()));
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    std::copy(links[leaf].begin(), links[leaf].end(), shapes.links.begin() + shapes.node_begin[leaf]);
}

}  // namespace grove
