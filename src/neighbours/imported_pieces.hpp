#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/math/own_leaves.hpp"
#include "neighbours/import_search.hpp"
#include "neighbours/neighbour_nodes.hpp"

namespace grove {

/// Imported leaves, those of buckets that come one after the other, among the own ones.
class ImportedPieces {
 public:
  /// A leaf: the own one of this number, or an imported one.
  struct Place {
    bool is_own;
    std::int32_t number;
  };

  /// first: number of the first imported particle.
  ImportedPieces(std::span<const ImportedBucket> buckets, std::uint32_t first, const OwnLeaves& own);
  ImportedPieces(const ImportedPieces&) = delete;  // pieces point into counts_
  ImportedPieces& operator=(const ImportedPieces&) = delete;

  /// All leaves that are here, from left to right.
  std::span<const Place> order() const { return order_; }
  const NeighbourPiece& piece(std::int32_t number) const { return pieces_[static_cast<std::size_t>(number)]; }

 private:
  std::vector<std::int32_t> counts_;
  std::vector<NeighbourPiece> pieces_;  ///< as they have arrived
  std::vector<Place> order_;
};

}  // namespace grove
