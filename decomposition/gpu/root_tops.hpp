#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomposition/segments.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/cuts/services/places.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// The depth of each cell; the root's is 0. Children lie behind their parents.
std::vector<std::size_t> depths(std::span<const Cell> cells);

/// Parts of a rank's records as segments, without those that are empty.
std::vector<Segment> segments_of(const cuda::DescribedParts& parts, bool have_weights, int rank);

/// The tops of cells that a rank cuts alone under CutRule::domains, down to domain cells, if records are
/// sorted by where these were before. In a dense place a domain cell is half of half of the root, thirty
/// times and more. How many particles the cells of before have now tells these cuts without a search. Cells
/// of before that have become too large are left to be halved further.
class RootTops {
 public:
  /// roots: with their records, one after the other. segments: of these, in that order, each
  /// of the records in a geometric cell. Cost: O(S)
  /// for each level, for S segments.
  RootTops(const CutScheme& scheme, std::span<const cuda::SubtreeRoot> roots,
           std::span<const Segment> segments);

  /// The cells that are to be cut to leaves, with all records of the roots.
  std::span<const cuda::SubtreeRoot> parts() const { return parts_; }
  /// Levels above those of the parts that have fewest, counted from their root.
  std::size_t least_levels() const { return least_levels_; }
  /// Given the subtrees of the parts: those of the roots, each with its root first and children counted from
  /// it.
  std::vector<std::vector<Cell>> join(std::span<const std::vector<Cell>> subtrees) const;

 private:
  struct Top {
    std::vector<Cell> cells;          ///< the root and all down to its parts
    std::vector<std::int32_t> uncut;  ///< parts that are no leaves
    std::size_t parts;
  };
  std::vector<Top> tops_;  ///< of each root
  std::vector<cuda::SubtreeRoot> parts_;
  std::size_t least_levels_ = 0;
};

}  // namespace grove
