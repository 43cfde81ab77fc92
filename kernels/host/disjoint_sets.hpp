#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/array.hpp"

namespace grove {

/// Sets of numbers that are united by several threads at once, without locks: each set is a tree whose root
/// is its least member. The sets do not depend on the order of the unions.
/// Source: Jaiganesh and Burtscher 2018, HPDC '18, 92 (its hooking; paths are halved as they are gone along).
class DisjointSets {
 public:
  /// Each number from 0 to size - 1 is alone.
  explicit DisjointSets(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }

  /// The least member of the set of i. Cost: nearly constant in the mean.
  std::uint32_t root(std::uint32_t i) {
    for (std::uint32_t up = parent(i); up != i; up = parent(i)) {
      const std::uint32_t further = parent(up);
      if (further == up) return up;
      std::atomic_ref(parent_[i]).store(further, std::memory_order_relaxed);
      i = further;
    }
    return i;
  }

  void unite(std::uint32_t a, std::uint32_t b) {
    while (true) {
      a = root(a), b = root(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      std::uint32_t expected = a;
      if (std::atomic_ref(parent_[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::uint32_t parent(std::uint32_t i) {
    return std::atomic_ref(parent_[i]).load(std::memory_order_relaxed);
  }

  Array<std::uint32_t> parent_;
};

}  // namespace grove
