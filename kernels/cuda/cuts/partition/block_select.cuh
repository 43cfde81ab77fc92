#pragma once

#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "kernels/math/cell.hpp"

/// Selection by one block.
namespace grove::cuda {

__device__ inline int bit_width(std::uint64_t value) { return 64 - __clzll(static_cast<long long>(value)); }

/// Interval of 64-bit keys that one block narrows by histograms of 11 bits.
struct Selection {
  std::uint64_t first, last;  ///< inclusive
  std::uint32_t rank;         ///< of the one wanted, among those inside
  std::uint32_t inside;
};

constexpr int select_bits = 11;

/// The shared memory that narrowing needs.
template <int threads>
struct SelectMemory {
  std::uint32_t bins[1 << select_bits];
  typename cub::BlockScan<std::uint32_t, threads>::TempStorage scan;
};
/// The same for all that a kernel narrows, one after the other.
template <int threads>
__device__ SelectMemory<threads>& select_memory() {
  __shared__ SelectMemory<threads> memory;
  return memory;
}

/// Narrows the interval of key_of(0 .. count - 1), which stand for weight_of(i) elements each, to one key or
/// at most `enough` elements. All threads of the block; the selection is in shared memory.
template <int threads, class KeyOf, class WeightOf>
__device__ void narrow(Selection& s, std::uint32_t count, const KeyOf& key_of, const WeightOf& weight_of,
                       std::uint32_t enough = 1) {
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  constexpr int bins = 1 << select_bits, per_thread = bins / threads;
  constexpr int rows = 8;  // keys that a thread asks for before it needs the first
  auto& [own, storage] = select_memory<threads>();
  while (s.first < s.last && s.inside > enough) {
    const Selection now = s;
    const int shift = max(0, bit_width(now.last - now.first) - select_bits);
    for (int b = threadIdx.x; b < bins; b += threads) own[b] = 0;
    __syncthreads();
    for (std::uint64_t base = threadIdx.x; base < count; base += rows * threads) {
      std::uint64_t key[rows];
      std::uint32_t weight[rows];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const std::uint64_t i = base + r * threads;
        weight[r] = i < count ? weight_of(static_cast<std::uint32_t>(i)) : 0;
        key[r] = weight[r] > 0 ? key_of(static_cast<std::uint32_t>(i)) : 0;
      }
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (weight[r] > 0 && key[r] >= now.first && key[r] <= now.last)
          atomicAdd(&own[(key[r] - now.first) >> shift], weight[r]);
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

/// The weight of elements that stand for themselves alone.
struct OneEach {
  __device__ std::uint32_t operator()(std::uint32_t) const { return 1; }
};

/// A cut that a block has found.
struct SelectedCut {
  Cut cut;            ///< of the element of the rank asked for; without an axis
  bool is_ambiguous;  ///< it is not the only one with its coordinate and id
};

/// The element of a rank in the order of (key, id): of the elements 0 .. count - 1 the one that the selection
/// by key has narrowed them to. All threads of the block; every one gets the answer.
template <int threads, class KeyOf, class IdOf>
__device__ SelectedCut finish_selection(Selection& by_key, std::uint32_t count, const KeyOf& key_of,
                                        const IdOf& id_of) {
  __shared__ Selection by_id;
  __shared__ Cut cut;
  narrow<threads>(
      by_key, count, [&](std::uint32_t i) -> std::uint64_t { return key_of(i); }, OneEach{});

  const Selection k = by_key;
  const auto is_tied = [&](std::uint32_t i) -> std::uint32_t {
    return key_of(i) >= k.first && key_of(i) <= k.last;
  };
  if (threadIdx.x == 0) by_id = {0, ~0ull, k.rank, k.inside};
  __syncthreads();
  narrow<threads>(by_id, count, id_of, is_tied);

  const Selection s = by_id;
#pragma unroll 8
  for (std::uint32_t i = threadIdx.x; i < count; i += threads) {
    if (!is_tied(i)) continue;
    const ParticleId id = id_of(i);
    if (id >= s.first && id <= s.last) cut = {id, key_of(i), 0};
  }
  __syncthreads();
  return {cut, s.inside > 1};
}

/// The element of a rank in the order of (key, id), of elements 0 .. count - 1 with keys first .. last, which
/// are all. All threads of the block; every one gets the answer. Once few elements are left, they are kept in
/// shared memory. Cost: reads the keys two or three times; if many are equal, those of equal keys up to six
/// times more.
template <int threads, class KeyOf, class IdOf>
__device__ SelectedCut select_by_key_and_id(Coordinate first, Coordinate last, std::uint32_t rank,
                                            std::uint32_t count, const KeyOf& key_of, const IdOf& id_of) {
  constexpr std::uint32_t few = 2048;
  __shared__ Selection by_key;
  __shared__ std::uint32_t kept, keys[few], elements[few];
  __syncthreads();
  if (threadIdx.x == 0) by_key = {first, last, rank, count}, kept = 0;
  __syncthreads();
  narrow<threads>(
      by_key, count, [&](std::uint32_t i) -> std::uint64_t { return key_of(i); }, OneEach{}, few);
  const Selection now = by_key;
  if (now.inside > few) return finish_selection<threads>(by_key, count, key_of, id_of);

  constexpr int rows = 8;
  for (std::uint64_t base = threadIdx.x; base < count; base += rows * threads) {
    std::uint32_t key[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r)
      key[r] = base + r * threads < count ? key_of(static_cast<std::uint32_t>(base + r * threads)) : 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (base + r * threads >= count || key[r] < now.first || key[r] > now.last) continue;
      const std::uint32_t place = atomicAdd(&kept, 1u);
      keys[place] = key[r];
      elements[place] = static_cast<std::uint32_t>(base + r * threads);
    }
  }
  __syncthreads();
  return finish_selection<threads>(
      by_key, now.inside, [&](std::uint32_t i) { return keys[i]; },
      [&](std::uint32_t i) { return id_of(elements[i]); });
}

}  // namespace grove::cuda
