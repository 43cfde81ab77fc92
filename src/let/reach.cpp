#include "let/reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "let/drift_room.hpp"

namespace grove {
namespace {

/// The balls of some cells: a box of their middles, and the largest radius.
struct Balls {
  Vec3d from, to;
  double radius;
};

/// True if one of the covers below, or walks from one of them, may stand in such a pair: the test of two
/// covers for boxes of them, with twice its margins.
bool may_open_any(const Wanted& wanted, const Vec3d& low, const Vec3d& high, float reach2, float power,
                  const Balls& balls, double unit_length, const Images& images) {
  if (wanted.radius >= 0 && balls.radius >= 0)
    return wanted.may_be_near(balls.from, balls.to, balls.radius, images, 4);
  double distance2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    // The distance of two intervals is that of the middle of one from the other, widened by half of the one.
    const double half = (high[axis] - low[axis]) / 2;
    const double outside = images.outside(wanted.low[axis] - half, wanted.high[axis] + half, low[axis] + half,
                                          4 * place_margin) /
                           unit_length;
    distance2 += outside * outside;
  }
  return !accepts(reach2, power, static_cast<float>(distance2), wanted.inverse_tolerance,
                  4 * selection_margin);
}

/// The cells above covers, each with the unions of what a search asks of the covers below.
class CoverTree {
 public:
  struct Node {
    std::int32_t below[2];  ///< of its children: number among the nodes, or ~number of a cover
    Wanted wanted = Wanted::nothing();
    Vec3d low{0, 0, 0}, high{0, 0, 0};  ///< box of the centres of mass of covers
    float reach2 = 0, power = 0;        ///< the largest
    Balls balls{{0, 0, 0}, {0, 0, 0}, -1};
  };

  /// As Reach.
  CoverTree(const KnownCells& known, const TopTree& top, std::span<const Wanted> wanted, float room) {
    std::vector<std::int32_t> cover_of(known.cells.size(), -1);
    for (std::size_t i = 0; i < known.cover.size(); ++i)
      cover_of[static_cast<std::size_t>(known.cover[i])] = static_cast<std::int32_t>(i);
    std::vector<std::int32_t> cell_of;  // of each node
    const auto add = [&](std::int32_t cell) {
      if (const std::int32_t cover = cover_of[static_cast<std::size_t>(cell)]; cover >= 0) return ~cover;
      cell_of.push_back(cell);
      return static_cast<std::int32_t>(cell_of.size()) - 1;
    };
    add(0);
    for (std::size_t i = 0; i < cell_of.size(); ++i) {
      const std::int32_t child = known.cells[static_cast<std::size_t>(cell_of[i])].child;
      const std::int32_t left = add(child), right = add(child + 1);
      nodes_.push_back({{left, right}});
    }
    const auto at = [&](std::int32_t below) {
      if (below >= 0) return nodes_[static_cast<std::size_t>(below)];
      const auto cover = static_cast<std::size_t>(~below);
      return node_of(top, known.cover[cover], wanted[cover], room);
    };
    for (std::size_t i = nodes_.size(); i-- > 0;)
      unite(nodes_[i], at(nodes_[i].below[0]), at(nodes_[i].below[1]));
  }

  /// Goes down from the root through nodes that may_open_below(node) holds for, and calls take(number) for
  /// covers that may_open(number) holds for.
  template <class MayOpenBelow, class MayOpen, class Take>
  void search(const MayOpenBelow& may_open_below, const MayOpen& may_open, const Take& take) const {
    if (nodes_.empty()) return;  // all is one cover
    std::vector<std::int32_t> stack = {0};
    while (!stack.empty()) {
      const std::int32_t next = stack.back();
      stack.pop_back();
      if (next < 0) {
        if (may_open(~next)) take(~next);
        continue;
      }
      const Node& node = nodes_[static_cast<std::size_t>(next)];
      if (!may_open_below(node)) continue;
      stack.push_back(node.below[1]);
      stack.push_back(node.below[0]);
    }
  }

  std::uint64_t bytes() const { return bytes_of(nodes_); }

 private:
  /// The node that a cover alone would make.
  static Node node_of(const TopTree& top, std::int32_t cell, const Wanted& wanted, float room) {
    const NodeCore core = grown(top.core[cell], room);
    const Vec3d centre = top.centre[cell], middle = top.balls[cell].middle;
    const Balls balls{middle, middle, top.balls[cell].grown(room).radius};
    Node node{{}, wanted, centre, centre, core.reach2, core.power, balls};
    // Nodes with values that are no numbers are opened, so they lie everywhere.
    if (!std::isfinite(norm2(centre)) || std::isnan(core.reach2) || std::isnan(core.power)) {
      constexpr double inf = std::numeric_limits<double>::infinity();
      node.low = node.balls.from = {-inf, -inf, -inf};
      node.high = node.balls.to = {inf, inf, inf};
    }
    return node;
  }

  static void unite(Node& node, const Node& a, const Node& b) {
    node.wanted = Wanted::united_if_any(a.wanted, b.wanted);
    for (int axis = 0; axis < 3; ++axis) {
      node.low[axis] = std::min(a.low[axis], b.low[axis]);
      node.high[axis] = std::max(a.high[axis], b.high[axis]);
      node.balls.from[axis] = std::min(a.balls.from[axis], b.balls.from[axis]);
      node.balls.to[axis] = std::max(a.balls.to[axis], b.balls.to[axis]);
    }
    node.reach2 = std::max(a.reach2, b.reach2);
    node.power = std::max(a.power, b.power);
    node.balls.radius = std::max(a.balls.radius, b.balls.radius);
  }

  std::vector<Node> nodes_;  ///< the root first; children behind their parents
};

}  // namespace

Reach::Reach(const KnownCells& known, const TopTree& top, std::span<const Wanted> wanted, double unit_length,
             float room, int own_rank, const Images& images) {
  if (known.cover.empty()) return;
  const CoverTree tree(known, top, wanted, room);
  search_bytes_ = tree.bytes();
  const auto own_begin = known.first_cover[static_cast<std::size_t>(own_rank)],
             own_end = known.first_cover[static_cast<std::size_t>(own_rank) + 1];
  const auto is_own = [&](std::int32_t cover) { return cover >= own_begin && cover < own_end; };
  const auto opens = [&](const Wanted& walks, std::int32_t cell) {
    const auto n = static_cast<std::size_t>(cell);
    return walks.may_open(top.centre[n], grown(top.core[n], room), top.balls[n].grown(room),
                          known.cells[n].leaves > 1, unit_length, images);
  };
  // Walks need no better description that are so far off that they accept the cells two levels below, or so
  // close together that a node of some particles is as large as they are: nearly all of them open the same.
  const auto is_near = [&](const Wanted& walks, std::int32_t cell) {
    constexpr float far = 1.F / 8;  // of the squared distance
    constexpr double some = 8;
    const double share = some / static_cast<double>(known.cells[static_cast<std::size_t>(cell)].count);
    const Vec3d size = walks.high - walks.low;
    if (std::max({size.x, size.y, size.z}) < std::cbrt(share) * top.core[cell].radius * unit_length)
      return false;
    NodeCore core = grown(top.core[cell], room);
    core.reach2 *= far;
    core.power *= far;
    Ball near_ball = top.balls[cell].grown(room);
    near_ball.radius *= std::sqrt(far);
    return walks.may_open(top.centre[cell], core, near_ball,
                          known.cells[static_cast<std::size_t>(cell)].leaves > 1, unit_length, images);
  };
  // A rank that is known to be near is not asked again, which would take as long as all else.
  std::vector<std::uint8_t> out_is_near(known.first_cover.size()), in_is_near(out_is_near.size());
  const auto is_near_now = [&](std::vector<std::uint8_t>& ranks, int rank, const Wanted& walks,
                               std::int32_t cell) {
    std::uint8_t& known_of_rank = ranks[static_cast<std::size_t>(rank)];
    if (known_of_rank == 0 && is_near(walks, cell)) known_of_rank = 1;
    return known_of_rank != 0;
  };
  std::vector<Pair> out, in;
  for (std::int32_t own = own_begin; own < own_end; ++own) {
    const std::int32_t cell = known.cover[static_cast<std::size_t>(own)];
    const NodeCore core = grown(top.core[cell], room);
    const Vec3d centre = top.centre[cell];
    const Ball ball = top.balls[cell].grown(room);
    tree.search(
        [&](const CoverTree::Node& node) {
          return !node.wanted.is_nothing() &&
                 may_open_any(node.wanted, centre, centre, core.reach2, core.power,
                              {ball.middle, ball.middle, ball.radius}, unit_length, images);
        },
        [&](std::int32_t other) {
          const Wanted& walks = wanted[static_cast<std::size_t>(other)];
          return !is_own(other) && !walks.is_nothing() && opens(walks, cell);
        },
        [&](std::int32_t other) {
          const int rank = known.owner(other);
          out.push_back({rank, own, other,
                         is_near_now(out_is_near, rank, wanted[static_cast<std::size_t>(other)], cell)});
        });
    const Wanted walks = wanted[static_cast<std::size_t>(own)];
    if (walks.is_nothing()) continue;
    tree.search(
        [&](const CoverTree::Node& node) {
          return may_open_any(walks, node.low, node.high, node.reach2, node.power, node.balls, unit_length,
                              images);
        },
        [&](std::int32_t other) {
          return !is_own(other) && opens(walks, known.cover[static_cast<std::size_t>(other)]);
        },
        [&](std::int32_t other) {
          const int rank = known.owner(other);
          in.push_back({rank, own, other,
                        is_near_now(in_is_near, rank, walks, known.cover[static_cast<std::size_t>(other)])});
        });
  }
  out_ = merged(out);
  in_ = merged(in);
}

/// All that there is of each rank. pairs (in): by own cover; they are brought into the order of ranks.
std::vector<Reach::Part> Reach::merged(std::vector<Pair>& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.rank < b.rank; });
  std::vector<Part> parts;
  for (const Pair& pair : pairs) {
    if (parts.empty() || parts.back().rank != pair.rank) parts.push_back({pair.rank, {}, {}});
    Part& part = parts.back();
    if (part.own.empty() || part.own.back() != pair.own) part.own.push_back(pair.own);
    part.other.push_back(pair.other);
    part.is_near = part.is_near || pair.is_near;
  }
  for (Part& part : parts) {
    std::sort(part.other.begin(), part.other.end());
    part.other.erase(std::unique(part.other.begin(), part.other.end()), part.other.end());
  }
  return parts;
}

std::vector<int> ranks_of(std::span<const Reach::Part> parts) {
  std::vector<int> ranks;
  for (const Reach::Part& part : parts) ranks.push_back(part.rank);
  return ranks;
}

std::vector<int> near_ranks_of(std::span<const Reach::Part> parts) {
  std::vector<int> ranks;
  for (const Reach::Part& part : parts)
    if (part.is_near) ranks.push_back(part.rank);
  return ranks;
}

}  // namespace grove
