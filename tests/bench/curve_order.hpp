#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/vec3.hpp"

/// Orders of particles along space-filling curves.
namespace grove::bench {

inline constexpr int bits_per_axis = 21;
using Cells = std::array<std::uint32_t, 3>;

/// The bits of three numbers in turn, those of the first one being the highest.
inline std::uint64_t morton_key(const Cells& c) {
  std::uint64_t key = 0;
  for (int bit = bits_per_axis - 1; bit >= 0; --bit)
    for (const std::uint32_t x : c) key = key << 1 | (x >> bit & 1);
  return key;
}

/// Skilling 2004, AIP Conf. Proc. 707, 381.
inline std::uint64_t hilbert_key(Cells c) {
  constexpr std::uint32_t highest = 1u << (bits_per_axis - 1);
  for (std::uint32_t q = highest; q > 1; q >>= 1)
    for (std::uint32_t& x : c)
      if (x & q) {
        c[0] ^= q - 1;
      } else {
        const std::uint32_t swapped = (c[0] ^ x) & (q - 1);
        c[0] ^= swapped;
        x ^= swapped;
      }
  c[1] ^= c[0];
  c[2] ^= c[1];
  std::uint32_t flip = 0;
  for (std::uint32_t q = highest; q > 1; q >>= 1)
    if (c[2] & q) flip ^= q - 1;
  for (std::uint32_t& x : c) x ^= flip;
  return morton_key(c);
}

/// The particles' numbers by key. Cost: O(n log n).
template <class Key>
std::vector<std::uint32_t> order_along(std::span<const Vec3d> position, const Key& key_of) {
  Vec3d low = position[0], high = low;
  for (const Vec3d& p : position)
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = std::min(low[axis], p[axis]), high[axis] = std::max(high[axis], p[axis]);
  const double edge = std::max({high.x - low.x, high.y - low.y, high.z - low.z, 1e-300});
  const double cells = ((1u << bits_per_axis) - 1) / edge;
  std::vector<std::uint64_t> keys;
  for (const Vec3d& p : position) {
    const Vec3d c = (p - low) * cells;
    keys.push_back(key_of(Cells{static_cast<std::uint32_t>(c.x), static_cast<std::uint32_t>(c.y),
                                static_cast<std::uint32_t>(c.z)}));
  }
  std::vector<std::uint32_t> order(position.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace grove::bench
