#pragma once

#include <functional>
#include <span>

#include "base/types.hpp"
#include "comm/message_exchange.hpp"
#include "decomposition/domain.hpp"
#include "kernels/math/walk_views.hpp"
#include "let/selection.hpp"

namespace grove {

/// Numbers of trees, nodes and particles in a message with locally essential trees.
struct LetCounts {
  Count trees = 0;
  Count nodes = 0;
  Count particles = 0;
};

/// Packs a selection into a message: the counts, the table of trees, then the arrays of all trees, each array
/// from the beginning of a cache line on. tree (in): the own tree of a leaf by its number in the ORB. Cost:
/// one copy.
Array<MessageBlock> pack_let(const Selection& selection,
                             const std::function<SourceTree(std::int32_t leaf)>& tree);

/// Enters the trees of a message into `trees`, by number of the leaf; nothing is copied: the views point into
/// the message. origins (in): of all leaves of the ORB, units of the run. Throws std::runtime_error if the
/// message is not one of pack_let().
LetCounts unpack_let(const Message& message, std::span<const Vec3d> origins, std::span<SourceTree> trees);

}  // namespace grove
