#pragma once

#include <cstdint>

#include "kernels/cuda/trees/node_code.hpp"
#include "kernels/math/frame.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/walk_views.hpp"

/// What walks and selections see of the cells of the ORB that a rank knows (DeviceTop).
namespace grove::cuda {

/// Nodes with their frames; device memory, walk units.
struct NodeArrays {
  const SourceFrame* frames = nullptr;
  const NodeCore* core = nullptr;  ///< [nodes], and the next likewise
  const NodeMoments* moments = nullptr;
  const NodeLinks* links = nullptr;
};

/// The cells of the ORB above its leaves as nodes like those of the leaves: each is the only node of a frame
/// whose origin is its centre of mass. `child` and `next` of their links are the codes of the children; below
/// a cell of which this rank knows nothing more, that of a leaf which nothing accepts and which is pruned.
/// In a periodic box they are there in other images, too, as far as walks of this rank may come to them
/// (ImageNumbers), with frames of their own and codes that lead to leaves of that image: so a walk that
/// begins with the roots of the images, too, goes through them as it goes through all else. Device memory.
struct TopSources {
  NodeArrays cells;

  /// Codes of what walks from an own leaf begin with: whatever holds the leaf would be opened, which leaves
  /// the sibling of each. Some 100 at most: cuts halve the 32 bits of an axis, or the particles at one place.
  const std::uint32_t* beginnings;
  const std::uint32_t* first_beginning;  ///< [own leaves + 1]
  NodeCodes codes;
  const NodeBox* boxes;  ///< [cells] where the criterion needs them, else null
  const Ball* balls;     ///< [cells] of a box whose cells have some, else null
};

/// The same cells, once. Device memory.
struct TopCells {
  const TopLinks* links;           ///< [count]; the root is the first
  const std::int32_t* parent;      ///< [count] of the root -1
  const std::uint32_t* leaf_cell;  ///< [leaves] the cell that is the leaf
  std::int32_t count;
};

}  // namespace grove::cuda
