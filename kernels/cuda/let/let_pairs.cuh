#pragma once

#include <cstdint>

#include "kernels/cuda/let/let_selection.hpp"

namespace grove::cuda {

/// Which targets of other ranks may open which trees of this one, and which ranks which cells above them.
struct LetPairs {
  DeviceArray<LetNumbers> found;         ///< one, of what there is
  DeviceArray<std::uint32_t> receivers;  ///< numbers of targets; of a pair ascending
  DeviceArray<LetPair> pairs;            ///< in any order
  std::size_t words = 0;
  DeviceArray<std::uint32_t> opened;  ///< OpenedCells::bits, of so many words
};

/// room: for what is found; where that is too little the lists lack some. The host does not wait.
///
/// Cost: for each own cell some 256 descents, each to a piece of the targets: a cell far out may reach around
/// thousands of leaves, which one thread would visit one after the other. Device memory: the lists.
/// std::length_error: more pieces than a block has memory for, 12000 ranks in reach.
LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& receivers, const LetNumbers& room);

}  // namespace grove::cuda
