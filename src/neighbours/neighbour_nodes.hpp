#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "kernels/math/neighbour_box.hpp"
#include "kernels/math/neighbour_tree.hpp"
#include "kernels/math/node.hpp"

namespace grove {

/// The particles of a leaf that are here, as what a tree over several leaves is made of: an own leaf with the
/// nodes of its local tree, or buckets that were imported.
struct NeighbourPiece {
  std::uint32_t first = 0;                  ///< number of its first particle
  std::span<const NodeLinks> links{};       ///< of an own leaf; empty: imported
  std::span<const std::int32_t> buckets{};  ///< particles of each bucket that was imported
};

/// The nodes of a piece, from its root on.
struct PieceNodes {
  std::uint32_t begin, end;
};

/// Nodes as a search for imports sees them; host memory.
struct NeighbourNodesView {
  std::span<const NeighbourNode> nodes;
  std::span<const PieceNodes> pieces;
};

/// The tree over some leaves, in their order: halves of halves of them, and below that their own nodes.
class NeighbourNodes {
 public:
  /// Cost: O(nodes).
  explicit NeighbourNodes(std::span<const NeighbourPiece> pieces);

  /// Finds boxes and largest radii. position, reach (in): of all particles; with_reach: nodes get the largest
  /// H times `room`, else 0. Cost: one pass, in parallel.
  void fit(const Vec3d* position, const double* reach, bool with_reach, double room);

  std::span<const NeighbourNode> nodes() const { return nodes_; }
  NeighbourNodesView view() const { return {nodes_, pieces_}; }
  std::size_t pieces() const { return pieces_.size(); }
  /// The nodes of a piece, from its root on.
  std::uint32_t begin(std::size_t piece) const { return pieces_[piece].begin; }
  std::uint32_t end(std::size_t piece) const { return pieces_[piece].end; }

 private:
  std::uint32_t append(std::uint32_t first, std::uint32_t count);
  void append_halves(std::span<const NeighbourPiece> pieces);
  void append_piece(const NeighbourPiece& piece);
  void append_tree(const NeighbourPiece& piece);
  void append_buckets(std::uint32_t first, std::span<const std::int32_t> buckets);

  std::vector<NeighbourNode> nodes_;
  std::vector<PieceNodes> pieces_;    ///< of each piece
  std::vector<std::uint32_t> above_;  ///< nodes above the pieces
};

/// The box and the largest H of a node as bounds again, which hold them.
inline NeighbourBounds bounds_of(const NeighbourNode& node) {
  if (node.half.x < 0) return {};
  return {node.centre - node.half, node.centre + node.half, node.reach};
}

/// A tree over boxes: node n with a count has box number `first`. boxes (in): those that are nothing are
/// never in reach.
std::vector<NeighbourNode> nodes_over(std::span<const NeighbourTarget> boxes);

}  // namespace grove
