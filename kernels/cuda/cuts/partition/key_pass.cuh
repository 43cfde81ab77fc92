#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace grove::cuda {

/// Some threads of a block that read neighbouring records.
struct Readers {
  std::uint32_t index, count;
};

/// Calls visit(key, position) for keys[first .. last - 1]; loads are 16 bytes wide and do not stay in the
/// caches.
template <class Visitor>
__device__ void for_each_key(const std::uint32_t* keys, std::uint64_t first, std::uint64_t last,
                             Readers readers, Visitor&& visit) {
  const std::uint64_t head = min(last, (first + 3) / 4 * 4), tail = max(head, last / 4 * 4);
  if (first + readers.index < head) visit(keys[first + readers.index], first + readers.index);
  if (tail + readers.index < last) visit(keys[tail + readers.index], tail + readers.index);
  const auto* const vectors = reinterpret_cast<const uint4*>(keys);
#pragma unroll 4
  for (std::uint64_t i = head / 4 + readers.index; i < tail / 4; i += readers.count) {
    const uint4 v = __ldcs(vectors + i);
    visit(v.x, 4 * i), visit(v.y, 4 * i + 1), visit(v.z, 4 * i + 2), visit(v.w, 4 * i + 3);
  }
}

}  // namespace grove::cuda
