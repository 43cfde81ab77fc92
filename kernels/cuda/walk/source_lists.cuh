#pragma once

#include "kernels/cuda/walk/group_scope.cuh"
#include "kernels/cuda/walk/staged_batch.cuh"

/// The sources that a GroupWalk has found and not summed yet.
namespace grove::cuda {

/// Codes of nodes, for less than two batches, in shared memory. By all lanes of a warp.
class SourceList {
 public:
  static constexpr int most = 2 * batch_size;

  /// memory: [most].
  __device__ explicit SourceList(std::uint32_t* memory) : code_(memory) {}

  __device__ void clear() { size_ = 0; }
  __device__ int size() const { return size_; }
  __device__ std::uint32_t operator[](int i) const { return code_[i]; }

  /// The codes of some lanes.
  __device__ void append(bool which, std::uint32_t code) {
    const unsigned votes = __ballot_sync(~0u, which);
    if (which) code_[size_ + __popc(votes & lanes_before())] = code;
    size_ += __popc(votes);
  }
  /// Without the last ones.
  __device__ void shrink(int count) { size_ -= count; }

 private:
  std::uint32_t* code_;
  int size_ = 0;
};

/// Buckets that are full or nearly so: as many make a batch as full ones would fill it.
class FullBuckets {
 public:
  __device__ explicit FullBuckets(std::uint32_t* memory) : list_(memory) {}

  __device__ void clear() { list_.clear(); }
  /// The buckets of some lanes.
  __device__ void append(bool which, std::uint32_t code, std::int32_t /*particles*/) {
    list_.append(which, code);
  }

  /// True if there is a batch to be summed: one that is full, or at last any.
  __device__ bool have_batch(bool is_last) const { return list_.size() >= (is_last ? 1 : per_batch); }

  /// A batch of particles, one for each lane.
  struct Batch {
    NodePlace place;  ///< of the lane's bucket
    bool exists;
    std::uint32_t particle;

    __device__ int count() const { return __popc(__ballot_sync(~0u, exists)); }
    /// The lane's particle in the frame of the targets.
    template <class Scope>
    __device__ Vec3f moved(const Scope& scope, const Vec3f& position) const {
      return scope.moved(position, place);
    }
  };

  /// Takes the last buckets.
  template <class Scope>
  __device__ Batch take(const Scope& scope, const NodeCodes& codes, const NodeLinks* all_links) {
    const int count = min(list_.size(), per_batch);
    list_.shrink(count);
    const int bucket = lane_index() / bucket_size, i = lane_index() % bucket_size;
    const NodePlace place = scope.place_of(codes, list_[list_.size() + min(bucket, count - 1)]);
    const NodeLinks links = all_links[place.node];
    return {place, bucket < count && i < links.count,
            place.particle + static_cast<std::uint32_t>(links.first + min(i, links.count - 1))};
  }

 private:
  static constexpr int per_batch = batch_size / bucket_size;

  SourceList list_;
};

/// Buckets of few particles, of which a batch takes as many as it holds.
class PackedBuckets {
 public:
  __device__ explicit PackedBuckets(std::uint32_t* memory) : list_(memory) {}

  __device__ void clear() {
    list_.clear();
    particles_ = 0;
  }
  __device__ void append(bool which, std::uint32_t code, std::int32_t particles) {
    list_.append(which, code);
    particles_ += __reduce_add_sync(~0u, which ? particles : 0);
  }

  __device__ bool have_batch(bool is_last) const {
    return !is_last ? particles_ >= batch_size : list_.size() > 0;
  }

  struct Batch {
    NodePlace place;  ///< of the bucket that the lane has looked at
    int bucket;       ///< the lane that has looked at the bucket of the lane's particle
    int all;          ///< particles
    std::uint32_t particle;
    bool exists;

    __device__ int count() const { return all; }
    template <class Scope>
    __device__ Vec3f moved(const Scope& scope, const Vec3f& position) const {
      return scope.moved(position, place, bucket);
    }
  };

  template <class Scope>
  __device__ Batch take(const Scope& scope, const NodeCodes& codes, const NodeLinks* all_links) {
    const int buckets = list_.size(), lane = lane_index();
    const NodePlace place = scope.place_of(codes, list_[buckets - 1 - min(lane, buckets - 1)]);
    const NodeLinks links = all_links[place.node];
    const int count = lane < buckets ? links.count : batch_size + 1;
    const int end = inclusive_sum(count), begin = end - count;
    const bool is_taken = end <= batch_size;
    const int taken = __popc(__ballot_sync(~0u, is_taken)), all = __shfl_sync(~0u, end, taken - 1);
    list_.shrink(taken);
    particles_ -= all;
    // Lane i takes the i-th particle, from the last bucket that begins with it or before.
    const unsigned begins = __reduce_or_sync(~0u, is_taken ? 1u << begin : 0);
    const int slot = min(lane, all - 1), bucket = __popc(begins << (31 - slot)) - 1;
    const std::uint32_t first = place.particle + static_cast<std::uint32_t>(links.first - begin);
    const std::uint32_t particle = __shfl_sync(~0u, first, bucket) + static_cast<std::uint32_t>(slot);
    return {place, bucket, all, particle, lane < all};
  }

 private:
  SourceList list_;
  int particles_ = 0;  ///< in all buckets of the list
};

}  // namespace grove::cuda
