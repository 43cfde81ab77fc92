#pragma once

#include <atomic>
#include <cstdint>

#include "base/host_device.hpp"

namespace grove {

/// Sets of numbers that are united by several threads at once, without locks, on the host or on a GPU: each
/// set is a tree whose root is its least member. The sets do not depend on the order of the unions.
/// Source: Jaiganesh and Burtscher 2018, HPDC '18, 92 (its hooking; paths are halved as they are gone along).
struct DisjointSetsView {
  std::uint32_t* parent;  ///< [numbers] at first each has its own, and is alone

  /// The least member of the set of i. Cost: nearly constant in the mean.
  GROVE_HOST_DEVICE std::uint32_t root(std::uint32_t i) const {
    for (std::uint32_t up = load(i); up != i; up = load(i)) {
      const std::uint32_t further = load(up);
      if (further == up) return up;
      store(i, further);
      i = further;
    }
    return i;
  }

  /// The least member of both.
  GROVE_HOST_DEVICE std::uint32_t unite(std::uint32_t a, std::uint32_t b) const {
    while (true) {
      a = root(a), b = root(b);
      if (a == b) return a;
      const std::uint32_t high = a < b ? b : a, low = a < b ? a : b;
      const std::uint32_t found = hang(high, low);
      if (found == high) return low;
      a = found, b = low;  // another thread has hung it there
    }
  }

 private:
  GROVE_HOST_DEVICE std::uint32_t load(std::uint32_t i) const {
#if defined(__CUDA_ARCH__)
    return *static_cast<const volatile std::uint32_t*>(parent + i);
#else
    return std::atomic_ref(parent[i]).load(std::memory_order_relaxed);
#endif
  }
  GROVE_HOST_DEVICE void store(std::uint32_t i, std::uint32_t value) const {
#if defined(__CUDA_ARCH__)
    *static_cast<volatile std::uint32_t*>(parent + i) = value;
#else
    std::atomic_ref(parent[i]).store(value, std::memory_order_relaxed);
#endif
  }
  /// Hangs a root below another number; returns the parent that it had, itself if it was a root still.
  GROVE_HOST_DEVICE std::uint32_t hang(std::uint32_t root, std::uint32_t below) const {
#if defined(__CUDA_ARCH__)
    return atomicCAS(parent + root, root, below);
#else
    std::atomic_ref(parent[root]).compare_exchange_strong(root, below, std::memory_order_relaxed);
    return root;
#endif
  }
};

}  // namespace grove
