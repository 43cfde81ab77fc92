#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/far_cells.hpp"
#include "kernels/cuda/trees/image_numbers.hpp"
#include "kernels/cuda/trees/node_code.hpp"
#include "kernels/cuda/trees/top_views.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/leaf_targets.hpp"
#include "kernels/math/top_cell.hpp"
#include "kernels/math/top_sum.hpp"
#include "kernels/math/top_table.hpp"
#include "kernels/math/wanted.hpp"

namespace grove::cuda {

/// A rank tells all others this of one of its covers (KnownCells).
struct CoverNotice {
  TopSum sum;
  LeafRoot root;  ///< of a cover that is a leaf
  Vec3d centre;   ///< of mass, units of the run
  NodeCore core;
  Ball ball;
  Wanted wanted;  ///< by walks from there; Wanted::nothing() if none is active
  int lacking;    ///< not 0: what was told of targets before does not hold any more
};

/// The roots of all leaves that a rank knows, by its numbers. Device memory.
struct KnownRoots {
  const LeafNotice* own;
  std::int32_t own_count;
  const LeafRoot* others;  ///< of the leaves behind the own ones
  std::int32_t count;      ///< of all

  static KnownRoots own_ones(const LeafNotice* notices, std::size_t leaves) {
    const auto count = static_cast<std::int32_t>(leaves);
    return {notices, count, nullptr, count};
  }
  GROVE_HOST_DEVICE const LeafRoot& root(std::int32_t leaf) const {
    return leaf < own_count ? own[leaf].root : others[leaf - own_count];
  }
};

/// The own cells that walks of other ranks may open: own leaves and all cells above them up to covers. By
/// number of the cell where nothing else is said. Device memory.
struct OwnCells {
  const std::int32_t* cells;  ///< [count] their numbers, those of leaves first, left to right
  std::int32_t count;
  std::size_t count_of_numbers;  ///< cells that are known, own ones or not
  const std::int32_t* parent;
  const std::uint8_t* is_cover;
  const Vec3d* centre;  ///< of mass, units of the run
  const NodeCore* core;
  const Ball* balls;
};

/// The tree over the leaves of the ORB that a rank knows: what TopMoments is on the host. In each walk one
/// rank alone calls combine(), several call begin(), take(), adopt()
/// (or go on with what they have adopted before) and finish(). Cells and leaves have the numbers
/// of the TopTable, and behind these the ones that they get as other ranks send them; sums are made in the
/// order of the tree, so all ranks have the same bits of a cell that they know.
class DeviceTop {
 public:
  DeviceTop() = default;
  /// The top tree of a rank that has all leaves. cells: of the ORB, root first, children behind their
  /// parents. codes: of the trees in the leaves. Throws std::length_error if there are too many of both.
  /// Cost: O(leaves x depth).
  explicit DeviceTop(std::span<const Cell> cells, const NodeCodes& codes = bisection_codes,
                     const Images& images = {});
  /// The top tree of a rank that knows these cells alone.
  explicit DeviceTop(TopTable table, const NodeCodes& codes = bisection_codes, const Images& images = {});

  /// That of the walks to come: Images::least_ball.
  void set_least_ball(double radius) { images_.least_ball = radius; }

  /// Combines what the leaves tell, from both children of each cell, in double precision. notices (device):
  /// of all leaves, by number. reference: of all frames. Cost: O(cells).
  void combine(const LeafNotice* notices, const WalkUnits& units, const AcceptanceRule& rule,
               const Vec3d& reference);

  /// The same for own cells up to covers. Returns what is to be told of own covers. notices (device): of the
  /// own leaves; must live until the walk ends. lacking (device): for all notices; null: 0. Cost: O(own
  /// cells), and a wait of the host.
  std::vector<CoverNotice> begin(const LeafNotice* notices, const WalkUnits& units,
                                 const AcceptanceRule& rule, const int* lacking = nullptr);
  /// notices: of the covers of all ranks, by number; sums go from these up to the root. Cost: O(covers).
  void take(std::span<const CoverNotice> notices);
  /// The own cells as other ranks may get them, after begin(). cells: numbers.
  DeviceArray<TopCell> gather(std::span<const std::int32_t> cells) const;
  /// Enters what others have sent, which stays until the next call. cells, hung (device): as in `imported`.
  /// Throws std::length_error as above. Cost: O(known cells).
  void adopt(const ImportedTop& imported, const TopLinks* cells, const ImportedTop::Hung* hung);
  /// values (device): of the cells that others have sent. Cost: O(known cells), for each image.
  void finish(const TopCell* values, const Vec3d& reference);

  /// If cells act through expansions (Images::expands_far()). One rank alone calls the first of these
  /// behind combine(); several the second one behind begin(), and the last one behind finish(). leaves
  /// (device): moments of the own leaves.
  void combine_far(const FarMoments* leaves);
  /// For own cells up to covers. Returns those of own covers. Cost: a wait of the host.
  std::vector<FarMoments> begin_far(const FarMoments* leaves);
  /// As gather().
  DeviceArray<FarMoments> gather_far(std::span<const std::int32_t> cells) const;
  /// covers: of all ranks, by number; values (device): of the cells that others have sent.
  void finish_far(std::span<const FarMoments> covers, const FarMoments* values);
  DeviceFarTree far_tree() const {
    return {cell_links_.data(), balls_.data(), far_.data(), static_cast<std::int32_t>(known_), images_};
  }

  TopSources sources() const {
    return {{frames_.data(), core_.data(), moments_.data(), links_.data()},
            beginnings_.data(),
            first_beginning_.data(),
            codes_,
            boxes_.data(),
            images_.expands_far() ? balls_.data() : nullptr};
  }
  TopCells cells() const {
    return {cell_links_.data(), parent_.data(), leaf_cell_.data(), static_cast<std::int32_t>(known_)};
  }
  OwnCells own_cells() const {
    return {own_cells_.data(), static_cast<std::int32_t>(own_cells_.size()),
            is_cover_.size(),  parent_.data(),
            is_cover_.data(),  own_centre_.data(),
            own_core_.data(),  own_balls_.data()};
  }
  /// After combine() or finish(), in a periodic box.
  ImageNumbers leaf_numbers() const;
  /// Likewise, if a walk has filled its stack, as one does that images have no numbers for: throws
  /// std::length_error if there were too few of them.
  void check_images() const;
  /// For how many leaves, in all images, walks have room.
  std::size_t leaf_room() const { return room_for(static_cast<std::size_t>(walked_leaves_)); }
  /// After finish(). The last leaf stands for all that this rank does not know: whatever opens a cell below
  /// which nothing is known comes to it, and opens it.
  KnownRoots roots() const { return roots_; }

 private:
  void lay_out(std::size_t cells, std::size_t leaves);
  std::size_t room_for(std::size_t of_an_image) const;
  void link();
  void begin_walks();
  void list_own();
  void divide_way();
  void sum_cells(const LeafNotice* notices, TopSum* sums, Wanted* wanted) const;
  void show(const TopSum* sums, const TopCell* values, const Vec3d& reference);
  ImageNumbers cell_numbers() const;
  void take_roots(const TopCell* values, const Vec3d& reference);

  NodeCodes codes_ = bisection_codes;
  Images images_;
  TopTable table_;
  std::size_t known_ = 0;           ///< cells, those that others have sent included
  std::int32_t walked_leaves_ = 0;  ///< leaves of an image, roots_.count
  DeviceArray<TopLinks> cell_links_;
  DeviceArray<std::int32_t> parent_;
  DeviceArray<std::uint32_t> leaf_cell_;
  DeviceArray<NodeLinks> links_;
  DeviceArray<std::uint32_t> beginnings_, first_beginning_;
  // The way of sums up the tree is divided here.
  DeviceArray<std::int32_t> heads_;
  DeviceArray<std::uint8_t> is_head_;  ///< [cells of the table]

  DeviceArray<SourceFrame> frames_;
  DeviceArray<NodeCore> core_;
  DeviceArray<NodeMoments> moments_;
  DeviceArray<NodeBox> boxes_;
  DeviceArray<Ball> balls_;
  DeviceArray<FarMoments> far_;  ///< [cells], of one image

  // In a periodic box, of the last walk: bits for images but the first.
  DeviceArray<std::uint32_t> opened_images_;  ///< [cells] in which walks may open it
  DeviceArray<std::uint32_t> images_of_;      ///< [cells + leaves] in which it is there
  DeviceArray<std::uint32_t> before_;         ///< ImageNumbers::before, likewise
  DeviceArray<std::uint32_t> numbered_;       ///< [2] how many cells and leaves have such numbers

  // These are used if there are other ranks.
  DeviceArray<TopLinks> table_links_;  ///< [cells of the table]
  DeviceArray<std::int32_t> own_cells_, cover_cells_;
  DeviceArray<std::uint8_t> is_cover_;  ///< [cells of the table]
  DeviceArray<Vec3d> own_centre_;       ///< likewise
  DeviceArray<NodeCore> own_core_;      ///< likewise
  DeviceArray<Ball> own_balls_;         ///< likewise
  DeviceArray<FarMoments> own_far_;     ///< likewise, where cells act through expansions

  // During a walk.
  WalkUnits units_;
  AcceptanceRule rule_;
  DeviceArray<TopSum> sums_;  ///< of the cells of the table
  DeviceArray<CoverNotice> covers_;
  DeviceArray<LeafRoot> others_;
  KnownRoots roots_{nullptr, 0, nullptr, 0};
};

/// The place of the tree of a leaf in the arrays of all sources.
struct LeafPlace {
  std::uint32_t node, particle;
};
/// The frames of all leaves. places (device): by number of the leaf; null: frames whose nodes and particles
/// do not matter. numbers: of leaves in images, of a periodic box; none: all of an image follow those of the
/// one before. frames (out, device): by number, or images.count() times as many as leaves; balls (out,
/// device): likewise, null: none.
void make_frames(const KnownRoots& roots, const LeafPlace* places, const Vec3d& reference,
                 const WalkUnits& units, SourceFrame* frames, const Images& images = {},
                 Ball* balls = nullptr, const ImageNumbers& numbers = {});

}  // namespace grove::cuda
