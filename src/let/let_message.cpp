#include "let/let_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <type_traits>

namespace grove {
namespace {

static_assert(std::is_trivially_copyable_v<NodeCore> && std::is_trivially_copyable_v<NodeMoments> &&
              std::is_trivially_copyable_v<NodeLinks> && std::is_trivially_copyable_v<SourceParticle> &&
              std::is_trivially_copyable_v<Selection::Tree> && std::is_trivially_copyable_v<LetCounts>);

/// Places of the arrays of a message, in blocks; `blocks` is the length of all.
struct Layout {
  std::size_t table, core, moments, links, particles, types, blocks;

  explicit Layout(const LetCounts& counts) {
    std::size_t end = 0;
    const auto place = [&end](std::size_t size, Count count) {
      const std::size_t begin = end;
      end += (size * static_cast<std::size_t>(count) + sizeof(MessageBlock) - 1) / sizeof(MessageBlock);
      return begin;
    };
    place(sizeof(LetCounts), 1);
    table = place(sizeof(Selection::Tree), counts.trees);
    core = place(sizeof(NodeCore), counts.nodes);
    moments = place(sizeof(NodeMoments), counts.nodes);
    links = place(sizeof(NodeLinks), counts.nodes);
    particles = place(sizeof(SourceParticle), counts.particles);
    types = place(1, counts.particles);
    blocks = end;
  }
};

template <class T, class Blocks>
auto* at(Blocks& blocks, std::size_t block) {
  using Pointer = std::conditional_t<std::is_const_v<Blocks>, const T*, T*>;
  return reinterpret_cast<Pointer>(blocks.data() + block);
}

}  // namespace

Array<MessageBlock> pack_let(const Selection& selection,
                             const std::function<SourceTree(std::int32_t leaf)>& tree) {
  LetCounts counts{.trees = static_cast<Count>(selection.trees.size()),
                   .nodes = static_cast<Count>(selection.source.size())};
  for (const Selection::Tree& entry : selection.trees) counts.particles += entry.particles;
  const Layout layout(counts);
  Array<MessageBlock> blocks(layout.blocks);
  *at<LetCounts>(blocks, 0) = counts;
  std::copy(selection.trees.begin(), selection.trees.end(), at<Selection::Tree>(blocks, layout.table));
  std::copy(selection.links.begin(), selection.links.end(), at<NodeLinks>(blocks, layout.links));

  auto* core = at<NodeCore>(blocks, layout.core);
  auto* moments = at<NodeMoments>(blocks, layout.moments);
  auto* particles = at<SourceParticle>(blocks, layout.particles);
  auto* types = at<std::uint8_t>(blocks, layout.types);
  std::size_t next = 0;
  for (const Selection::Tree& entry : selection.trees) {
    const SourceTree from = tree(entry.leaf);
    for (const std::size_t end = next + static_cast<std::size_t>(entry.nodes); next < end; ++next) {
      const std::int32_t node = selection.source[next];
      *core++ = from.core[node];
      *moments++ = from.moments[node];
      const NodeLinks &to = selection.links[next], &bucket = from.links[node];
      if (!to.is_bucket()) continue;
      std::copy_n(from.particles + bucket.first, bucket.count, particles + to.first);
      std::copy_n(from.types + bucket.first, bucket.count, types + to.first);
    }
    particles += entry.particles;
    types += entry.particles;
  }
  return blocks;
}

LetCounts unpack_let(const Message& message, std::span<const Vec3d> origins, std::span<SourceTree> trees) {
  const Array<MessageBlock>& blocks = message.blocks;
  const LetCounts counts = *at<LetCounts>(blocks, 0);
  const Layout layout(counts);
  if (layout.blocks != blocks.size())
    throw std::runtime_error(fmt::format("rank {} sent {} bytes of trees instead of {}", message.rank,
                                         blocks.size() * sizeof(MessageBlock),
                                         layout.blocks * sizeof(MessageBlock)));
  const auto* table = at<Selection::Tree>(blocks, layout.table);
  std::size_t node = 0, particle = 0;
  for (const Selection::Tree& entry : std::span(table, static_cast<std::size_t>(counts.trees))) {
    trees[static_cast<std::size_t>(entry.leaf)] = {
        .origin = origins[static_cast<std::size_t>(entry.leaf)],
        .core = at<NodeCore>(blocks, layout.core) + node,
        .moments = at<NodeMoments>(blocks, layout.moments) + node,
        .links = at<NodeLinks>(blocks, layout.links) + node,
        .particles = at<SourceParticle>(blocks, layout.particles) + particle,
        .types = at<std::uint8_t>(blocks, layout.types) + particle,
        .nodes = entry.nodes};
    node += static_cast<std::size_t>(entry.nodes);
    particle += static_cast<std::size_t>(entry.particles);
  }
  return counts;
}

}  // namespace grove
