#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/led_positions.hpp"

namespace grove::cuda {

/// The particles of a rank in the order of its leaves; device memory.
struct LeafParticles {
  LedPositions position;
  const ParticleId* id;
  const std::uint32_t* weight;  ///< nullptr: every particle weighs 1
};

/// A leaf, and how it is reached from the root.
struct AuditedLeaf {
  std::uint64_t first, count;  ///< its particles
  std::uint64_t path;          ///< where its steps begin
  LeafNumber number;
  std::uint32_t steps;
};
/// A step of a path: the cell, and whether its left child is next.
struct PathStep {
  std::int32_t cell;
  std::int32_t goes_left;
};

/// The recount of a decomposition.
struct LeafCounts {
  std::vector<Count> left_of_middle;  ///< by cell: particles left of its middle
  std::vector<Count> first_right;     ///< by cell: weight of the particle that its cut names
  std::vector<CellBounds> bounds;     ///< by leaf
  std::vector<Count> weight;          ///< by leaf
  std::uint64_t leaves_of_ids = 0;    ///< sum of mixed(mixed(id) + leaf)
  std::uint64_t misplaced = 0;        ///< particles that the cuts lead to another leaf,
  ParticleId least_misplaced = 0;     ///< and the least id of them
};

/// Follows every particle down the tree. cells: all of the tree. Cost: O(particles x depth).
LeafCounts audit_leaves(const Box& box, const CutScheme& scheme, std::span<const Cell> cells,
                        std::span<const AuditedLeaf> leaves, std::span<const PathStep> steps,
                        const LeafParticles& particles);

}  // namespace grove::cuda
