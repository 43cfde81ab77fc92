#pragma once

#include <array>
#include <bit>
#include <cstddef>

namespace grove::cuda {

/// Small blocks of device memory that were freed, for the next that are asked for. The driver would be asked
/// for many between the messages of a step: on two GPUs a block step takes 0.1 ms less with these
/// (docs/measurements/scaling.md). What is taken from here must come in order behind all work that used it
/// before.
class FreedBlocks {
 public:
  static constexpr bool are_for(std::size_t bytes) { return bytes > 0 && bytes <= largest; }
  /// The bytes that a block for so many has, of which there are only a few sizes.
  static constexpr std::size_t size_of(std::size_t bytes) { return least << number_of(bytes); }

  /// A block for so many bytes; null: there is none.
  void* take(std::size_t bytes) noexcept {
    Blocks& blocks = blocks_[number_of(bytes)];
    return blocks.count > 0 ? blocks.memory[--blocks.count] : nullptr;
  }
  /// Keeps one that was made for so many. False: there are enough.
  bool keep(void* memory, std::size_t bytes) noexcept {
    Blocks& blocks = blocks_[number_of(bytes)];
    if (blocks.count == blocks.memory.size()) return false;
    blocks.memory[blocks.count++] = memory;
    return true;
  }
  /// Hands all of them to free(memory).
  template <class Free>
  void release(const Free& free) {
    for (Blocks& blocks : blocks_)
      while (blocks.count > 0) free(blocks.memory[--blocks.count]);
  }

 private:
  static constexpr std::size_t least = 512, largest = std::size_t{256} << 10;
  static constexpr std::size_t number_of(std::size_t bytes) {
    return bytes <= least ? 0 : static_cast<std::size_t>(std::bit_width((bytes - 1) / least));
  }

  struct Blocks {
    std::array<void*, 64> memory;
    std::size_t count = 0;
  };
  std::array<Blocks, std::bit_width((largest - 1) / least) + 1> blocks_;  ///< by number_of()
};

}  // namespace grove::cuda
