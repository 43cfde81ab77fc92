#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "forest/tree_builder.hpp"
#include "gravity/gpu/device_tree_builder.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/cuda/trees/tree_renewal.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/leaf_targets.hpp"
#include "kernels/math/opening.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// The local trees of this rank in the memory of its GPU: what Forest is on the host. Views stay valid until
/// the next cut(), update() or make_room().
class DeviceForest {
 public:
  /// gravity: says which trees.
  explicit DeviceForest(const GravityParameters& gravity);

  /// Frees the trees: there are none until cut() or adopt(), and update().
  void release();
  /// Cuts the leaves into groups and buckets, or grows their octrees. leaf_begin: first particle of each own
  /// leaf, length leaves + 1. records: of the particles, in leaf order; Record::index tells where each
  /// particle is now. targets_per_warp: particles that will walk as one, see GroupCuts. InputError:
  /// a leaf has more particles than bisections on a GPU take.
  void cut(const DeviceParticles& particles, std::span<const Count> leaf_begin,
           const cuda::DeviceRecords& records, std::int32_t targets_per_warp);
  /// Brings the particles into tree order, once after cut().
  void arrange(DeviceParticles& particles);
  /// Cuts the domain cells and the trees anew that TreeRenewal takes, of the particles that they have. Only
  /// of bisections. cells: those of this rank, device memory; box, targets_per_warp: as for these trees;
  /// first_active: the rung from which on particles count as active.
  void renew(DeviceParticles& particles, const cuda::DeviceDomainCells& cells, const Box& box,
             int first_active, std::int32_t targets_per_warp);
  /// The part of new trees that update() does not find anew: a copy for the host, for adopt().
  TreeShapes shapes() const;
  /// Takes the trees of other leaves, as they were cut: all else is found anew by update(). links: of the
  /// nodes of all leaves; node_begin: where those of each begin, leaf_begin likewise for particles, length
  /// leaves + 1.
  /// levels: of all nodes where GravityParameters::keeps_levels(), else empty.
  void adopt(cuda::DeviceArray<NodeLinks> links, cuda::DeviceArray<std::uint8_t> levels,
             std::vector<Count> node_begin, std::span<const Count> leaf_begin);
  /// As Forest::update(). box: that gave the particles of these trees their coordinates.
  void update(const DeviceParticles& particles, const Box& box, const GravityParameters& gravity,
              const WalkUnits& units, double median_acceleration, int first_active);

  /// Room for so many nodes and particles of other ranks behind the own ones. As much is there after the next
  /// updates, so that own trees seldom move for it: where they must, this waits for the device.
  void make_room(std::size_t nodes, std::size_t particles);

  std::uint32_t leaves() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(leaf_groups_.leaf_of_group.size()); }
  /// Pairs of groups that follow each other in a leaf, a single one at the end of a leaf included.
  std::uint32_t pairs() const;
  const std::vector<cuda::LeafPlaces>& places() const { return places_; }
  std::size_t nodes() const { return static_cast<std::size_t>(node_begin_.back()); }
  /// The first one of each leaf, length leaves + 1.
  const std::vector<Count>& node_begin() const { return node_begin_; }
  /// Nodes of the largest tree.
  std::int32_t largest_tree() const;
  std::size_t particles() const {
    return places_.empty() ? 0 : places_.back().first + static_cast<std::size_t>(places_.back().count);
  }

  cuda::LeafTrees trees() const;
  /// Those of trees().
  NodeLinks* links() const { return links_.data(); }
  const std::uint32_t* leaf_of_group() const { return leaf_groups_.leaf_of_group.data(); }
  /// The begins of buckets, for groups that may be split: see cuda::mark_buckets().
  const std::uint32_t* buckets() const { return buckets_.data(); }
  /// The notices of the leaves, for all ranks. told: as for cuda::collect_notices().
  cuda::DeviceArray<LeafNotice> notices(const LeafTargets* told, double unit_length) const;

 private:
  /// Behind the own nodes and particles.
  struct Room {
    std::size_t nodes = 0, particles = 0;
  };
  void lay_out(std::span<const Count> leaf_begin);
  static Room more_than(const Room& room);
  /// Calls visit(array, own elements, what those behind are) for each array that others' trees are put into,
  /// but the links.
  template <class Visit>
  void for_each_joint(const Visit& visit);

  LocalTreeKind kind_;
  bool splits_groups_;  ///< GravityParameters::splits_groups()
  bool has_boxes_;      ///< of nodes
  std::unique_ptr<DeviceTreeBuilder> builder_;
  std::vector<cuda::LeafPlaces> places_;
  std::vector<Count> node_begin_{0};  ///< [leaves + 1]
  Room room_;                         ///< that new arrays have
  Room needed_;                       ///< most, since cut()
  cuda::LeafGroups leaf_groups_;
  cuda::DeviceArray<std::uint32_t> order_;  ///< of the particles, from cut() to arrange()
  cuda::DeviceArray<NodeLinks> links_;
  cuda::DeviceArray<std::uint8_t> children_;  ///< of nodes, unless they follow from counts
  cuda::DeviceArray<std::uint8_t> levels_;    ///< [nodes] of their cells, once found: TreeShapes::levels
  cuda::DeviceArray<std::uint32_t> buckets_;  ///< of groups that may be split
  cuda::DeviceArray<Vec3d> origin_;
  cuda::DeviceArray<TargetBounds> bounds_;
  cuda::DeviceArray<TightBox> boxes_;
  cuda::DeviceArray<Ball> balls_;  ///< of a periodic box
  cuda::DeviceArray<Group> groups_;
  cuda::DeviceArray<SourceParticle> sources_;
  cuda::DeviceArray<float> softening_;
  cuda::DeviceArray<NodeCore> core_;
  cuda::DeviceArray<NodeMoments> moments_;
  cuda::DeviceArray<NodeBox> node_boxes_;  ///< where the criterion needs them
};

}  // namespace grove
