#pragma once

#include <cstdint>

#include "kernels/cuda/gas/gas_gathering.cuh"

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

inline constexpr std::uint32_t gas_tiles = 2;                ///< of 32 candidates in shared memory
inline constexpr std::uint32_t gas_window = 32 * gas_tiles;  ///< candidates there

/// How candidates are parted into tiles of 32. If they are all that a part has, a tile has pieces of two
/// candidates from places equally far apart in the order of the tree. So each lane finds about as many
/// neighbours in a tile as the others. Else tiles follow the order of the tree.
struct GasTiles {
  static constexpr std::uint32_t piece = 2;
  std::uint32_t candidates;
  bool are_mixed;

  __device__ std::uint32_t count() const { return (candidates + 31) / 32; }
  /// The candidate of a lane in a tile; there may be none, and then it is at least `candidates`.
  __device__ std::uint32_t candidate(std::uint32_t tile, std::uint32_t lane) const {
    return are_mixed ? piece * (lane / piece * count() + tile) + lane % piece : 32 * tile + lane;
  }
};

/// Shared memory of a warp. tested: tiles whose hits are kept.
template <class Kept, std::uint32_t tested, class Candidates = GasCandidates>
struct GasMemory {
  static constexpr std::uint32_t most_tested = tested;
  static_assert(most_tested >= gas_tiles);
  SweepFrame frame;
  union {
    GasNodes nodes;  ///< while candidates are gathered
    Kept kept;       ///< while they are visited
  };
  float4 limits[8];                     ///< squared H of the tile that is tested
  std::uint32_t hits[most_tested][32];  ///< by tile and lane, a bit for each candidate
  Candidates candidates;

  /// first: the flow at one of the targets.
  __device__ void surround(const NeighbourTree& tree, const WarpTarget& target, const FlowSource& first) {
    const NeighbourTarget around = box_of(target);
    __syncwarp();
    if (lane_index() == 0) frame = SweepFrame::around(tree, around, first);
    __syncwarp();
  }
};

/// Candidates come in tiles of 32, of which some are in a ring. Lanes go through their neighbours each at its
/// own pace: a lane that has no more in the oldest tile goes on to the next ones, and when none has, a new
/// tile takes its place.
template <class Visitor, class Memory>
class GasSweep {
 public:
  static constexpr std::uint32_t most_tested = Memory::most_tested;

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

  /// Visits the neighbours among memory.candidates. is_tested: memory.hits has those of a sweep before
  /// through the same tiles. is_open: the lane visits its neighbours.
  __device__ void go_through(const GasTiles& tiles, bool is_tested, bool is_open,
                             typename Visitor::Sum& sum) {
    tiles_ = tiles, is_tested_ = is_tested, is_open_ = is_open;
    staged_ = hits_ = 0;
    own_ = ~0U;
    const std::uint32_t count = tiles.count();
    __syncwarp();
    for (std::uint32_t oldest = 0; oldest < count; ++oldest) {
      while (staged_ < count && staged_ - oldest < gas_tiles) stage();
#pragma unroll 1
      for (;;) {
        advance();
        if (!__any_sync(~0U, own_ == oldest && hits_ != 0)) break;
        if (hits_ != 0) visit(sum);
      }
    }
  }

 private:
  /// Puts the next tile into the ring.
  __device__ void stage() {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const std::uint32_t begin = 32 * (staged_ % gas_tiles), candidate = tiles_.candidate(staged_, lane);
    const bool is_there = candidate < tiles_.candidates;
    __syncwarp();
    if (is_there) {
      const std::uint32_t number = memory_.candidates.number[candidate];
      const Vec3f offset = memory_.frame.offset(tree_.position[number], tree_.nearest);
      const float limit = visitor_.keep(memory_.kept, begin + lane, number, offset);
      if constexpr (Visitor::is_symmetric) reinterpret_cast<float*>(memory_.limits)[lane] = limit;
    }
    const std::uint32_t there = __brev(__ballot_sync(~0U, is_there));
    __syncwarp();
    if (!is_tested_) {
      const std::uint32_t hits = edge_ > 0 ? tested<true>(begin) : tested<false>(begin);
      memory_.hits[staged_ % most_tested][lane] = hits & there;
    }
    ++staged_;
  }

  /// The neighbours of the lane's target in a tile, a bit each, the first one's the highest.
  template <bool wraps>
  __device__ std::uint32_t tested(std::uint32_t begin) const {
    std::uint32_t hits = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < 32; k += 4) {
      const float4 limits = Visitor::is_symmetric ? memory_.limits[k / 4] : float4{0, 0, 0, 0};
      test<wraps>(begin + k, limits.x, hits);
      test<wraps>(begin + k + 1, limits.y, hits);
      test<wraps>(begin + k + 2, limits.z, hits);
      test<wraps>(begin + k + 3, limits.w, hits);
    }
    return limit_ < 0 ? 0 : hits;
  }

  /// Adds a bit behind those of other candidates. limit: the squared H of this one, or 0.
  template <bool wraps>
  __device__ void test(std::uint32_t at, float limit, std::uint32_t& hits) const {
    const Vec3f d = separation<wraps>(at);
    const float outside = fmaf(d.x, d.x, fmaf(d.y, d.y, fmaf(d.z, d.z, -fmaxf(limit_, limit))));
    hits = __funnelshift_l(__float_as_uint(outside), hits, 1);  // its sign
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
  GasTiles tiles_{};
  bool is_tested_ = false, is_open_ = false;
  std::uint32_t staged_ = 0;  ///< tiles
  std::uint32_t own_ = ~0U;   ///< tile that the lane is in
  std::uint32_t hits_ = 0;    ///< of this one, those to come
};

}  // namespace grove::cuda
