#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/let/let_fields.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

namespace grove::cuda {

/// All that is known of the leaves of other ranks. Device memory.
struct LetReceivers {
  TopCells top;                    ///< of the ORB
  const LeafNotice* notices;       ///< by leaf of the ORB, and the next likewise
  const SourceFrame* frames;       ///< of all images; nodes and particles in them do not matter
  const std::int32_t* first_leaf;  ///< of each rank, length ranks + 1
  std::int32_t own_rank;
  double unit_length;
  Images images{};
};

/// A tree that another rank may open.
struct SelectedTree {
  std::int32_t leaf;              ///< among those of this rank
  std::int32_t rank;              ///< the receiver
  std::int32_t nodes, particles;  ///< selected
};

/// A tree of this rank and a rank that may open it.
struct LetPair {
  std::int32_t leaf, rank;
  std::uint32_t begin, end;  ///< its leaves that may, in the list of all pairs
  std::uint64_t node;        ///< first one of the tree among those of all pairs' trees
};

/// By node of the trees of all pairs. Device memory.
struct LetMarks {
  std::uint32_t *selected, *opened;  ///< a bit per node
  std::int32_t* number;              ///< working memory for trees that no block holds
};

/// Selects, for every other rank, the parts of this rank's trees that its walks may open: the locally
/// essential trees.
///
/// A node is selected if its parent may be opened by a leaf of the receiver; a bucket's particles, if the
/// bucket may be. The test is the walk's own with a margin, on the leaves' published bounds: a walk there,
/// which tests smaller bounds, opens no more. Nodes keep their order.
///
/// Cost: for each own leaf descents of the top tree (let_pairs.cuh); for each node selected a test per leaf
/// of the receiver that may open the root, 128 at a time, until one opens. A tree of more than 2048 nodes is
/// one block's down to a level of 256 nodes, below each of which one of many warps goes on.
class LetSelection {
 public:
  /// trees: of this rank, up to date, the first one leaf receivers.first_leaf[own_rank] of the ORB;
  /// they must outlive this. largest_tree: nodes of the largest one.
  LetSelection(const LeafTrees& trees, std::int32_t largest_tree, const LetReceivers& receivers);

  /// The selected trees, in order of rank and leaf.
  std::span<const SelectedTree> trees() const { return selected_; }

  /// The selected parts, in that order: links count from the first node and particle of each tree. gravity:
  /// what the trees were made with.
  LetArrays pack(const GravityParameters& gravity) const;

 private:
  LetMarks marks() const;

  LeafTrees trees_;
  std::int32_t largest_tree_;
  std::vector<SelectedTree> selected_;
  std::vector<std::uint32_t> pair_of_;  ///< number of each selected tree's pair
  std::vector<LetPair> pairs_;
  DeviceArray<std::uint32_t> selected_bits_, opened_bits_;
  DeviceArray<std::int32_t> number_;
};

}  // namespace grove::cuda
