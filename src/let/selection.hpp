#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/math/walk_views.hpp"
#include "let/drift_room.hpp"
#include "let/receivers.hpp"

namespace grove {

/// The parts of the own part of the ORB and of the trees in its leaves that the walks of one other rank may
/// open: the locally essential trees for it.
struct Selection {
  /// A cell whose parent may be opened, or a cover. Children lie behind their parents, siblings together.
  struct Cell {
    std::int32_t node;        ///< in the own top tree
    std::int32_t child = -1;  ///< the left one, if it may be opened: counted from the first cell
    std::int32_t tree = -1;   ///< of a leaf that may be opened: number in `trees`
  };
  std::vector<std::int32_t> covers;  ///< their numbers; the first cells are these
  std::vector<Cell> cells;
  struct Tree {
    std::int32_t leaf;       ///< number of the own leaf
    std::int32_t nodes;      ///< nodes selected
    std::int32_t particles;  ///< particles selected
  };
  std::vector<Tree> trees;           ///< in order of the leaf
  std::vector<std::int32_t> source;  ///< [all nodes] index of the node in its tree
  std::vector<NodeLinks> links;      ///< [all nodes] as the receiver will see them, counted per tree
};

/// Selects what the given receivers, all of one rank, may open of a tree whose root they may open, and
/// appends it.
///
/// A node is sent if its parent may be opened by a receiver; a bucket's particles, if the bucket may be. The
/// test is the walk's own with a margin, on the receivers' published bounds: a walk of theirs, which tests
/// smaller bounds, opens no more. Nodes keep their order. A receiver that accepts a node is not asked again
/// below it. Cost: one test per node sent and receiver that opens its parent.
///
/// leaf: its number. drift: room for that of its particles (DriftRoom::of_leaf()).
void select_nodes(const SourceTree& tree, std::int32_t leaf, std::span<const Receiver> receivers, float drift,
                  Selection& selection);

/// Selects what the walks of a rank may open below some own covers, for an empty selection. top: with own
/// leaves first. covers: their numbers, nodes: in the top tree. tree: of an own leaf. Cost: a descent of the
/// receivers for each cell whose parent is opened.
void select_cells(const TopTree& top, std::span<const std::int32_t> covers,
                  std::span<const std::int32_t> nodes, const ReceiverSearch& receivers,
                  const std::function<SourceTree(std::int32_t leaf)>& tree, const DriftRoom& room,
                  Selection& selection);

}  // namespace grove
