#pragma once

#include <cstdint>

#include "kernels/cuda/gas/sweep_frame.cuh"

/// A warp visits the neighbours of its targets, one a lane, in single precision.
///
/// A Visitor:
///   struct Kept { float4 place[gas_window]; ... }
///       what shared memory keeps of candidates; place: the offset, and something of the visitor's
///   struct Sum { ... }
///       of a target
///   static constexpr bool is_symmetric
///   float keep(Kept&, std::uint32_t at, std::uint32_t number, const Vec3f& offset) const
///       keeps a particle, place[at] too; returns its squared H in units of the frame, where H of sources
///       counts, else 0
///   void visit(Sum&, const Kept&, std::uint32_t at, const Vec3f& d, float r2) const
///       a neighbour, or the target itself
namespace grove::cuda {

inline constexpr std::uint32_t gas_tiles = 4;                ///< of 32 candidates in shared memory
inline constexpr std::uint32_t gas_window = 32 * gas_tiles;  ///< candidates there

/// Shared memory of a warp. most_tested: tiles whose hits are kept.
template <class Kept, std::uint32_t most_tested>
struct GasMemory {
  static_assert(most_tested >= gas_tiles);
  NeighbourTarget box;  ///< around the targets
  SweepFrame frame;
  union {
    NeighbourNode nodes[32];  ///< while candidates are gathered
    Kept kept;                ///< while they are visited
  };
  float limits[32];                     ///< squared H of the tile that is tested
  std::uint32_t queue[64];              ///< numbers of the candidates that are next
  std::uint32_t hits[most_tested][32];  ///< by tile and lane, a bit for each candidate
  CandidateRun runs[NeighbourGathering::most_runs];

  /// first: the flow at one of the targets.
  __device__ void surround(const NeighbourTree& tree, const WarpTarget& target, const FlowSource& first) {
    const NeighbourTarget around = box_of(target);
    __syncwarp();
    if (lane_index() == 0) {
      box = around;
      frame = SweepFrame::around(tree, around, first);
    }
    __syncwarp();
  }
};

/// Candidates come in tiles of 32, of which some are in a ring. Lanes go through their neighbours each at its
/// own pace: a lane that has no more in the oldest tile goes on to the next ones, and when none has, a new
/// tile takes its place.
template <class Visitor, std::uint32_t most_tested>
class GasSweep {
 public:
  using Memory = GasMemory<typename Visitor::Kept, most_tested>;

  /// All are kept by the caller. Only lanes with a target visit anything.
  __device__ GasSweep(const NeighbourTree& tree, Memory& memory, const WarpTarget& target,
                      const Visitor& visitor)
      : tree_(tree), memory_(memory), visitor_(visitor) {
    const float reach = static_cast<float>(target.reach * memory.frame.per_extent);
    offset_ = memory.frame.offset(target.place, tree.nearest);
    limit_ = target.is_target ? reach * reach : -1;
    edge_ = memory.frame.edge;
    per_edge_ = memory.frame.per_edge;
  }

  /// Visits the neighbours among so many runs of memory.runs, in their order. A kernel has this in one place
  /// for each kind of sum: the compiler might round sums otherwise in another, and where runs are parted
  /// depends on the number of ranks. is_tested: memory.hits has
  /// those of a sweep before through the same runs. is_open: the lane visits its neighbours.
  __device__ void go_through(std::uint32_t runs, bool is_tested, bool is_open, typename Visitor::Sum& sum) {
    runs_ = runs, is_tested_ = is_tested, is_open_ = is_open;
    next_ = queued_ = staged_ = hits_ = 0;
    own_ = ~0U;
    __syncwarp();
    for (std::uint32_t oldest = 0;; ++oldest) {
      while (staged_ - oldest < gas_tiles && stage()) {
      }
      if (oldest == staged_) return;
#pragma unroll 1
      for (;;) {
        advance();
        if (!__any_sync(~0U, own_ == oldest && hits_ != 0)) break;
        if (hits_ != 0) visit(sum);
      }
    }
  }

  /// Those of the last runs.
  __device__ std::uint32_t tiles() const { return staged_; }

 private:
  /// Puts the next tile into the ring. False if there are no more candidates.
  __device__ bool stage() {
    while (queued_ < 32 && next_ < runs_) queue(memory_.runs[next_++]);
    if (queued_ == 0) return false;
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const std::uint32_t count = min(queued_, 32U), begin = 32 * (staged_ % gas_tiles);
    __syncwarp();
    if (lane < count) {
      const std::uint32_t number = memory_.queue[lane];
      const Vec3f offset = memory_.frame.offset(tree_.position[number], tree_.nearest);
      const float limit = visitor_.keep(memory_.kept, begin + lane, number, offset);
      if constexpr (Visitor::is_symmetric) memory_.limits[lane] = limit;
    }
    const std::uint32_t later = memory_.queue[32 + lane];
    __syncwarp();
    queued_ -= count;
    if (lane < queued_) memory_.queue[lane] = later;
    if (!is_tested_) {
      const std::uint32_t hits = edge_ > 0 ? tested<true>(begin) : tested<false>(begin);
      memory_.hits[staged_ % most_tested][lane] = hits & (~0U << (32 - count));
    }
    ++staged_;
    return true;
  }

  __device__ void queue(const CandidateRun& run) {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    if (run.has(lane)) memory_.queue[queued_ + run.before(lane)] = run.first + lane;
    queued_ += run.count();
  }

  /// The neighbours of the lane's target in a tile, a bit each, the first one's the highest.
  template <bool wraps>
  __device__ std::uint32_t tested(std::uint32_t begin) const {
    std::uint32_t hits = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < 32; ++k) {
      const Vec3f d = separation<wraps>(begin + k);
      const float limit = Visitor::is_symmetric ? fmaxf(limit_, memory_.limits[k]) : limit_,
                  outside = fmaf(d.x, d.x, fmaf(d.y, d.y, fmaf(d.z, d.z, -limit)));
      hits = __funnelshift_l(__float_as_uint(outside), hits, 1);  // adds its sign
    }
    return limit_ < 0 ? 0 : hits;
  }

  /// From the lane's target to a candidate.
  template <bool wraps>
  __device__ Vec3f separation(std::uint32_t at) const {
    const float4 place = memory_.kept.place[at];
    const Vec3f d = Vec3f{place.x, place.y, place.z} - offset_;
    if constexpr (!wraps) return d;
    return {wrapped(d.x), wrapped(d.y), wrapped(d.z)};
  }
  __device__ float wrapped(float d) const { return fmaf(-edge_, rintf(d * per_edge_), d); }

  /// Goes on to the next tile in the ring that has hits, if the one before has no more.
  __device__ void advance() {
    while (hits_ == 0 && own_ + 1 != staged_) {
      ++own_;
      if (is_open_) hits_ = memory_.hits[own_ % most_tested][lane_index()];
    }
  }

  __device__ void visit(typename Visitor::Sum& sum) {
    const auto k = static_cast<std::uint32_t>(__clz(static_cast<int>(hits_)));
    const std::uint32_t at = 32 * (own_ % gas_tiles) + k;
    hits_ ^= 0x80000000U >> k;
    const Vec3f d = edge_ > 0 ? separation<true>(at) : separation<false>(at);
    visitor_.visit(sum, memory_.kept, at, d, norm2(d));
  }

  const NeighbourTree& tree_;
  Memory& memory_;
  const Visitor& visitor_;
  Vec3f offset_;  ///< of the lane's target
  float limit_;   ///< its squared radius; below 0: there is none
  float edge_, per_edge_;
  bool is_tested_ = false, is_open_ = false;
  std::uint32_t runs_ = 0;
  std::uint32_t next_ = 0;    ///< run that is queued next
  std::uint32_t queued_ = 0;  ///< candidates
  std::uint32_t staged_ = 0;  ///< tiles
  std::uint32_t own_ = ~0U;   ///< tile that the lane is in
  std::uint32_t hits_ = 0;    ///< of this one, those to come
};

}  // namespace grove::cuda
