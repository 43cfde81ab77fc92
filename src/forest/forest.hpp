#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/box.hpp"
#include "base/timers.hpp"
#include "forest/tree_builder.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/domain_cell.hpp"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The local trees of this rank, one per own leaf of the ORB, with the particles as sources and as targets.
///
///   forest.build(particles, box, domain.leaf_begin);                     // shape: after a decomposition
///   forest.update(particles, gravity, units, median);  // moments: before every walk
///
/// All arrays are host memory, owned here, of all own leaves one after the other; views stay valid until the
/// next build() or update().
class Forest {
 public:
  /// Cuts the leaves into groups and buckets and brings the particles into tree order.
  ///
  /// particles (in/out): those of own leaf i are leaf_begin[i] .. leaf_begin[i + 1], before and after.
  /// records (in/out, optional): where the decomposition has them anyway, the records of the particles in
  /// leaf order (Record::index: where the particle is now); the particles themselves may then be in any order
  /// before, and are moved only once.
  /// timers (optional): adds to "build", for the trees, and "sort", for the particles.
  void build(Particles& particles, const Box& box, std::span<const Count> leaf_begin,
             std::span<Record> records = {}, const TreeBuilder& builder = bisection_builder(),
             PhaseTimers* timers = nullptr);

  /// Cuts the domain cells and the trees anew that TreeRenewal takes, of the particles that they have. Only
  /// of bisections. first_active: the rung from which on particles count as active; cells: those of this
  /// rank. Cost: a look at each rung; of renewed leaves as build(), of domain cells O(particles) per level
  /// more.
  void renew(Particles& particles, int first_active, const DomainCellsView& cells = {});

  /// Copies positions and masses in single precision, combines moments, and prepares nodes and groups for the
  /// criterion. May be repeated without build() when particles have moved or the criterion or the softening
  /// changes: leaves keep their origins, particles their masses.
  /// median_acceleration (in): global median of |a_old|, units of the run (0 for the opening angles);
  /// first_active (in): the rung from which on particles are targets.
  void update(const Particles& particles, const GravityParameters& gravity, const WalkUnits& units,
              double median_acceleration, int first_active = 0);

  /// The part of new trees that update() does not find anew: it goes along when leaves change their owner.
  struct Shape {
    std::vector<Vec3d> origins;  ///< [leaves]
    TreeShapes trees;
  };
  Shape shape() const { return {origins_, shapes_}; }
  /// Nodes and groups of the trees, for searches of neighbours.
  const TreeShapes& shapes() const { return shapes_; }
  /// Gives it away; what is left are no trees.
  Shape take_shape();
  /// Takes the trees of these leaves, of which the next update() makes what build() and the updates since
  /// would have made. shape: of trees that have been updated, or never will be, groups or none; box,
  /// leaf_begin: as for build(); builder: of the trees; the particles are in tree order already.
  void adopt(Shape shape, const Box& box, std::span<const Count> leaf_begin,
             const TreeBuilder& builder = bisection_builder());

  std::int32_t leaves() const { return static_cast<std::int32_t>(origins_.size()); }
  /// By own leaf: of a periodic box, since the last update().
  std::span<const Ball> balls() const { return balls_; }

  /// For own leaf i: its tree; its particles as targets; the place of its results; its root for the top tree.
  /// old_acceleration: of all particles, where single ones walk.
  SourceTree tree(std::int32_t i) const;
  TargetLeaf target(std::int32_t i, const float* old_acceleration = nullptr) const;
  ForceOutput output(std::int32_t i, Particles& particles) const;
  LeafRoot root(std::int32_t i) const;
  /// The same of all own leaves, in order: what walks, what acts, and where forces go.
  struct OwnLeaves {
    std::vector<TargetLeaf> targets;
    std::vector<SourceTree> trees;
    std::vector<ForceOutput> outputs;
  };
  /// particles: as they were updated; results (out): as long.
  OwnLeaves own_leaves(const Particles& particles, Particles& results) const;

 private:
  void lay_out(std::span<const Count> leaf_begin);
  Vec3d find_origin(std::size_t leaf, const Particles& particles) const;
  void renew_trees(std::size_t first_leaf, std::size_t leaves, std::span<const CountedCut> cuts,
                   Particles& particles);
  SourceBody source_body(std::size_t leaf, const Particles& particles, const GravityParameters& gravity);
  void mark_buckets();
  void make_groups(std::size_t leaf, const Particles& particles, const GravityParameters& gravity,
                   const AcceptanceRule& rule);

  int first_active_ = 0;
  bool has_origins_ = false;              ///< they have been found for these trees
  bool has_sources_ = false;              ///< masses and softening of these trees are copied
  std::vector<std::uint8_t> is_renewed_;  ///< [leaves] particles have another order since then; empty: none
  WalkUnits units_;                       ///< of what is copied
  std::array<double, particle_types> softening_of_type_{};  ///< of what is copied, units of the run
  Box box_;  ///< that gave the particles of these trees their coordinates
  /// [leaves] units of the run; where most of a leaf's particles are (the median of a sample in tree order),
  /// so that a distant one takes the precision from no other. The same whoever owns the leaf. Found when a
  /// tree is new: until the next one particles move by less than the size of a leaf.
  std::vector<Vec3d> origins_;
  std::vector<Count> leaf_begin_;       ///< [leaves + 1] first particle
  TreeShapes shapes_;                   ///< links of all nodes, and groups
  Array<NodeCore> core_;                ///< [nodes]
  Array<NodeMoments> moments_;          ///< [nodes]
  Array<NodeBox> node_boxes_;           ///< [nodes] if the criterion needs them
  Array<SourceParticle> sources_;       ///< [particles]
  Array<float> softening_;              ///< [particles] Plummer-equivalent lengths, walk units
  Array<std::uint8_t> types_;           ///< [particles]
  Array<Group> groups_;                 ///< [groups]
  std::vector<std::uint32_t> buckets_;  ///< [groups] where groups may be split: TargetLeaf::buckets
  std::vector<TargetBounds> bounds_;    ///< [leaves] of the groups that are active
  std::vector<TightBox> boxes_;         ///< [leaves] of all particles
  std::vector<Ball> balls_;             ///< [leaves]
};

}  // namespace grove
