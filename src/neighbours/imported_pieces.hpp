#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neighbours/import_search.hpp"
#include "neighbours/neighbour_nodes.hpp"

namespace grove {

/// Imported leaves, in their order: those of buckets that come one after the other.
class ImportedPieces {
 public:
  /// first: number of the first imported particle; first_own: the first own leaf, number in the ORB.
  ImportedPieces(std::span<const ImportedBucket> buckets, std::uint32_t first, std::int32_t first_own);
  ImportedPieces(const ImportedPieces&) = delete;  // pieces point into counts_
  ImportedPieces& operator=(const ImportedPieces&) = delete;

  /// Those before the own leaves, and behind them.
  std::span<const NeighbourPiece> before() const { return std::span(pieces_).first(before_); }
  std::span<const NeighbourPiece> behind() const { return std::span(pieces_).subspan(before_); }

 private:
  std::vector<std::int32_t> counts_;
  std::vector<NeighbourPiece> pieces_;
  std::size_t before_ = 0;
};

}  // namespace grove
