#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/local_expansion.hpp"

namespace grove::cuda {

/// Shared memory of a GroupExpansion.
struct ExpansionMemory {
  ExpansionFrame frame;
  float term[ExpansionTerm::most];
  float rest[ExpansionTerm::most];  ///< what rounding has left out of these
};

/// Sums v[k], k < 2 half, over the lanes that differ in the bits of 2 half - 1; v[0] is then the sum number
/// l % (2 half) of a lane l.
template <int half>
__device__ __forceinline__ void scatter_sums(float (&v)[16]) {
  if constexpr (half > 0) {
    const bool is_upper = (lane_index() & half) != 0;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const float sent = is_upper ? v[k] : v[k + half], kept = is_upper ? v[k + half] : v[k];
      v[k] = kept + __shfl_xor_sync(~0u, sent, half);
    }
    scatter_sums<half / 2>(v);
  }
}

/// Adds v[k] of all lanes, in an order that is always the same; lane l gets the sum number l % 16.
__device__ __forceinline__ float sum_over_lanes(float (&v)[16]) {
  scatter_sums<8>(v);
  return v[0] + __shfl_xor_sync(~0u, v[0], 16);
}

/// The same of v[k], k < 4; lane l gets the sum number l % 4.
__device__ __forceinline__ float sum_four_over_lanes(float (&v)[16]) {
  scatter_sums<2>(v);
#pragma unroll
  for (int apart = 4; apart < 32; apart *= 2) v[0] += __shfl_xor_sync(~0u, v[0], apart);
  return v[0];
}

/// The expansion of a group's far cells about its middle (kernels/math/local_expansion.hpp), by a warp: a
/// lane has a cell, then the sum of a term over 32 of them.
template <Order order>
class GroupExpansion {
 public:
  __device__ explicit GroupExpansion(ExpansionMemory& memory) : m_(memory) {}

  /// By all lanes.
  __device__ void begin(const TargetBounds& targets, float excess) {
    __syncwarp();
    const int lane = lane_index();
    if (lane == 0) m_.frame = ExpansionFrame::of(targets, excess, order);
    m_.term[lane] = m_.rest[lane] = 0;
    if (has_more && lane < more) m_.term[32 + lane] = m_.rest[32 + lane] = 0;
    __syncwarp();
    has_some_ = false;
  }
  __device__ bool takes(const NodeCore& core, float distance2) const {
    return m_.frame.expands<order>(core.mass, std::abs(core.softening), distance2);
  }

  /// Adds the cells of those lanes that have one. centre: in the frame of the targets.
  __device__ void add(bool exists, const Vec3f& centre, float mass, const NodeMoments& m) {
    const float there = exists ? 1.F : 0.F;
    const auto cell =
        FarCell<float>::of(centre - m_.frame.middle, there * mass, there * (m.xx - m.zz),
                           there * (m.yy - m.zz), there * m.xy, there * m.xz, there * m.yz, m_.frame.radius);
    const auto fourth = FourthOrder<float>::of(cell.direction);
    const auto fifth = FifthOrder<float>::of(cell.direction);
    float terms[16];
    high_terms(cell, fourth, fifth, terms);
    const float high = sum_over_lanes(terms);
    float few[ExpansionTerm::low], last[ExpansionTerm::fifth] = {};
    low_terms(cell, fourth, few);
    if constexpr (has_more) {
      const PackedOctupole packed = octupole_of(m);
      add_octupole_terms(
          cell, FarOctupole<float>::of(packed.numbers(), there * packed.unit(), cell, 1 / m_.frame.radius),
          fourth, fifth, few);
      fifth_terms(cell, fifth, last);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) terms[k] = k < ExpansionTerm::low ? few[k] : last[k - ExpansionTerm::low];
    const float low = sum_over_lanes(terms);
    const int lane = lane_index();
    add_exactly(m_.term[lane], m_.rest[lane], lane < ExpansionTerm::high ? high : low);
    if constexpr (has_more) {
#pragma unroll
      for (int k = 0; k < more; ++k) terms[k] = last[ExpansionTerm::fifth - more + k];
      const float sum = sum_four_over_lanes(terms);
      if (lane < more) add_exactly(m_.term[32 + lane], m_.rest[32 + lane], sum);
    }
    has_some_ = true;
  }

  /// To be called once, before add_to().
  __device__ void end() {
    if (!has_some_) return;
    const int lane = lane_index();
    m_.term[lane] += m_.rest[lane];
    if (has_more && lane < more) m_.term[32 + lane] += m_.rest[32 + lane];
    __syncwarp();
  }
  /// Adds the force at a place.
  __device__ void add_to(const Vec3f& place, Accumulator<float>& sum) const {
    if (!has_some_) return;
    const float per_radius = 1 / m_.frame.radius;
    add_expansion<order>(m_.term, (place - m_.frame.middle) * per_radius, per_radius, sum);
  }

 private:
  static constexpr bool has_more = order == Order::octupole;
  static constexpr int more = ExpansionTerm::most - 32;  ///< terms, which no lane is left for

  ExpansionMemory& m_;
  bool has_some_ = false;
};

}  // namespace grove::cuda
