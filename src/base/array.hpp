#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace grove {

/// Allocator whose resize() leaves trivial elements uninitialised: arrays of particles are filled right
/// after, and writing them twice costs memory bandwidth.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  using std::allocator<T>::allocator;

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
