#include "neighbours/neighbour_nodes.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/kokkos/host_loop.hpp"

namespace grove {
namespace {

constexpr double infinite = NeighbourBounds::infinity;

void set_box(NeighbourNode& node, const NeighbourTarget& box) {
  node.centre = box.centre;
  node.half = box.half;
  node.reach = box.reach;
}

/// Unites the boxes of the nodes below.
void unite_children(std::vector<NeighbourNode>& nodes, std::uint32_t n) {
  NeighbourBounds bounds;
  for (std::uint32_t child = n + 1; child < nodes[n].next; child = nodes[child].next)
    bounds.add(bounds_of(nodes[child]));
  set_box(nodes[n], bounds.target());
}

/// Appends halves of halves: leaf(i) appends what stands for thing i, open() a node above.
template <class Open, class Leaf>
void append_halved(std::size_t begin, std::size_t end, std::vector<NeighbourNode>& nodes, const Open& open,
                   const Leaf& leaf) {
  if (end - begin == 1) return leaf(begin);
  const std::size_t middle = begin + (end - begin) / 2, node = nodes.size();
  open(begin, end);
  append_halved(begin, middle, nodes, open, leaf);
  append_halved(middle, end, nodes, open, leaf);
  nodes[node].next = static_cast<std::uint32_t>(nodes.size());
}

NeighbourNode empty_node(std::uint32_t number, std::uint32_t first, std::uint32_t count) {
  return {{0, 0, 0}, {-infinite, -infinite, -infinite}, 0, number + 1, first, count};
}

}  // namespace

NeighbourNodes::NeighbourNodes(std::span<const NeighbourPiece> pieces) {
  std::size_t nodes = 2 * pieces.size();
  for (const NeighbourPiece& piece : pieces) nodes += piece.links.size() + 2 * piece.buckets.size();
  nodes_.reserve(nodes);
  if (!pieces.empty()) append_halves(pieces);
}

std::uint32_t NeighbourNodes::append(std::uint32_t first, std::uint32_t count) {
  const auto number = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(empty_node(number, first, count));
  return number;
}

void NeighbourNodes::append_halves(std::span<const NeighbourPiece> pieces) {
  append_halved(
      0, pieces.size(), nodes_, [&](std::size_t, std::size_t) { above_.push_back(append(0, 0)); },
      [&](std::size_t i) { append_piece(pieces[i]); });
}

void NeighbourNodes::append_piece(const NeighbourPiece& piece) {
  const auto begin = static_cast<std::uint32_t>(nodes_.size());
  if (!piece.links.empty())
    append_tree(piece);
  else if (!piece.buckets.empty())
    append_buckets(piece.first, piece.buckets);
  pieces_.push_back({begin, static_cast<std::uint32_t>(nodes_.size())});
}

/// Nodes along the ropes of the local tree: each first child behind its parent.
void NeighbourNodes::append_tree(const NeighbourPiece& piece) {
  std::vector<std::uint32_t> number(piece.links.size());
  const auto begin = static_cast<std::uint32_t>(nodes_.size());
  for (std::int32_t n = 0; n >= 0;) {
    const NodeLinks& link = piece.links[static_cast<std::size_t>(n)];
    number[static_cast<std::size_t>(n)] =
        append(piece.first + static_cast<std::uint32_t>(link.first), static_cast<std::uint32_t>(link.count));
    nodes_.back().next = static_cast<std::uint32_t>(link.next);  // in the local tree, for now
    n = link.is_bucket() ? link.next : link.child;
  }
  const auto end = static_cast<std::uint32_t>(nodes_.size());
  for (std::uint32_t n = begin; n < end; ++n) {
    const auto next = static_cast<std::int32_t>(nodes_[n].next);
    nodes_[n].next = next < 0 ? end : number[static_cast<std::size_t>(next)];
  }
}

void NeighbourNodes::append_buckets(std::uint32_t first, std::span<const std::int32_t> buckets) {
  std::vector<std::uint32_t> begin(buckets.size() + 1, first);
  for (std::size_t i = 0; i < buckets.size(); ++i)
    begin[i + 1] = begin[i] + static_cast<std::uint32_t>(buckets[i]);
  append_halved(
      0, buckets.size(), nodes_,
      [&](std::size_t i, std::size_t end) { append(begin[i], begin[end] - begin[i]); },
      [&](std::size_t i) { append(begin[i], begin[i + 1] - begin[i]); });
}

void NeighbourNodes::fit(const Vec3d* position, const double* reach, bool with_reach, double room) {
  host_loop("Grove::neighbours::boxes", pieces_.size(), [&](std::size_t piece) {
    for (std::uint32_t n = pieces_[piece].end; n-- > pieces_[piece].begin;) {
      NeighbourNode& node = nodes_[n];
      if (!node.is_bucket(n)) {
        unite_children(nodes_, n);
        continue;
      }
      NeighbourBounds bounds;
      for (std::uint32_t i = node.first; i < node.first + node.count; ++i) bounds.add(position[i], reach[i]);
      bounds.reach = with_reach ? bounds.reach * room : 0;
      set_box(node, bounds.target());
    }
  });
  for (auto n = above_.rbegin(); n != above_.rend(); ++n) unite_children(nodes_, *n);
}

std::vector<NeighbourNode> nodes_over(std::span<const NeighbourTarget> boxes) {
  std::vector<NeighbourNode> nodes;
  if (boxes.empty()) return nodes;
  const auto append = [&](std::size_t first, std::uint32_t count) {
    nodes.push_back(
        empty_node(static_cast<std::uint32_t>(nodes.size()), static_cast<std::uint32_t>(first), count));
  };
  append_halved(
      0, boxes.size(), nodes, [&](std::size_t, std::size_t) { append(0, 0); },
      [&](std::size_t i) {
        append(i, 1);
        set_box(nodes.back(), boxes[i]);
      });
  for (auto n = static_cast<std::uint32_t>(nodes.size()); n-- > 0;)
    if (nodes[n].count == 0) unite_children(nodes, n);
  return nodes;
}

}  // namespace grove
