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
  /// With what was there while it was made.
  std::uint64_t bytes() const { return search_bytes_ + bytes_of(out_, in_); }

 private:
  /// Covers of which walks from one may open the other.
  struct Pair {
    int rank;  ///< the other one
    std::int32_t own, other;
    bool is_near;
  };
  static std::vector<Part> merged(std::vector<Pair>& pairs);

  std::uint64_t search_bytes_ = 0;
  std::vector<Part> out_, in_;
};

/// The ranks alone: of all parts, and of those that are near.
std::vector<int> ranks_of(std::span<const Reach::Part> parts);
std::vector<int> near_ranks_of(std::span<const Reach::Part> parts);

}  // namespace grove
