#include "neighbours/imported_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace grove {

ImportedPieces::ImportedPieces(std::span<const ImportedBucket> buckets, std::uint32_t first,
                               const OwnLeaves& own) {
  for (const ImportedBucket& bucket : buckets) counts_.push_back(bucket.count);
  std::vector<std::pair<LeafNumber, Place>> leaves;  // by their numbers in the ORB
  for (const OwnLeaves::Run& run : own.runs())
    for (LeafNumber leaf = run.begin; leaf < run.end; ++leaf)
      leaves.push_back({leaf, {true, run.before + static_cast<std::int32_t>(leaf - run.begin)}});
  for (std::size_t begin = 0, end = 0; begin < buckets.size(); begin = end) {
    while (end < buckets.size() && buckets[end].leaf == buckets[begin].leaf) ++end;
    leaves.push_back({buckets[begin].leaf, {false, static_cast<std::int32_t>(pieces_.size())}});
    NeighbourPiece& piece = pieces_.emplace_back();
    piece.first = first;
    piece.buckets = std::span<const std::int32_t>(counts_).subspan(begin, end - begin);
    for (const std::int32_t count : piece.buckets) first += static_cast<std::uint32_t>(count);
  }
  std::sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [leaf, place] : leaves) order_.push_back(place);
}

}  // namespace grove
