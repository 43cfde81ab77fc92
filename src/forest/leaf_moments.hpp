#pragma once

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/moments.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/octree_cell.hpp"
#include "kernels/math/octupole.hpp"

namespace grove {

/// Combines the moments of one leaf's tree, bottom-up in a fixed order, and prepares its nodes for an
/// acceptance rule. Radii are exact: a pass over the particles per level of the tree, in single precision,
/// costs little beside walks that are 3-9 % longer with radii bounded by the children's.
/// Keeps scratch arrays from leaf to leaf. Cost: O(particles x depth).
class LeafMoments {
 public:
  /// The cells of the nodes of a leaf.
  struct Cells {
    RootFrame frame;
    std::uint8_t* levels;  ///< [nodes] in; out where the tree is new
    bool is_new;
  };
  /// links (in): nodes; sources (in): particles in tree order; softening (in): Plummer-equivalent lengths,
  /// walk units, by particle; cells: used if the rule takes_cell(); core, moments, boxes (out): nodes, boxes
  /// if the rule needs_boxes().
  void combine(const AcceptanceRule& rule, std::int32_t nodes, const NodeLinks* links, std::int32_t particles,
               const SourceParticle* sources, const float* softening, const Cells& cells, NodeCore* core,
               NodeMoments* moments, NodeBox* boxes);

 private:
  struct Extent {
    Vec3f low, high;
  };
  static float trace(const NodeMoments& m) { return m.xx + m.yy + m.zz; }

  void prepare_with_boxes(const AcceptanceRule& rule, std::int32_t nodes, const NodeLinks* links,
                          NodeCore* core, const NodeMoments* moments, NodeBox* boxes);
  void prepare_with_cells(const AcceptanceRule& rule, std::int32_t nodes, const Cells& cells, NodeCore* core,
                          const NodeMoments* moments);
  void find_levels(std::int32_t nodes, const NodeLinks* links, const SourceParticle* sources,
                   const Cells& cells);
  void find_octupoles(std::int32_t nodes, const NodeLinks* links, const SourceParticle* sources,
                      NodeMoments* moments);
  void load(std::int32_t particles, const SourceParticle* sources);
  float radius(const NodeLinks& links, const Vec3f& centre) const;
  Extent extent(std::int32_t node, const NodeLinks* links) const;

  Array<float> x_, y_, z_;       ///< positions, one array per axis; lane_count - 1 more for whole registers
  std::vector<MomentSum> sums_;  ///< [nodes]
  std::vector<Extent> extents_;  ///< [nodes] tight boxes
  std::vector<SmallestCell> cells_;          ///< [nodes]
  std::vector<Octupole<double>> octupoles_;  ///< [nodes]
};

}  // namespace grove
