#pragma once

#include <cstddef>
#include <exception>
#include <mutex>

#include "kernels/kokkos/host_loop.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove {

/// Calls walk_leaf(i, scratch) for every leaf, in parallel on the host, and sums the counts that it returns.
/// Each thread has a Scratch of its own, kept from call to call because of its arrays. Passes the first
/// exception on.
template <class Scratch, class WalkLeaf>
WalkCounts for_leaves(const char* label, std::size_t leaves, const WalkLeaf& walk_leaf) {
  WalkCounts sum;
  std::mutex mutex;
  std::exception_ptr failure;
  host_loop(label, leaves, [&](std::size_t i) {
    thread_local Scratch scratch;
    try {
      const WalkCounts counts = walk_leaf(i, scratch);
      const std::lock_guard lock(mutex);
      sum += counts;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
  return sum;
}

}  // namespace grove
