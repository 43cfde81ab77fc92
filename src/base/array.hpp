#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/pages.hpp"

namespace grove {

/// From this size on, arrays live in large pages (2 MiB on most machines).
inline constexpr std::size_t least_paged_bytes = std::size_t{2} << 20;

/// Allocator whose resize() leaves trivial elements uninitialised: arrays of particles are filled right
/// after, and writing them twice costs memory bandwidth. Large arrays are in large pages.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  using std::allocator<T>::allocator;

  T* allocate(std::size_t count) {
    if (count >= least_paged_bytes / sizeof(T)) return static_cast<T*>(allocate_pages(count * sizeof(T)));
    return std::allocator<T>::allocate(count);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count >= least_paged_bytes / sizeof(T)) return free_pages(memory, count * sizeof(T));
    std::allocator<T>::deallocate(memory, count);
  }

  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

/// A resizable host array; resize() does not clear new elements of trivial types.
template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace grove
