#include "let/let_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "let/let_fields.hpp"

namespace grove {
namespace {

using let_fields::LastingOfParticles;
using let_fields::OfNodes;
using let_fields::OfParticles;

/// A message begins so. The arrays that travel: bit i for the i-th of OfNodes.
struct Head {
  LetCounts counts;
  Count covers, cells;
  Count expanded;  ///< cells whose moments for expansions come, too: all, or none
  std::uint64_t of_nodes;
};

/// How a cell hangs together with others; child and tree: as in Selection::Cell.
struct SentCell {
  std::int32_t child, tree;
};

static_assert(std::is_trivially_copyable_v<NodeLinks> && std::is_trivially_copyable_v<SentCell> &&
              std::is_trivially_copyable_v<TopCell> && std::is_trivially_copyable_v<Selection::Tree> &&
              std::is_trivially_copyable_v<Head>);

/// Places of the arrays of a message, in blocks; `blocks` is the length of all.
struct Layout {
  std::size_t covers, cells, table, links;
  std::array<std::size_t, LastingOfParticles::size> lasting{};
  std::size_t values;  ///< from here on all changes when particles move
  std::size_t top_cells, far_moments;
  std::array<std::size_t, OfNodes::size> of_nodes{};
  std::array<std::size_t, OfParticles::size> of_particles{};
  std::size_t blocks;

  explicit Layout(const Head& head) {
    std::size_t end = 0;
    const auto place = [&end](std::size_t size, Count count) {
      const std::size_t begin = end;
      end += (size * static_cast<std::size_t>(count) + sizeof(MessageBlock) - 1) / sizeof(MessageBlock);
      return begin;
    };
    const LetCounts& counts = head.counts;
    const auto place_all = [&](auto list, auto& places, Count count) {
      list.for_each([&](auto field, std::size_t i) {
        places[i] = place(sizeof(typename decltype(field)::Value), count);
      });
    };
    place(sizeof(Head), 1);
    covers = place(sizeof(std::int32_t), head.covers);
    cells = place(sizeof(SentCell), head.cells);
    table = place(sizeof(Selection::Tree), counts.trees);
    links = place(sizeof(NodeLinks), counts.nodes);
    place_all(LastingOfParticles{}, lasting, counts.particles);
    values = end;
    top_cells = place(sizeof(TopCell), head.cells);
    far_moments = place(sizeof(FarMoments), head.expanded);
    OfNodes::for_each([&](auto field, std::size_t i) {
      if (head.of_nodes >> i & 1) of_nodes[i] = place(sizeof(typename decltype(field)::Value), counts.nodes);
    });
    place_all(OfParticles{}, of_particles, counts.particles);
    blocks = end;
  }
};

template <class T, class Blocks>
auto* at(Blocks& blocks, std::size_t block) {
  using Pointer = std::conditional_t<std::is_const_v<Blocks>, const T*, T*>;
  return reinterpret_cast<Pointer>(blocks.data() + block);
}

Head head_of(const Selection& selection, const std::function<SourceTree(std::int32_t leaf)>& tree,
             bool expands_far) {
  Head head{{.trees = static_cast<Count>(selection.trees.size()),
             .nodes = static_cast<Count>(selection.source.size())},
            static_cast<Count>(selection.covers.size()),
            static_cast<Count>(selection.cells.size()),
            expands_far ? static_cast<Count>(selection.cells.size()) : 0,
            0};
  for (const Selection::Tree& entry : selection.trees) head.counts.particles += entry.particles;
  if (selection.trees.empty()) return head;
  const SourceTree any = tree(selection.trees.front().leaf);
  OfNodes::for_each([&](auto field, std::size_t i) {
    if (any.*field.member) head.of_nodes |= std::uint64_t{1} << i;
  });
  return head;
}

}  // namespace

Array<MessageBlock> pack_targets(std::span<const LeafTargets> targets) {
  const auto number = static_cast<Count>(targets.size());
  const std::size_t head = sizeof(number), bytes = head + targets.size_bytes();
  Array<MessageBlock> blocks((bytes + sizeof(MessageBlock) - 1) / sizeof(MessageBlock));
  std::memcpy(blocks.data(), &number, head);
  if (number > 0) std::memcpy(blocks.data()->bytes + head, targets.data(), targets.size_bytes());
  return blocks;
}

std::vector<LeafTargets> unpack_targets(const Message& message) {
  Count number = 0;
  std::memcpy(&number, message.blocks.data(), sizeof(number));
  std::vector<LeafTargets> targets(static_cast<std::size_t>(number));
  if (number > 0)
    std::memcpy(targets.data(), message.blocks.data()->bytes + sizeof(number),
                sizeof(LeafTargets) * targets.size());
  return targets;
}

namespace {

using CellOf = std::function<TopCell(std::int32_t node)>;
using TreeOf = std::function<SourceTree(std::int32_t leaf)>;

/// Calls take(entry, tree, node, particle) for each tree of a selection; the last two count all those before.
template <class Take>
void for_trees(const Selection& selection, const TreeOf& tree, const Take& take) {
  std::size_t node = 0, particle = 0;
  for (const Selection::Tree& entry : selection.trees) {
    take(entry, tree(entry.leaf), node, particle);
    node += static_cast<std::size_t>(entry.nodes);
    particle += static_cast<std::size_t>(entry.particles);
  }
}

/// Copies an array of the particles in the buckets of a tree that are selected. links: of its nodes.
template <class Field, class T>
void copy_particles(Field field, const SourceTree& from, const Selection::Tree& entry,
                    const std::int32_t* source, const NodeLinks* links, T* to) {
  for (std::int32_t n = 0; n < entry.nodes; ++n)
    if (links[n].is_bucket())
      std::copy_n(from.*field.member + from.links[source[n]].first, links[n].count, to + links[n].first);
}

/// blocks (out): of a whole message.
void put_shape(const Selection& selection, const TreeOf& tree, const Head& head, const Layout& layout,
               Array<MessageBlock>& blocks) {
  *at<Head>(blocks, 0) = head;
  std::copy(selection.covers.begin(), selection.covers.end(), at<std::int32_t>(blocks, layout.covers));
  std::transform(selection.cells.begin(), selection.cells.end(), at<SentCell>(blocks, layout.cells),
                 [](const Selection::Cell& own) {
                   return SentCell{own.child, own.tree};
                 });
  std::copy(selection.trees.begin(), selection.trees.end(), at<Selection::Tree>(blocks, layout.table));
  std::copy(selection.links.begin(), selection.links.end(), at<NodeLinks>(blocks, layout.links));
  for_trees(
      selection, tree,
      [&](const Selection::Tree& entry, const SourceTree& from, std::size_t node, std::size_t particle) {
        LastingOfParticles::for_each([&](auto field, std::size_t i) {
          copy_particles(field, from, entry, selection.source.data() + node, selection.links.data() + node,
                         at<typename decltype(field)::Value>(blocks, layout.lasting[i]) + particle);
        });
      });
}

/// blocks (out): of a message of which so many are left out at its beginning.
void put_values(const Selection& selection, const CellOf& cell, const TreeOf& tree,
                std::span<const FarMoments> far, const Head& head, const Layout& layout, std::size_t left_out,
                Array<MessageBlock>& blocks) {
  std::transform(selection.cells.begin(), selection.cells.end(),
                 at<TopCell>(blocks, layout.top_cells - left_out),
                 [&](const Selection::Cell& own) { return cell(own.node); });
  if (!far.empty())
    std::transform(selection.cells.begin(), selection.cells.end(),
                   at<FarMoments>(blocks, layout.far_moments - left_out),
                   [&](const Selection::Cell& own) { return far[static_cast<std::size_t>(own.node)]; });
  for_trees(
      selection, tree,
      [&](const Selection::Tree& entry, const SourceTree& from, std::size_t node, std::size_t particle) {
        const std::int32_t* const source = selection.source.data() + node;
        OfNodes::for_each([&](auto field, std::size_t i) {
          if (!(head.of_nodes >> i & 1)) return;
          auto* const to = at<typename decltype(field)::Value>(blocks, layout.of_nodes[i] - left_out) + node;
          for (std::int32_t n = 0; n < entry.nodes; ++n) to[n] = (from.*field.member)[source[n]];
        });
        OfParticles::for_each([&](auto field, std::size_t i) {
          copy_particles(
              field, from, entry, source, selection.links.data() + node,
              at<typename decltype(field)::Value>(blocks, layout.of_particles[i] - left_out) + particle);
        });
      });
}

}  // namespace

Array<MessageBlock> pack_let(const Selection& selection, const CellOf& cell, const TreeOf& tree,
                             std::span<const FarMoments> far) {
  const Head head = head_of(selection, tree, !far.empty());
  const Layout layout(head);
  Array<MessageBlock> blocks(layout.blocks);
  put_shape(selection, tree, head, layout, blocks);
  put_values(selection, cell, tree, far, head, layout, 0, blocks);
  return blocks;
}

Array<MessageBlock> pack_let_values(const Selection& selection, const CellOf& cell, const TreeOf& tree,
                                    std::span<const FarMoments> far) {
  const Head head = head_of(selection, tree, !far.empty());
  const Layout layout(head);
  Array<MessageBlock> blocks(layout.blocks - layout.values);
  put_values(selection, cell, tree, far, head, layout, layout.values, blocks);
  return blocks;
}

std::size_t values_begin(const Message& message) { return Layout(*at<Head>(message.blocks, 0)).values; }

namespace {

/// Hangs the cells of a message below their covers. Returns the number of the leaf of each tree.
std::vector<std::int32_t> take_cells(const Message& message, const Head& head, const Layout& layout,
                                     std::span<const std::int32_t> covers, TopMoments& top) {
  const Array<MessageBlock>& blocks = message.blocks;
  const std::span cells(at<SentCell>(blocks, layout.cells), static_cast<std::size_t>(head.cells));
  const auto* const top_cells = at<TopCell>(blocks, layout.top_cells);
  const auto* const far = head.expanded > 0 ? at<FarMoments>(blocks, layout.far_moments) : nullptr;
  const std::span own_covers(at<std::int32_t>(blocks, layout.covers), static_cast<std::size_t>(head.covers));
  std::vector<std::int32_t> node(cells.size()), leaf(static_cast<std::size_t>(head.counts.trees));
  for (std::size_t i = 0; i < own_covers.size(); ++i)
    node[i] = covers[static_cast<std::size_t>(own_covers[i])];
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].tree >= 0) leaf[static_cast<std::size_t>(cells[i].tree)] = top.leaf(node[i]);
    if (cells[i].child < 0) continue;
    const auto child = static_cast<std::size_t>(cells[i].child);
    for (const std::size_t c : {child, child + 1})
      node[c] = top.append(top_cells[c], far == nullptr ? nullptr : far + c);
    top.hang(node[child], node[i]);
  }
  return leaf;
}

}  // namespace

LetCounts unpack_let(const Message& message, std::span<const std::int32_t> covers, TopMoments& top,
                     std::vector<SourceTree>& trees) {
  const Array<MessageBlock>& blocks = message.blocks;
  const Head head = *at<Head>(blocks, 0);
  const Layout layout(head);
  if (layout.blocks != blocks.size())
    throw std::runtime_error(fmt::format("rank {} sent {} bytes of trees instead of {}", message.rank,
                                         blocks.size() * sizeof(MessageBlock),
                                         layout.blocks * sizeof(MessageBlock)));
  const std::vector<std::int32_t> leaves = take_cells(message, head, layout, covers, top);
  trees.resize(top.roots().size());
  const auto* table = at<Selection::Tree>(blocks, layout.table);
  std::size_t node = 0, particle = 0;
  for (std::size_t t = 0; t < leaves.size(); ++t) {
    const Selection::Tree& entry = table[t];
    const auto leaf = static_cast<std::size_t>(leaves[t]);
    SourceTree& to = trees[leaf];
    to = {};
    to.origin = top.roots()[leaf].origin;
    to.links = at<NodeLinks>(blocks, layout.links) + node;
    to.nodes = entry.nodes;
    OfNodes::for_each([&](auto field, std::size_t i) {
      if (head.of_nodes >> i & 1)
        to.*field.member = at<typename decltype(field)::Value>(blocks, layout.of_nodes[i]) + node;
    });
    LastingOfParticles::for_each([&](auto field, std::size_t i) {
      to.*field.member = at<typename decltype(field)::Value>(blocks, layout.lasting[i]) + particle;
    });
    OfParticles::for_each([&](auto field, std::size_t i) {
      to.*field.member = at<typename decltype(field)::Value>(blocks, layout.of_particles[i]) + particle;
    });
    node += static_cast<std::size_t>(entry.nodes);
    particle += static_cast<std::size_t>(entry.particles);
  }
  return head.counts;
}

}  // namespace grove
