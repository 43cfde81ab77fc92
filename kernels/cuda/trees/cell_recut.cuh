#pragma once

#include <cstdint>
#include <cub/block/block_scan.cuh>

#include "base/types.hpp"
#include "kernels/cuda/trees/tree_renewal.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/domain_cell.hpp"
#include "kernels/math/record.hpp"

/// One cut in a domain cell by one block, at the number of particles that was left of it before.
namespace grove::cuda {

inline constexpr int recut_threads = 1024;

/// The shared memory of a block.
struct RecutMemory {
  static constexpr int digit_bits = 11, digits = 1 << digit_bits;
  using Scan = cub::BlockScan<std::uint32_t, recut_threads>;

  typename Scan::TempStorage scan;
  std::uint32_t histogram[digits];
  Coordinate low[3], high[3];
  std::uint32_t next[2];  ///< where the next particles go that are left and right of the cut
  std::uint32_t digit, less;
};

/// The cut is the one that Forest::renew() finds on the host: along the longest side of the tight bounds, so
/// many particles left of it in the order of (coordinate, id). Their order on each side is another in each
/// call. By all threads of a block.
class CountedDivision {
 public:
  /// records: of the cell that is cut. ids: by Record::index.
  __device__ CountedDivision(RecutMemory& shared, const ParticleId* ids, const Record* records,
                             std::uint32_t count)
      : s_(shared), ids_(ids), records_(records), count_(count) {}

  /// Calls put(side, place, record), where places left of the cut count from 0 and those right of it go on.
  template <class Put>
  __device__ void divide(std::uint32_t left, const Put& put) {
    find_bounds();
    IntegerPosition low, high;
    for (int axis = 0; axis < 3; ++axis) low[axis] = s_.low[axis], high[axis] = s_.high[axis];
    const int axis = longest_axis(low, high);
    const Cut cut = find_cut(left, axis, low[axis], high[axis]);
    if (threadIdx.x == 0) s_.next[0] = 0, s_.next[1] = left;
    __syncthreads();
    const std::uint32_t lane = threadIdx.x % 32;
    for_each_record([&](bool is_there, const Record& record) {
      const bool is_right = is_there && !goes_left(record, cut);
      const unsigned right = __ballot_sync(~0u, is_right), all = __ballot_sync(~0u, is_there);
      std::uint32_t begin = 0;
      if (lane < 2) begin = atomicAdd(&s_.next[lane], __popc(lane == 0 ? all & ~right : right));
      begin = __shfl_sync(~0u, begin, is_right ? 1 : 0);
      const unsigned before = (is_right ? right : all & ~right) & ((1u << lane) - 1);
      if (is_there) put(is_right ? 1 : 0, begin + __popc(before), record);
    });
  }

 private:
  /// Calls visit(is there, record), as often by all lanes of a warp. Several records are fetched before they
  /// are looked at, since one block alone waits for each of them.
  template <class Visit>
  __device__ void for_each_record(const Visit& visit) const {
    constexpr int ahead = 8;
    for (std::uint32_t first = threadIdx.x; first - threadIdx.x % 32 < count_;
         first += ahead * recut_threads) {
      Record some[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k)
        if (first + k * recut_threads < count_) some[k] = records_[first + k * recut_threads];
#pragma unroll
      for (int k = 0; k < ahead; ++k) visit(first + k * recut_threads < count_, some[k]);
    }
  }

  __device__ bool goes_left(const Record& record, const Cut& cut) const {
    const Coordinate c = record[cut.axis];
    return c < cut.coordinate || (c == cut.coordinate && cut.id > 0 && ids_[record.index] < cut.id);
  }

  __device__ void find_bounds() {
    if (threadIdx.x < 3) s_.low[threadIdx.x] = ~0u, s_.high[threadIdx.x] = 0;
    __syncthreads();
    Coordinate low[3] = {~0u, ~0u, ~0u}, high[3] = {0, 0, 0};
    for_each_record([&](bool is_there, const Record& record) {
      if (!is_there) return;
      for (int axis = 0; axis < 3; ++axis)
        low[axis] = min(low[axis], record[axis]), high[axis] = max(high[axis], record[axis]);
    });
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = __reduce_min_sync(~0u, low[axis]), high[axis] = __reduce_max_sync(~0u, high[axis]);
      if (threadIdx.x % 32 == 0) atomicMin(&s_.low[axis], low[axis]), atomicMax(&s_.high[axis], high[axis]);
    }
    __syncthreads();
  }

  /// Its coordinate and id are those of the first particle that goes right; id 0: so do all of that
  /// coordinate.
  __device__ Cut find_cut(std::uint32_t left, int axis, Coordinate low, Coordinate high) {
    std::uint32_t rank = left;
    const int bits = 32 - __clz(static_cast<int>(high - low));
    const auto offset = static_cast<Coordinate>(select(
        bits, rank, [&](const Record& record) { return std::uint64_t{record[axis] - low}; },
        [](const Record&) { return true; }));
    Cut cut{0, low + offset, axis};
    if (rank > 0)
      cut.id = select(
          64, rank, [&](const Record& record) { return ids_[record.index]; },
          [&](const Record& record) { return record[axis] == cut.coordinate; });
    return cut;
  }

  /// The key of this rank among those of records that are asked, by digits from the highest on. Keys have so
  /// many bits. rank (in/out): then among keys equal to it.
  template <class KeyOf, class IsAsked>
  __device__ std::uint64_t select(int bits, std::uint32_t& rank, const KeyOf& key_of,
                                  const IsAsked& is_asked) {
    std::uint64_t found = 0;
    for (int shift = bits; shift > 0;) {
      const int width = min(RecutMemory::digit_bits, shift);
      shift -= width;
      for (int d = threadIdx.x; d < RecutMemory::digits; d += recut_threads) s_.histogram[d] = 0;
      __syncthreads();
      for_each_record([&](bool is_there, const Record& record) {
        if (!is_there || !is_asked(record)) return;
        const std::uint64_t key = key_of(record) >> shift;
        if (key >> width == found) atomicAdd(&s_.histogram[key & ((1u << width) - 1)], 1u);
      });
      __syncthreads();
      find_digit(rank);
      found = found << width | s_.digit;
      rank -= s_.less;
      __syncthreads();
    }
    return found;
  }

  /// That of the key of this rank, by the histogram.
  __device__ void find_digit(std::uint32_t rank) {
    constexpr int per_thread = RecutMemory::digits / recut_threads;
    std::uint32_t number[per_thread], before[per_thread];
    for (int k = 0; k < per_thread; ++k) number[k] = s_.histogram[threadIdx.x * per_thread + k];
    RecutMemory::Scan(s_.scan).ExclusiveSum(number, before);
    for (int k = 0; k < per_thread; ++k)
      if (before[k] <= rank && rank < before[k] + number[k])
        s_.digit = threadIdx.x * per_thread + k, s_.less = before[k];
    __syncthreads();
  }

  RecutMemory& s_;
  const ParticleId* const ids_;
  const Record* const records_;
  const std::uint32_t count_;
};

}  // namespace grove::cuda
