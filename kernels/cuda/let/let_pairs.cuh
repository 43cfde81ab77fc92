#pragma once

#include <cstdint>

#include "kernels/cuda/let/let_selection.hpp"

namespace grove::cuda {

/// Which targets of other ranks may open which trees of this one, and which ranks which cells above them.
struct LetPairs {
  DeviceArray<std::uint32_t> receivers;  ///< numbers of targets; of a pair ascending
  DeviceArray<LetPair> pairs;            ///< by own leaf, then by slot
  std::uint64_t nodes = 0;               ///< of the trees of all pairs, each counted up to a multiple of 32
  std::size_t words = 0;
  DeviceArray<std::uint32_t> opened;  ///< OpenedCells::bits, of so many words
};

/// Cost: for each own cell some 256 descents, each to a piece of the targets: a cell far out may reach around
/// thousands of leaves, which one thread would visit one after the other. Device memory: 4 bytes per own leaf
/// and piece, and 4 bytes per receiver. std::length_error: 2^31 own leaves times pieces, or more.
LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& receivers);

}  // namespace grove::cuda
