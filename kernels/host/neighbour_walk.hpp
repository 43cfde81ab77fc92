#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/host/neighbour_candidates.hpp"
#include "kernels/kokkos/host_loop.hpp"
#include "kernels/math/neighbour_box.hpp"
#include "kernels/math/neighbour_tree.hpp"
#include "kernels/math/node.hpp"

/// Walks of all targets in the memory of the host, leaf by leaf on the threads of the host. Visitors:
/// kernels/math/neighbour_tree.hpp.
namespace grove {

/// The groups of a leaf, and where its particles are.
struct NeighbourLeaf {
  std::uint32_t first;  ///< number of its first particle
  std::span<const GroupRun> groups;
};

/// Each target by itself. Cost: a test for each node near a target, and its neighbours.
template <class Visitor>
void walk_neighbours_singly(const NeighbourTree& tree, std::span<const NeighbourLeaf> leaves,
                            const Visitor& visitor) {
  const NeighbourRopes<Visitor> walk{tree, visitor};
  host_loop("Grove::neighbours::ropes", leaves.size(), [&](std::size_t leaf) {
    for (const GroupRun& group : leaves[leaf].groups) {
      const std::uint32_t first = leaves[leaf].first + static_cast<std::uint32_t>(group.first);
      for (std::uint32_t i = first; i < first + static_cast<std::uint32_t>(group.count); ++i) walk(i);
    }
  });
}

/// The targets of a group together: what is in reach of its box is found once, then the distances of each
/// target to all of that. The same bits as each by itself.
template <class Visitor>
requires(!takes_nodes<Visitor>) void walk_neighbour_groups(const NeighbourTree& tree,
                                                           std::span<const NeighbourLeaf> leaves,
                                                           const Visitor& visitor) {
  host_loop("Grove::neighbours::groups", leaves.size(), [&](std::size_t leaf) {
    thread_local NeighbourCandidates candidates;
    for (const GroupRun& group : leaves[leaf].groups) {
      const std::uint32_t begin = leaves[leaf].first + static_cast<std::uint32_t>(group.first),
                          end = begin + static_cast<std::uint32_t>(group.count);
      NeighbourBounds bounds;
      for (std::uint32_t i = begin; i < end; ++i)
        if (is_target(tree, i, visitor)) bounds.add(tree.position[i], tree.reach[i]);
      if (bounds.is_nothing()) continue;
      candidates.gather(tree, bounds.target());
      for (std::uint32_t i = begin; i < end; ++i) {
        if (!is_target(tree, i, visitor)) continue;
        typename Visitor::Sum sum = first_sum(i, visitor);
        for (const std::uint32_t j : candidates.neighbours_of(tree, i)) {
          const Vec3d d = tree.nearest(tree.position[j] - tree.position[i]);
          visitor.particle(sum, {i, j, d, squared_length(d)});
        }
        visitor.finish(i, sum);
      }
    }
  });
}

}  // namespace grove
