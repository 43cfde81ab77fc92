#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/softening_table.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove {

/// A gathered node, as the tests of groups read it: half a cache line.
struct alignas(32) LocalNode {
  static constexpr std::int32_t closed = INT32_MIN;  ///< `child` of a node that no group here opens

  float x, y, z;  ///< centre of mass
  float reach2, power;
  /// A node is "near" where softening may matter, or where distances to its particles may vanish: where the
  /// squared distance of its centre from the target's box is not above this.
  float near2;
  std::int32_t child;  ///< index of its first child, even, the others follow; ~first particle: a bucket
  std::int32_t count;  ///< children, or particles of a bucket

  bool is_bucket() const { return child < 0 && child != closed; }
};

/// Siblings come in pairs, one cache line each. An odd last one is paired with an empty bucket.
struct alignas(64) LocalPair {
  LocalNode node[2];
};

/// The data that are the same for all leaves of a walk.
struct GatherSetup {
  WalkUnits units;
  SofteningTable softening;
  SofteningKernel kernel = SofteningKernel::spline;
  Images images{};
};

/// All nodes and particles that the groups of one target leaf may need of some trees, in the frame of that
/// leaf: gathered once per leaf by the test of the whole leaf, so that groups go through small arrays of one
/// frame. Breadth first, root first; children behind their parents.
///
/// A node that is accepted for the whole leaf has no children here. A group opens the same nodes of a whole
/// tree and of a pruned one.
struct LocalTree {
  Array<LocalPair> pairs;
  Array<CellSource> cells;  ///< [size()]
  Array<float> mass;        ///< [size()] of `cells`, close together

  const SourceParticle* particles = nullptr;  ///< of the buckets, in the target's frame
  const std::uint8_t* types = nullptr;        ///< of the same length

  std::int32_t size() const { return 2 * static_cast<std::int32_t>(pairs.size()); }
  LocalNode& node(std::int32_t i) { return pairs[static_cast<std::uint32_t>(i) / 2].node[i & 1]; }
  const LocalNode& node(std::int32_t i) const { return pairs[static_cast<std::uint32_t>(i) / 2].node[i & 1]; }

  /// The origin of a node: number of the leaf (-1: the top tree), and index in that tree; and the image of
  /// the box.
  struct Origin {
    std::int32_t tree, node, image = 0;
  };
  Array<Origin> origins;         ///< [size()]
  Array<std::int32_t> opened;    ///< nodes that some group may open, in order
  Array<SourceParticle> copied;  ///< particles brought into the target's frame
  Array<std::uint8_t> copied_types;
};

/// Gathers a leaf's own tree. Its particles stay where they are.
void gather_own(const GatherSetup& setup, const TargetLeaf& target, const SourceTree& tree, LocalTree& local);

/// Gathers everything else, of all images of the box, which then stand below a root that is none of the
/// tree's. trees: by number of the leaf. Throws OpensPruned where something pruned or absent would have
/// to be opened.
void gather_others(const GatherSetup& setup, const TargetLeaf& target, const TopTree& top,
                   std::span<const SourceTree> trees, LocalTree& local);

}  // namespace grove
