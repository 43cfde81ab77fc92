#include "neighbours/imported_pieces.hpp"

#include <cstddef>

namespace grove {

ImportedPieces::ImportedPieces(std::span<const ImportedBucket> buckets, std::uint32_t first,
                               std::int32_t first_own) {
  for (const ImportedBucket& bucket : buckets) counts_.push_back(bucket.count);
  for (std::size_t begin = 0, end = 0; begin < buckets.size(); begin = end) {
    while (end < buckets.size() && buckets[end].leaf == buckets[begin].leaf) ++end;
    NeighbourPiece piece;
    piece.first = first;
    piece.buckets = std::span<const std::int32_t>(counts_).subspan(begin, end - begin);
    for (const std::int32_t count : piece.buckets) first += static_cast<std::uint32_t>(count);
    pieces_.push_back(piece);
    if (buckets[begin].leaf < first_own) before_ = pieces_.size();
  }
}

}  // namespace grove
