#pragma once

#include <cstdint>
#include <cub/block/block_scan.cuh>

/// Selection by one block.
namespace grove::cuda {

constexpr int select_threads = 512;

__device__ inline int bit_width(std::uint64_t value) { return 64 - __clzll(static_cast<long long>(value)); }

/// Interval of 64-bit keys that one block narrows by histograms of 11 bits.
struct Selection {
  std::uint64_t first, last;  ///< inclusive
  std::uint32_t rank;         ///< of the one wanted, among those inside
  std::uint32_t inside;
};

constexpr int select_bits = 11;

/// Narrows the interval of key_of(0 .. count - 1), of which those count that `counts` accepts, to one key or
/// one element. All threads of the block; the selection is in shared memory.
template <class KeyOf, class Counts>
__device__ void narrow(Selection& s, std::uint32_t count, const KeyOf& key_of, const Counts& counts) {
  using Scan = cub::BlockScan<std::uint32_t, select_threads>;
  constexpr int bins = 1 << select_bits, per_thread = bins / select_threads;
  __shared__ std::uint32_t own[bins];
  __shared__ typename Scan::TempStorage storage;
  while (s.first < s.last && s.inside > 1) {
    const Selection now = s;
    const int shift = max(0, bit_width(now.last - now.first) - select_bits);
    for (int b = threadIdx.x; b < bins; b += select_threads) own[b] = 0;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += select_threads) {
      if (!counts(i)) continue;
      const std::uint64_t key = key_of(i);
      if (key >= now.first && key <= now.last) atomicAdd(&own[(key - now.first) >> shift], 1u);
    }
    __syncthreads();
    std::uint32_t number[per_thread], before[per_thread];
    for (int k = 0; k < per_thread; ++k) number[k] = own[threadIdx.x * per_thread + k];
    Scan(storage).ExclusiveSum(number, before);
    for (int k = 0; k < per_thread; ++k) {
      if (now.rank < before[k] || now.rank - before[k] >= number[k]) continue;
      const std::uint64_t b = threadIdx.x * per_thread + k;
      s.first = now.first + (b << shift);
      s.last = min(now.last, s.first + ((std::uint64_t{1} << shift) - 1));
      s.rank = now.rank - before[k];
      s.inside = number[k];
    }
    __syncthreads();
  }
}

}  // namespace grove::cuda
