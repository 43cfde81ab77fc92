#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/array.hpp"
#include "kernels/math/disjoint_sets.hpp"

namespace grove {

/// DisjointSetsView in memory of the host.
class DisjointSets {
 public:
  /// Each number from 0 to size - 1 is alone.
  explicit DisjointSets(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }

  DisjointSetsView view() { return {parent_.data()}; }
  std::uint32_t root(std::uint32_t i) { return view().root(i); }
  void unite(std::uint32_t a, std::uint32_t b) { view().unite(a, b); }

 private:
  Array<std::uint32_t> parent_;
};

}  // namespace grove
