#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/table_bytes.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/own_leaves.hpp"
#include "kernels/math/top_cell.hpp"
#include "kernels/math/top_sum.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove {

/// The moments of the cells of the ORB that a rank knows, combined from those of the leaves in tree order, in
/// double precision: every rank that knows a cell has the same bits.
///
///   top.begin(cells, own, roots, units, rule);  // own cells
///   top.take(cell, sum), top.finish()           // what other ranks say of theirs, and all above
///   top.append(...), top.hang(...)              // what they send of the cells below
///
/// Leaves are numbered as this rank comes to know them, own ones first.
class TopMoments {
 public:
  /// The sum that a rank tells of a cell whose leaves are all its own.
  using Sum = std::variant<TopSum, LeafRoot>;

  /// cells (in): root first, children behind their parents, siblings neighbours; those of other ranks have no
  /// children; must outlive finish(). roots: of the own leaves. least_ball: that of Images. Cost: O(cells).
  void begin(std::span<const Cell> cells, const OwnLeaves& own, std::span<const LeafRoot> roots,
             const WalkUnits& units, const AcceptanceRule& rule, double least_ball = -1);
  /// The sum of an own cell, by its index.
  Sum sum(std::int32_t cell) const;
  /// Takes the sum of a cell of another rank; ignores those of own cells.
  void take(std::int32_t cell, const Sum& sum);
  /// All are there.
  void finish();
  /// Both, where all leaves are own ones.
  void combine(std::span<const Cell> cells, std::span<const LeafRoot> roots, const WalkUnits& units,
               const AcceptanceRule& rule) {
    begin(cells, OwnLeaves::all(static_cast<std::int32_t>(roots.size())), roots, units, rule);
    finish();
  }

  /// A cell for another rank.
  TopCell cell(std::int32_t node) const;
  /// Adds a cell, of which nothing below is known. far: its moments for expansions, null: it has none.
  /// Returns its node.
  std::int32_t append(const TopCell& cell, const FarMoments* far = nullptr);
  /// Puts this node and the next below another one.
  void hang(std::int32_t child, std::int32_t below) { links_[static_cast<std::size_t>(below)].child = child; }

  /// If cells act through expansions (begin() was told so): after finish(), moments of the own leaves, and
  /// those of own cells above them; then those of covers of all ranks, and of all above them. Cost:
  /// 6000 complex products for each cell above leaves or covers.
  void begin_far(std::span<const FarMoments> leaves, const Images& images);
  void take_far(std::int32_t cell, const FarMoments& moments);
  void finish_far(const Images& images);
  /// By node; none: there are no expansions.
  std::span<const FarMoments> far_moments() const { return far_; }

  /// Valid until the next append() or begin(). Nodes are the cells, then what was appended.
  TopTree view() const;
  /// By number of the leaf.
  std::span<const LeafRoot> roots() const { return roots_; }
  /// The number of the leaf that a node is.
  std::int32_t leaf(std::int32_t node) const { return links_[static_cast<std::size_t>(node)].first_leaf; }
  std::uint64_t bytes() const {
    return bytes_of(centre_, core_, moments_, boxes_, links_, balls_, far_, tops_, roots_);
  }

 private:
  void set(std::size_t node, const TopSum& top);
  void set_leaf(std::size_t node, const LeafRoot& root);
  void unite_far(std::size_t node, const Images& images);

  std::span<const Cell> cells_;
  WalkUnits units_;
  AcceptanceRule rule_;
  double least_ball_ = -1;
  std::vector<std::uint8_t> is_own_;  ///< by cell: all leaves below
  std::vector<TopSum> tops_;          ///< from begin() to finish()
  std::vector<Vec3d> centre_;
  std::vector<NodeCore> core_;
  std::vector<NodeMoments> moments_;
  std::vector<NodeBox> boxes_;
  std::vector<TopLinks> links_;
  std::vector<Ball> balls_;
  std::vector<FarMoments> far_;
  std::vector<LeafRoot> roots_;
};

}  // namespace grove
