#include "neighbours/gpu/node_layout.hpp"

#include <cstddef>

namespace grove {
namespace {

class LayoutMaker {
 public:
  LayoutMaker(std::span<const NeighbourPiece> before, std::span<const std::uint32_t> own_nodes,
              std::span<const NeighbourPiece> behind)
      : before_(before), own_nodes_(own_nodes), behind_(behind) {
    const std::size_t pieces = before.size() + own_nodes.size() + behind.size();
    if (pieces > 0)
      halve(
          0, pieces,
          [](std::size_t, std::size_t) {
            return Range{0, 0};
          },
          [this](std::size_t i) { append_piece(i); });
  }
  NodeLayout take() { return std::move(layout_); }

 private:
  struct Range {
    std::uint32_t first, count;
  };

  /// Appends halves of halves of things: above(begin, end): the particles of a node above them; thing(i)
  /// appends what stands for thing i.
  template <class Above, class Thing>
  void halve(std::size_t begin, std::size_t end, const Above& above, const Thing& thing) {
    if (end - begin == 1) return thing(begin);
    const std::size_t middle = begin + (end - begin) / 2, node = layout_.others.size();
    append(above(begin, end));
    halve(begin, middle, above, thing);
    halve(middle, end, above, thing);
    layout_.others[node].next = layout_.size;
  }

  void append(const Range& particles) {
    const std::uint32_t number = layout_.size++;
    layout_.others.push_back({number, number + 1, particles.first, particles.count});
  }

  void append_piece(std::size_t i) {
    if (i < before_.size()) return append_buckets(before_[i]);
    i -= before_.size();
    if (i >= own_nodes_.size()) return append_buckets(behind_[i - own_nodes_.size()]);
    layout_.leaf_begin.push_back(layout_.size);
    layout_.size += own_nodes_[i];
  }

  void append_buckets(const NeighbourPiece& piece) {
    std::vector<std::uint32_t> begin{piece.first};
    for (const std::int32_t count : piece.buckets)
      begin.push_back(begin.back() + static_cast<std::uint32_t>(count));
    const auto particles = [&](std::size_t i, std::size_t end) {
      return Range{begin[i], begin[end] - begin[i]};
    };
    halve(0, piece.buckets.size(), particles, [&](std::size_t i) { append(particles(i, i + 1)); });
  }

  std::span<const NeighbourPiece> before_;
  std::span<const std::uint32_t> own_nodes_;
  std::span<const NeighbourPiece> behind_;
  NodeLayout layout_;
};

}  // namespace

NodeLayout lay_out(std::span<const NeighbourPiece> before, std::span<const std::uint32_t> own_nodes,
                   std::span<const NeighbourPiece> behind) {
  return LayoutMaker(before, own_nodes, behind).take();
}

}  // namespace grove
