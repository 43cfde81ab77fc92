#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_records.cuh"
#include "kernels/math/octree.hpp"

namespace grove::cuda {

/// Sorted keys of particles: a digit per level, the octant along the curve. The first 21 are in the upper
/// word, perhaps below the number of the leaf, the others in the lower one.
struct KeyView {
  const std::uint64_t *high, *low;  ///< [particles]; low: nullptr if there is nothing in it
  int high_levels, low_levels;

  __device__ int levels() const { return high_levels + low_levels; }
  /// level: 0 for the octants of the root cube.
  __device__ unsigned digit(std::uint32_t i, int level) const {
    const std::uint64_t word = level < high_levels ? high[i] : low[i];
    const int below = level < high_levels ? high_levels : levels();
    return static_cast<unsigned>(word >> 3 * (below - 1 - level)) & 7U;
  }
  /// The levels in which two particles of a leaf agree, from the root cube on.
  __device__ int common_levels(std::uint32_t i, std::uint32_t j) const {
    if (const std::uint64_t differing = high[i] ^ high[j]; differing != 0)
      return high_levels - 1 - (63 - __clzll(static_cast<long long>(differing))) / 3;
    if (low_levels == 0) return high_levels;
    const std::uint64_t differing = low[i] ^ low[j];
    return differing == 0 ? levels() : levels() - 1 - (63 - __clzll(static_cast<long long>(differing))) / 3;
  }
};

/// Sorts the particles of leaves along a curve, all leaves at once.
///
/// Keys have as many levels as the trees need: cells of more particles than a bucket are told apart as
/// long as their coordinates differ. How many that is is found by trying, and remembered from call to call;
/// it does not change the trees. Cost: a radix sort over the bits of the leaf's number and three per level,
/// 24 bytes per 8 bits and particle; another one beyond 64 bits, or to order particles that coincide.
class OctreeKeys {
 public:
  /// bucket: particles of a cell that is not divided, at most.
  OctreeKeys(Curve curve, std::uint32_t bucket) : curve_(curve), bucket_(bucket) {}

  void sort(const LeafRecords& from);
  /// Gives the memory back.
  void release();

  KeyView view() const;
  /// Places of the records, in the order of (leaf, key). Where more particles than a bucket coincide, they
  /// are ordered by id.
  const std::uint32_t* order() const { return order_[now_].data(); }
  /// Levels of nodes that the deepest tree has at most.
  int depth() const { return depth_; }

 private:
  /// The words that particles are sorted by, the last one first.
  enum class Word { id, low, high, leaf };
  void make_keys(Word word, const LeafRecords& from, std::uint64_t* keys) const;
  void sort_by(Word word, const LeafRecords& from);
  void sort_once(const LeafRecords& from);

  Curve curve_;
  std::uint32_t bucket_;
  int wanted_ = 12;     ///< levels to try first
  bool by_id_ = false;  ///< particles coincide
  int levels_ = 0, depth_ = 0;
  bool leaf_in_high_ = true;
  int now_ = 0;  ///< which of the two arrays is sorted
  DeviceArray<std::uint64_t> keys_[2], low_;
  DeviceArray<std::uint32_t> order_[2];
  DeviceArray<std::byte> scratch_;
};

}  // namespace grove::cuda
