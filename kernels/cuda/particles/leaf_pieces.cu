#include "kernels/cuda/particles/leaf_pieces.hpp"

#include <vector>

namespace grove::cuda {

LeafPieces::LeafPieces(std::span<const Count> leaf_begin) {
  if (leaf_begin.empty()) return;
  std::vector<std::uint64_t> pieces, firsts;
  std::vector<std::uint32_t> owners;
  for (std::size_t number = 0; number + 1 < leaf_begin.size(); ++number) {
    firsts.push_back(pieces.size());
    Count from = leaf_begin[number];
    do {
      pieces.push_back(static_cast<std::uint64_t>(from));
      owners.push_back(static_cast<std::uint32_t>(number));
      from += most;
    } while (from < leaf_begin[number + 1]);
  }
  leaves = static_cast<std::uint32_t>(firsts.size());
  count = static_cast<std::uint32_t>(pieces.size());
  firsts.push_back(pieces.size());
  pieces.push_back(static_cast<std::uint64_t>(leaf_begin.back()));
  begin = DeviceArray<std::uint64_t>{std::span<const std::uint64_t>(pieces)};
  first = DeviceArray<std::uint64_t>{std::span<const std::uint64_t>(firsts)};
  leaf = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(owners)};
}

}  // namespace grove::cuda
