#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/message_exchange.hpp"
#include "forest/top_tree.hpp"
#include "kernels/math/walk_views.hpp"
#include "let/receivers.hpp"
#include "let/selection.hpp"

namespace grove {

/// Numbers of trees, nodes and particles in a message with locally essential trees.
struct LetCounts {
  Count trees = 0;
  Count nodes = 0;
  Count particles = 0;
};

/// The targets of leaves as a message, and back.
Array<MessageBlock> pack_targets(std::span<const LeafTargets> targets);
std::vector<LeafTargets> unpack_targets(const Message& message);

/// Packs a selection into a message: the counts, how cells and nodes hang together, the table of trees; and
/// then, from values_begin() on, what changes when particles move. Each array begins with a cache line. cell
/// (in): of a node of the own top tree. tree (in): of an own leaf. far (in): TopMoments::far_moments(). Cost:
/// one copy.
Array<MessageBlock> pack_let(const Selection& selection,
                             const std::function<TopCell(std::int32_t node)>& cell,
                             const std::function<SourceTree(std::int32_t leaf)>& tree,
                             std::span<const FarMoments> far = {});
/// The values alone: the end of the message that pack_let() makes.
Array<MessageBlock> pack_let_values(const Selection& selection,
                                    const std::function<TopCell(std::int32_t node)>& cell,
                                    const std::function<SourceTree(std::int32_t leaf)>& tree,
                                    std::span<const FarMoments> far = {});
/// The first block of the values of a message of pack_let().
std::size_t values_begin(const Message& message);

/// Enters the cells of a message into the top tree and its trees into `trees`, by number of the leaf, which
/// grows as leaves come to be known; nothing of trees is copied: the views point into the message. covers
/// (in): node of each in the top tree, by its number. Throws std::runtime_error if the message is not one of
/// pack_let().
LetCounts unpack_let(const Message& message, std::span<const std::int32_t> covers, TopMoments& top,
                     std::vector<SourceTree>& trees);

}  // namespace grove
