#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cuda/let/let_selection.hpp"

namespace grove::cuda {

/// Which targets of other ranks may open which trees of this one, and which ranks which cells above them.
class LetPairs {
 public:
  /// opened: words of OpenedCells::bits, of all slots.
  LetPairs(const LetNumbers& room, std::size_t opened)
      : receivers_(room.receivers),
        opened_(opened),
        pairs_(room.pairs),
        told_(pairs_begin() + room.pairs * (sizeof(LetPair) + sizeof(SelectedTree))) {}

  std::uint32_t* receivers() const { return receivers_.data(); }  ///< targets; of a pair ascending
  LetNumbers* found() const { return at<LetNumbers>(0); }         ///< one, of what there is
  std::uint32_t* opened() const { return at<std::uint32_t>(sizeof(LetNumbers)); }
  LetPair* pairs() const { return at<LetPair>(pairs_begin()); }                  ///< in any order
  SelectedTree* selected() const { return at<SelectedTree>(selected_begin()); }  ///< of each pair
  /// Before a search.
  void clear() const { device_clear(told_.data(), pairs_begin()); }

  /// All but the receivers, in the memory of the host. Waits.
  struct OnHost {
    LetNumbers found;
    std::vector<std::uint32_t> opened;
    std::vector<LetPair> pairs;
    std::vector<SelectedTree> selected;
  };
  OnHost download() const {
    std::vector<std::byte> bytes(told_.size());
    told_.download(bytes);
    OnHost host;
    std::memcpy(&host.found, bytes.data(), sizeof(LetNumbers));
    const auto take = [&](auto& values, std::size_t count, std::size_t begin) {
      values.resize(count);
      if (count > 0) std::memcpy(values.data(), bytes.data() + begin, count * sizeof(values[0]));
    };
    const std::size_t pairs = std::min<std::size_t>(pairs_, host.found.pairs);
    take(host.opened, opened_, sizeof(LetNumbers));
    take(host.pairs, pairs, pairs_begin());
    take(host.selected, pairs, selected_begin());
    return host;
  }

 private:
  std::size_t pairs_begin() const {
    return (sizeof(LetNumbers) + opened_ * sizeof(std::uint32_t) + 15) / 16 * 16;
  }
  std::size_t selected_begin() const { return pairs_begin() + pairs_ * sizeof(LetPair); }
  template <class T>
  T* at(std::size_t begin) const {
    return reinterpret_cast<T*>(told_.data() + begin);
  }

  DeviceArray<std::uint32_t> receivers_;
  std::size_t opened_, pairs_;
  DeviceArray<std::byte> told_;  ///< in one copy
};

/// Words of OpenedCells::bits of a slot.
inline std::size_t words_of_slot(const LetReceivers& from) { return (from.cells.count_of_numbers + 31) / 32; }

/// By all lanes of a warp: what those of all lanes want together.
__device__ inline Wanted united_of_warp(Wanted wanted) {
  for (int step = 16; step > 0; step /= 2) {
    Wanted other = wanted;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      other.low[axis] = __shfl_xor_sync(~0u, wanted.low[axis], step);
      other.high[axis] = __shfl_xor_sync(~0u, wanted.high[axis], step);
    }
    other.inverse_tolerance = __shfl_xor_sync(~0u, wanted.inverse_tolerance, step);
    other.radius = __shfl_xor_sync(~0u, wanted.radius, step);
    wanted = Wanted::united_if_any(wanted, other);
  }
  return wanted;
}

/// room: for what is found; where that is too little the lists lack some. The host does not wait.
///
/// Cost: for each own cell a test per set of clusters, and tests of the clusters, and of the targets, of
/// those that may open it; of cells above the leaves none of targets: more cells than are needed do no harm.
/// Device memory: the lists. std::length_error: more ranks in reach than a block has memory for, some 8000.
LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& receivers, const LetNumbers& room);

}  // namespace grove::cuda
