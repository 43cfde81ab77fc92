#pragma once

#include <cstdint>

#include "kernels/cuda/device/warp.cuh"

namespace grove::cuda {

/// Nodes that a warp has yet to test. The last ones are in shared memory; when that is full, the oldest of
/// them go to global memory in portions.
class NodeStack {
 public:
  static constexpr int size = 512, portion = 256, most_spilled = 8 * portion;
  /// The children of a node: eight octants, of each two buckets where a group ends in it.
  static constexpr int most_children = 16;

  /// memory: [size]; spill: [most_spilled].
  __device__ NodeStack(std::uint32_t* memory, std::uint32_t* spill) : entry_(memory), spill_(spill) {}

  __device__ void clear() { size_ = spilled_ = 0; }
  __device__ void start(std::uint32_t code) {
    size_ = 1;
    spilled_ = 0;
    if (lane_ == 0) entry_[0] = code;
    __syncwarp();
  }
  /// count: at most `size`.
  __device__ void start(const std::uint32_t* codes, int count) {
    size_ = count;
    spilled_ = 0;
#pragma unroll 1
    for (int i = lane_; i < count; i += 32) entry_[i] = codes[i];
    __syncwarp();
  }

  __device__ bool is_empty() const { return size_ == 0 && spilled_ == 0; }

  /// How many are in shared memory, and those.
  __device__ int count() const { return size_; }
  const __device__ std::uint32_t* nodes() const { return entry_; }
  /// True if there are so many, all of them in shared memory.
  __device__ bool holds(int least) const { return size_ >= least && spilled_ == 0; }
  /// Every `stride`-th of what it holds() stays, from number `first` on.
  __device__ void keep(int first, int stride) {
    size_ = (size_ - first + stride - 1) / stride;
#pragma unroll 1
    for (int begin = 0; begin < size_; begin += 32) {
      const int i = begin + lane_;
      const std::uint32_t code = i < size_ ? entry_[first + i * stride] : 0;
      __syncwarp();
      if (i < size_) entry_[i] = code;
      __syncwarp();
    }
  }

  /// How many to take at a time so that families find room: few if there is little, one at the end. Then
  /// every level of an octree adds most_children - 1 at most, every one above the leaves one.
  __device__ int most_with_families() const {
    constexpr int levels = 64, levels_above = 128, more = most_children - 1;
    constexpr int usable = size + most_spilled - levels * more - levels_above;
    return max(1, min(32, (usable - size_ - spilled_) / more));
  }

  /// Takes up to `most`, at most 32, the lanes up to `count` one each; the others see the last of them.
  __device__ std::uint32_t pop(int& count, int most = 32) {
    if (size_ == 0) restore();
    count = min(size_, most);
    size_ -= count;
    const std::uint32_t code = entry_[size_ + min(lane_, count - 1)];
    __syncwarp();
    return code;
  }

  /// Both children of those lanes that have some. Returns false if there is no room. may_spill: not if `size`
  /// is enough for all.
  template <bool may_spill>
  __device__ bool push(bool which, std::uint32_t left, std::uint32_t right) {
    const unsigned votes = __ballot_sync(~0u, which);
    if (may_spill && size_ + 64 > size && !spill()) return false;
    if (!may_spill && size_ + 2 * __popc(votes) > size) return false;
    if (which) {
      const int place = size_ + 2 * __popc(votes & lanes_before());
      entry_[place] = left;
      entry_[place + 1] = right;
    }
    size_ += 2 * __popc(votes);
    __syncwarp();
    return true;
  }

  /// The children of the lanes, `count` each: first, second, second + 1, ... Returns false if there is no
  /// room.
  __device__ bool push_families(std::uint32_t first, std::uint32_t second, int count) {
    static_assert(16 * most_children <= portion);
    if (__reduce_add_sync(~0u, count) <= portion) return push_some(first, second, count);
    return push_some(first, second, lane_ < 16 ? count : 0) &&
           push_some(first, second, lane_ < 16 ? 0 : count);
  }

 private:
  /// At most a portion in all.
  __device__ bool push_some(std::uint32_t first, std::uint32_t second, int count) {
    const int end = inclusive_sum(count), all = __shfl_sync(~0u, end, 31);
    if (size_ + all > size && !spill()) return false;
    std::uint32_t* const place = entry_ + (size_ + end - count);
    if (count > 0) place[0] = first;
#pragma unroll 1
    for (int i = 1; i < count; ++i) place[i] = second + static_cast<std::uint32_t>(i - 1);
    size_ += all;
    __syncwarp();
    return true;
  }

  __device__ bool spill() {
    if (spilled_ + portion > most_spilled) return false;
#pragma unroll 1
    for (int i = lane_; i < portion; i += 32) spill_[spilled_ + i] = entry_[i];
    __syncwarp();
    static_assert(size <= 2 * portion);  // what stays does not overlap where it goes
#pragma unroll 1
    for (int i = lane_; i < size_ - portion; i += 32) entry_[i] = entry_[i + portion];
    spilled_ += portion;
    size_ -= portion;
    __syncwarp();
    return true;
  }

  __device__ void restore() {
    spilled_ -= portion;
    size_ = portion;
#pragma unroll 1
    for (int i = lane_; i < portion; i += 32) entry_[i] = spill_[spilled_ + i];
    __syncwarp();
  }

  std::uint32_t* entry_;
  std::uint32_t* spill_;
  const int lane_ = static_cast<int>(threadIdx.x % 32);
  int size_ = 0, spilled_ = 0;
};

}  // namespace grove::cuda
