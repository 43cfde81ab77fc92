#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/vec3.hpp"
#include "kernels/math/neighbour_tree.hpp"

namespace grove {

/// The particles that may be neighbours of the targets of a group, in the order of the tree, one array for
/// each coordinate, so that all distances of a target are found at once.
class NeighbourCandidates {
 public:
  /// Those of the nodes in reach of the box of the targets. Cost: a test for each node on the way, and for
  /// each particle of the buckets.
  void gather(const NeighbourTree& tree, const NeighbourTarget& box);

  /// Numbers of those that are neighbours of particle i, in order; valid until the next call. Cost: some
  /// operations on vectors for each candidate.
  std::span<const std::uint32_t> neighbours_of(const NeighbourTree& tree, std::uint32_t i);

 private:
  void add(std::uint32_t particle, const Vec3d& place, double reach);

  std::vector<double> x_, y_, z_, reach_;
  std::vector<std::uint32_t> number_;
  std::vector<double> sign_;  ///< -1: it is a neighbour
  std::vector<std::uint32_t> found_;
};

}  // namespace grove
