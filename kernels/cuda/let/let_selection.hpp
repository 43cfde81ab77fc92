#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/let/let_fields.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/frame.hpp"
#include "kernels/math/grown_node.hpp"
#include "kernels/math/leaf_targets.hpp"

namespace grove::cuda {

/// Some that follow each other, of one other rank.
struct TargetRange {
  std::int32_t slot;           ///< number of the rank among those in reach
  std::uint32_t begin, count;  ///< at most TargetClusters::fan
};

/// How the targets of the ranks in reach are divided, in device memory: targets that follow each other, which
/// lie near each other, into clusters, and these into sets.
class TargetClusters {
 public:
  static constexpr std::uint32_t fan = 32;  ///< targets of a cluster, clusters of a set: a warp asks for all
  /// Targets of a rank.
  struct Range {
    std::uint32_t begin, count;
    friend bool operator==(const Range&, const Range&) = default;
  };
  /// ranks: by slot.
  explicit TargetClusters(std::vector<Range> ranks);

  const std::vector<Range>& ranks() const { return ranks_; }
  const TargetRange* clusters() const { return arrays_.at<TargetRange>(clusters_); }  ///< of targets
  const TargetRange* sets() const { return arrays_.at<TargetRange>(sets_); }          ///< of clusters
  /// The first cluster of each slot, and the end.
  const std::uint32_t* first_cluster() const { return arrays_.at<std::uint32_t>(first_cluster_); }
  std::size_t cluster_count() const { return cluster_count_; }
  std::size_t set_count() const { return set_count_; }

 private:
  std::vector<Range> ranks_;
  JointUpload arrays_;
  std::size_t clusters_, sets_, first_cluster_;  ///< in these
  std::size_t cluster_count_, set_count_;
};

/// The targets of the ranks in reach, in device memory: what ReceiverSearch is on the host.
class LetTargets {
 public:
  /// targets (device): of all. clusters: must outlive this. reference: of all frames. Cost: O(targets).
  LetTargets(DeviceArray<LeafTargets> targets, const TargetClusters& clusters, const WalkUnits& units,
             const Vec3d& reference);

  struct View {
    const LeafTargets* targets;
    const SourceFrame* frames;  ///< by target; nodes and particles in them do not matter
    const TargetRange *clusters, *sets;
    const std::uint32_t* first_cluster;  ///< of each slot, and the end
    const Wanted *of_target, *of_cluster, *of_set;
    std::uint32_t set_count;
    std::int32_t slots;
  };
  View view() const {
    return {targets_.data(),
            frames_.data(),
            clusters_.clusters(),
            clusters_.sets(),
            clusters_.first_cluster(),
            of_target_.data(),
            of_cluster_.data(),
            of_set_.data(),
            static_cast<std::uint32_t>(clusters_.set_count()),
            static_cast<std::int32_t>(clusters_.ranks().size())};
  }

 private:
  const TargetClusters& clusters_;
  DeviceArray<LeafTargets> targets_;
  DeviceArray<SourceFrame> frames_;
  DeviceArray<Wanted> of_target_, of_cluster_, of_set_;
};

/// Who may open what of the own trees. Device memory.
struct LetReceivers {
  OwnCells cells;
  LetTargets::View to;
  const SourceFrame* frames;  ///< of the own leaves in all images; nodes and particles in them do not matter
  double unit_length;
  Images images;
  // By how much more is selected than walks open now: as grove::DriftRoom.
  float room_of_cells = 0;
  const float* drift = nullptr;  ///< [own leaves] walk units; null: 0

  GROVE_HOST_DEVICE float drift_of(std::int32_t leaf) const { return drift ? drift[leaf] : 0; }
};

/// A tree that another rank may open.
struct SelectedTree {
  std::int32_t leaf;              ///< among those of this rank
  std::int32_t slot;              ///< of the receiver
  std::int32_t nodes, particles;  ///< selected
};

/// A tree of this rank and a rank that may open it.
struct LetPair {
  static constexpr std::uint64_t most_receivers = std::uint64_t{1} << 31;  ///< of all pairs
  std::int32_t leaf, slot;
  std::uint32_t begin, end;  ///< its leaves that may, in the list of all pairs
  std::uint64_t node;        ///< first one of the tree among those of all pairs' trees
};

/// For each slot a bit per own cell.
struct OpenedCells {
  std::size_t words = 0;  ///< of a slot
  std::vector<std::uint32_t> bits;

  bool has(std::int32_t slot, std::int32_t cell) const {
    const auto c = static_cast<std::size_t>(cell);
    return !bits.empty() && (bits[static_cast<std::size_t>(slot) * words + c / 32] >> (c % 32) & 1) != 0;
  }
};

/// How much a search for pairs finds.
struct LetNumbers {
  std::uint64_t nodes = 0;  ///< of the trees of all pairs, each counted up to a multiple of 32
  std::uint64_t receivers = 0;
  std::uint32_t pairs = 0;

  GROVE_HOST_DEVICE bool has_room_for(const LetNumbers& found) const {
    return found.nodes <= nodes && found.pairs <= pairs && found.receivers <= receivers;
  }
  /// The next search finds as much, or so; the more there is, the less that varies.
  LetNumbers more() const {
    return {(nodes + nodes / 4 + 4096) / 32 * 32, receivers + receivers / 4 + 4096, pairs + pairs / 4 + 16};
  }
  /// Far more than that.
  bool is_wasted_on(const LetNumbers& found) const {
    constexpr int far = 4;
    const LetNumbers enough = found.more();
    return nodes > far * enough.nodes || receivers > far * enough.receivers || pairs > far * enough.pairs;
  }
};

class LetPairs;

/// By node of the trees of all pairs. Device memory.
struct LetMarks {
  std::uint32_t *selected, *opened;  ///< a bit per node
  std::int32_t* number;              ///< working memory for trees that no block holds
};

/// Selects, for every rank in reach, the parts of this rank's trees, and of the cells above them, that its
/// walks may open: the locally essential trees.
///
/// A node is selected if its parent may be opened by a leaf of the receiver; a bucket's particles, if the
/// bucket may be. The test is the walk's own with a margin, on the leaves' published bounds: a walk there,
/// which tests smaller bounds, opens no more. Nodes keep their order.
///
/// How much it finds nobody knows before: there is room for so much, and where that is too little it begins
/// anew with more. So the host waits once as a rule.
///
/// Cost: for each own cell a search of the targets (let_pairs.cuh); for each node of a tree that is not sent
/// as a root alone a test per cluster of 32 leaves of the receiver among those that may open the root, and
/// tests of the leaves in clusters that may open it, until one does.
class LetSelection {
 public:
  /// trees: of this rank, up to date. largest_tree: nodes of the largest one. room (in/out): becomes more
  /// than is needed, if it was too little.
  LetSelection(const LeafTrees& trees, std::int32_t largest_tree, const LetReceivers& receivers,
               LetNumbers& room);

  /// The selected trees, in order of slot and leaf.
  std::span<const SelectedTree> trees() const { return selected_; }
  /// True if walks of the rank in this slot may open a cell, by its number, or one below it.
  bool opens(std::int32_t slot, std::int32_t cell) const { return opened_.has(slot, cell); }

  /// The selected parts, in that order: links count from the first node and particle of each tree. trees:
  /// the same, as they are now. gravity: what they were made with.
  LetArrays pack(const LeafTrees& trees, const GravityParameters& gravity) const;

 private:
  void mark_all(const LeafTrees& trees, const LetPairs& found, const LetReceivers& receivers,
                const LetNumbers& room);
  LetMarks marks() const;

  std::int32_t largest_tree_;
  std::vector<SelectedTree> selected_;
  std::vector<std::uint32_t> pair_of_;  ///< number of each selected tree's pair
  std::vector<LetPair> pairs_;
  OpenedCells opened_;
  DeviceArray<std::uint32_t> selected_bits_, opened_bits_;
  DeviceArray<std::int32_t> number_;
};

}  // namespace grove::cuda
