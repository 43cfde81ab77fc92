#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "decomposition/known_cells.hpp"
#include "kernels/math/walk_views.hpp"
#include "kernels/math/wanted.hpp"

namespace grove {

/// Which ranks' walks may open cells of which others, as far as covers tell (KnownCells). Both ranks of a
/// pair find it, so none has to ask who sends to whom.
class Reach {
 public:
  /// Another rank.
  struct Part {
    int rank;
    std::vector<std::int32_t> own, other;  ///< numbers of the covers here and there, ascending
    bool is_near = false;                  ///< walks may open more than a few cells
  };

  /// top: of the known cells. wanted: what walks from each cover want, Wanted::nothing() if none is active.
  /// room: DriftRoom::of_cells. All the same on every rank. Cost: that of the pairs found, times log P.
  Reach(const KnownCells& known, const TopTree& top, std::span<const Wanted> wanted, double unit_length,
        float room, int own_rank, const Images& images = {});

  /// Ranks whose walks may open own cells, and the covers that these are in; in order of the rank.
  std::span<const Part> out() const { return out_; }
  /// Ranks whose cells own walks may open, and the covers from where.
  std::span<const Part> in() const { return in_; }
  std::uint64_t bytes() const { return bytes_of(nodes_, out_, in_); }

 private:
  /// What a search asks of a cell above covers.
  struct Node {
    std::int32_t below[2];  ///< of its children: number among the nodes, or ~number of a cover
    Wanted wanted = Wanted::nothing();
    Vec3d low{0, 0, 0}, high{0, 0, 0};  ///< box of the centres of mass of covers
    float reach2 = 0, power = 0;        ///< the largest
    Vec3d from{0, 0, 0}, to{0, 0, 0};   ///< box of the middles of their balls
    double radius = -1;                 ///< the largest; below 0: they have none
  };
  void make_nodes(const KnownCells& known, const TopTree& top, std::span<const Wanted> wanted);
  Node node_of(const TopTree& top, std::int32_t cell, const Wanted& wanted) const;
  static void unite(Node& node, const Node& a, const Node& b);
  template <class MayOpenBelow, class MayOpen, class Take>
  void search(const MayOpenBelow& may_open_below, const MayOpen& may_open, const Take& take) const;
  /// Covers of which walks from one may open the other.
  struct Pair {
    int rank;  ///< the other one
    std::int32_t own, other;
    bool is_near;
  };
  static std::vector<Part> merged(std::vector<Pair>& pairs);

  float room_ = 0;
  std::vector<Node> nodes_;  ///< the root first; children behind their parents
  std::vector<Part> out_, in_;
};

/// The ranks alone: of all parts, and of those that are near.
std::vector<int> ranks_of(std::span<const Reach::Part> parts);
std::vector<int> near_ranks_of(std::span<const Reach::Part> parts);

}  // namespace grove
