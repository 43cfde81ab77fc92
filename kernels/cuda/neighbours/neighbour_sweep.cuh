#pragma once

#include <cstdint>

#include "kernels/cuda/neighbours/neighbour_gathering.cuh"
#include "kernels/cuda/neighbours/united_bounds.cuh"

/// A warp visits the neighbours of its targets, one a lane, among the candidates of their group.
///
/// A sweep's Visitor:
///   struct Kept { static constexpr std::uint32_t window; ... }
///       what shared memory keeps of so many candidates
///   struct Sum { ... }
///       of a target
///   void keep(Kept&, const CandidateRun&, std::uint32_t at) const
///       all lanes together; the first candidate of the run has place `at`, see ring_place()
///   void visit(Sum&, const WarpTarget&, const Kept&, std::uint32_t place, const Vec3d& d, double r2) const
namespace grove::cuda {

/// The targets of a warp, one a lane.
struct WarpTarget {
  std::uint32_t number;
  bool is_target;
  Vec3d place;
  double reach;
};

/// The box around all of them.
__device__ inline NeighbourTarget box_of(const WarpTarget& target) {
  NeighbourBounds bounds;
  if (target.is_target) bounds.add(target.place, target.reach);
  return united(bounds).target();
}

/// Places beside the middle of a group in single precision, in units of its extent: half the longest side of
/// its box and the largest radius. By them all neighbours are found, and few others.
///
/// An offset of a target is at most 1, that of a neighbour at a distance below r at most 1 + r. With their
/// difference they are rounded by 2^-24 (2 + 2 r) on each axis, so that the distance errs by less than
/// 2^-22 (1 + r), its square by 2^-22 of it more. In a periodic box offsets also err by less than 2^-50 of
/// its edge; and where r and the box reach over almost half the edge another image may be the nearest.
struct RoughPlaces {
  Vec3d middle;
  double half, per_extent, margin;

  __device__ static RoughPlaces around(const NeighbourTarget& box, const NearestImage& nearest) {
    const double half = max(box.half.x, max(box.half.y, box.half.z)), extent = half + box.reach;
    if (!(extent > 1e-300)) return {box.centre, half, 0, 1};  // a point: all that is in its reach is near
    return {box.centre, half, 1 / extent, 0x1p-20 + 0x1p-50 * nearest.edge / extent};
  }

  __device__ Vec3f offset(const Vec3d& place, const NearestImage& nearest) const {
    return (per_extent * nearest(place - middle)).as<float>();
  }
  /// The squared distance of two offsets is at most this one if the places are closer than the radius.
  __device__ float limit(double radius, const NearestImage& nearest) const {
    if (!nearest.is_open() && half + radius > 0.49 * nearest.edge) return INFINITY;
    const double r = (1 + 0x1p-20) * per_extent * radius + margin;
    return static_cast<float>(r * r);
  }
};

/// Candidates that have been tested, one run after the other, in a ring of places.
template <bool is_symmetric, class Kept>
struct CandidateRing {
  double x[Kept::window], y[Kept::window], z[Kept::window];
  double reach[is_symmetric ? Kept::window : 1];
  Kept kept;
};

/// The place of a candidate that comes so many behind another one in the ring, 32 at most.
template <class Kept>
__device__ std::uint32_t ring_place(std::uint32_t at, std::uint32_t behind) {
  const std::uint32_t place = at + behind;
  return place < Kept::window ? place : place - Kept::window;
}

inline constexpr std::uint32_t ring_runs = 8;  ///< runs in the ring, at most

/// Shared memory of a warp.
template <bool is_symmetric, class Kept>
struct WalkMemory {
  NeighbourTarget box;  ///< around the targets
  RoughPlaces rough;
  union {
    NeighbourNode nodes[32];                 ///< while candidates are gathered
    CandidateRing<is_symmetric, Kept> ring;  ///< while they are visited
  };
  float4 tested[32];                  ///< offset and limit of the candidates of a run
  std::uint32_t hits[ring_runs][32];  ///< by run and lane, a bit for each candidate
  std::uint32_t begin[ring_runs];     ///< place of the first candidate of a run
  CandidateRuns runs;

  __device__ void surround(const WarpTarget& target, const NearestImage& nearest) {
    const NeighbourTarget around = box_of(target);
    __syncwarp();
    if (lane_index() == 0) {
      box = around;
      rough = RoughPlaces::around(around, nearest);
    }
    __syncwarp();
  }
};

/// Lanes go through their neighbours each at its own pace: a lane that has no more in the oldest run of the
/// ring goes on to the next ones, and when none has, a new run takes its place.
template <bool is_symmetric, class Visitor>
class NeighbourSweep {
 public:
  using Kept = typename Visitor::Kept;
  using Memory = WalkMemory<is_symmetric, Kept>;
  static_assert(Kept::window >= 32);

  __device__ NeighbourSweep(const NeighbourTree& tree, Memory& memory, const WarpTarget& target,
                            const Visitor& visitor)
      : tree_(tree), memory_(memory), target_(target), visitor_(visitor) {
    offset_ = memory.rough.offset(target.place, tree.nearest);
    limit_ = memory.rough.limit(target.reach, tree.nearest);
  }

  /// Visits the neighbours in memory.runs, in their order. Neighbours in the sense of visit_bucket(), to the
  /// bit. A kernel has this in one place for each kind of sum: the compiler might round sums otherwise in
  /// another, and where runs are parted depends on the number of ranks.
  __device__ void go_through(std::uint32_t runs, typename Visitor::Sum& sum) {
    next_ = staged_ = at_ = hits_ = 0;
    own_ = ~0U;
    std::uint32_t passed = 0;  // candidates
    __syncwarp();
    for (std::uint32_t oldest = 0; oldest < runs; ++oldest) {
      while (next_ < runs && next_ - oldest < ring_runs &&
             staged_ - passed + memory_.runs.run[next_].count() <= Kept::window)
        stage(memory_.runs.run[next_]);
      __syncwarp();
#pragma unroll 1
      for (;;) {
        advance();
        if (!__any_sync(~0U, own_ == oldest && hits_ != 0)) break;
        if (hits_ != 0) visit(sum);
      }
      passed += memory_.runs.run[oldest].count();
    }
  }

 private:
  /// Puts the candidates of a run into the ring and tests them.
  __device__ void stage(const CandidateRun& run) {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const std::uint32_t slot = next_ % ring_runs, count = run.count();
    __syncwarp();
    if (run.has(lane)) {
      const std::uint32_t j = run.first + lane, behind = run.before(lane),
                          place = ring_place<Kept>(at_, behind);
      const Vec3d position = tree_.position[j];
      memory_.ring.x[place] = position.x;
      memory_.ring.y[place] = position.y;
      memory_.ring.z[place] = position.z;
      const Vec3f offset = memory_.rough.offset(position, tree_.nearest);
      float limit = 0;
      if constexpr (is_symmetric) {
        const double reach = tree_.reach[j];
        memory_.ring.reach[place] = reach;
        limit = memory_.rough.limit(reach, tree_.nearest);
      }
      memory_.tested[behind] = {offset.x, offset.y, offset.z, limit};
    }
    visitor_.keep(memory_.ring.kept, run, at_);
    if (lane == 0) memory_.begin[slot] = at_;
    __syncwarp();
    std::uint32_t hits = target_.is_target ? tested(count) : 0;
    const std::uint32_t own = target_.number - run.first;
    if (own < 32 && run.has(own)) hits &= ~(1U << run.before(own));
    memory_.hits[slot][lane] = hits;
    staged_ += count;
    at_ = ring_place<Kept>(at_, count);
    ++next_;
  }

  /// Those of so many candidates that may be neighbours of the lane's target, a bit each.
  __device__ std::uint32_t tested(std::uint32_t count) const {
    constexpr std::uint32_t at_once = 8;
    std::uint32_t hits = 0;
    for (std::uint32_t k = 0; k < count; k += at_once) {
      std::uint32_t some = 0;
#pragma unroll
      for (std::uint32_t m = 0; m < at_once; ++m) {
        const float4 other = memory_.tested[k + m];
        const float x = other.x - offset_.x, y = other.y - offset_.y, z = other.z - offset_.z;
        const float limit = is_symmetric ? fmaxf(other.w, limit_) : limit_;
        some |= (x * x + y * y + z * z <= limit ? 1U : 0U) << m;
      }
      hits |= some << k;
    }
    return count < 32 ? hits & ((1U << count) - 1) : hits;
  }

  /// Goes on to the next run in the ring that has hits, if the one before has no more.
  __device__ void advance() {
    while (hits_ == 0 && own_ + 1 != next_) {
      ++own_;
      hits_ = memory_.hits[own_ % ring_runs][lane_index()];
      begin_ = memory_.begin[own_ % ring_runs];
    }
  }

  /// The next hit, if it is a neighbour.
  __device__ void visit(typename Visitor::Sum& sum) {
    const auto k = static_cast<std::uint32_t>(__ffs(static_cast<int>(hits_))) - 1,
               place = ring_place<Kept>(begin_, k);
    hits_ &= hits_ - 1;
    const auto& ring = memory_.ring;
    const Vec3d d = tree_.nearest(Vec3d{ring.x[place], ring.y[place], ring.z[place]} - target_.place);
    const double r2 = squared_length(d);
    double reach = target_.reach;
    if constexpr (is_symmetric) reach = ring.reach[place] > reach ? ring.reach[place] : reach;
    if (r2 < reach * reach) visitor_.visit(sum, target_, ring.kept, place, d, r2);
  }

  const NeighbourTree& tree_;
  Memory& memory_;
  const WarpTarget& target_;
  const Visitor& visitor_;
  Vec3f offset_;  ///< of the lane's target
  float limit_;
  std::uint32_t next_ = 0;    ///< run that is staged next
  std::uint32_t staged_ = 0;  ///< candidates
  std::uint32_t at_ = 0;      ///< place of the next one in the ring
  std::uint32_t own_ = ~0U;   ///< run that the lane is in
  std::uint32_t hits_ = 0;    ///< of this one, those to come
  std::uint32_t begin_ = 0;   ///< place of its first candidate
};

}  // namespace grove::cuda
