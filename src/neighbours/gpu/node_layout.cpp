#include "neighbours/gpu/node_layout.hpp"

#include <cstddef>

namespace grove {
namespace {

class LayoutMaker {
 public:
  LayoutMaker(const ImportedPieces& imported, std::span<const std::uint32_t> own_nodes)
      : imported_(imported), own_nodes_(own_nodes) {
    const std::size_t pieces = imported.order().size();
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
    const ImportedPieces::Place& place = imported_.order()[i];
    if (!place.is_own) return append_buckets(imported_.piece(place.number));
    layout_.leaf_begin.push_back(layout_.size);
    layout_.size += own_nodes_[static_cast<std::size_t>(place.number)];
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

  const ImportedPieces& imported_;
  std::span<const std::uint32_t> own_nodes_;
  NodeLayout layout_;
};

}  // namespace

NodeLayout lay_out(const ImportedPieces& imported, std::span<const std::uint32_t> own_nodes) {
  return LayoutMaker(imported, own_nodes).take();
}

}  // namespace grove
