#pragma once

#include <cstdint>

#include "kernels/cuda/particles/in_parts.hpp"
#include "kernels/cuda/trees/leaf_records.cuh"
#include "kernels/math/kd_cut.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"

/// How the kernels of KdTreeBuilder see its memory. All pointers are to device memory.
namespace grove::cuda {

/// The cut of a node, known by its place: the first particle on its right.
struct KdCut {
  std::uint32_t first, end;  ///< the node's particles; end 0: no cut is here
  std::uint32_t leaf;
  std::uint32_t before;  ///< larger nodes that begin where this one does
};

/// A node that has yet to be cut, with all below it.
struct KdNode {
  std::uint32_t first, count, leaf, before;
  std::uint32_t columns;                  ///< the set that its records are in, in any order
  IntegerPosition tight_low, tight_high;  ///< of large ones; of small ones it is found when they are cut
  IntegerPosition cut_low, cut_high;

  GROVE_HOST_DEVICE std::uint32_t end() const { return first + count; }
};

/// The partition of a large node, while its pieces are at work.
struct KdPartition {
  std::uint32_t taken[2];           ///< particles that have gone left and right
  IntegerPosition low[2], high[2];  ///< tight boxes of both
};

/// Consecutive particles of a large node that a block parts.
struct KdPiece {
  std::uint32_t node, first;
};
inline constexpr std::uint32_t kd_piece = 1024;

/// Cuts halve the 32 bits of three axes, which leaves particles at one place.
inline constexpr int kd_levels = 3 * 32;

/// The lengths of the lists.
struct KdSizes {
  std::uint32_t nodes[kd_levels + 1], pieces[kd_levels + 1];  ///< by level
  std::uint32_t small;
  std::uint32_t coincident;
};

struct KdView {
  LeafRecords from;
  InParts<double> mass;  ///< by Record::index
  KdSplit split;
  std::uint32_t bucket;
  Columns columns[3];  ///< the records as they came, and two sets that levels go to in turn
  // Large nodes of a level and of the next, in turn; partition[i] is that of node[i].
  KdNode* node[2];
  KdPartition* partition[2];
  KdPiece* piece[2];
  KdNode* small;
  std::uint32_t most_small;
  KdNode* coincident;  ///< large nodes all of whose particles are at one place
  KdSizes* sizes;
  KdCut* cut;              ///< [particles]
  std::uint32_t* divided;  ///< [particles + 1] nodes that begin here and are divided; then sums before
  std::uint32_t* order;

  /// The set of columns that a level's nodes are in.
  GROVE_HOST_DEVICE static std::uint32_t columns_of_level(int level) {
    return level == 0 ? 0U : 1U + static_cast<std::uint32_t>(level - 1) % 2;
  }
};

}  // namespace grove::cuda
