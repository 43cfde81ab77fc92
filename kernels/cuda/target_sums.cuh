#pragma once

#include <type_traits>

#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/softening_table.hpp"

namespace grove::cuda {

/// Sources in a batch: one per lane.
inline constexpr int batch_size = 32;
/// What sums take at a time; batches are filled up to multiples with sources of no mass.
inline constexpr int round_size = 4;

/// A batch in shared memory: first those beyond the reach of softening, at the very end the others.
struct StagedBatch {
  static constexpr int slots = batch_size + round_size;
  float4 place[slots];   ///< and mass
  float4 second[slots];  ///< traceless second moments xx, yy, zz, xy of a cell
  float4 rest[slots];    ///< xz, yz and trace of a cell; softening scale of a cell or particle
};

/// How many are where.
struct BatchCounts {
  int far;  ///< filled up
  int near;
};

/// Scale of a softening length in the formulas of interaction.hpp.
GROVE_HOST_DEVICE inline float scale_of(Plummer, float length) { return length * length; }
GROVE_HOST_DEVICE inline float scale_of(Spline, float length) {
  const float radius = static_cast<float>(spline_radius_over_softening) * length;
  return radius * radius;
}
/// Of a cell.
GROVE_HOST_DEVICE inline float scale_of(Plummer, const CellSource& cell) { return cell.softening2; }
GROVE_HOST_DEVICE inline float scale_of(Spline, const CellSource& cell) {
  return scale_of(Spline{}, cell.softening);
}

/// What acts on a group of targets, a lane each, in batches of sources.
template <Order order, class Shape>
class TargetSums {
 public:
  __device__ explicit TargetSums(StagedBatch& batch) : batch_(batch) {}

  /// A lane's target, and the bounds of all.
  __device__ void load(const SourceParticle& target, float softening) {
    position_ = target.position;
    scale_ = scale_of(Shape{}, larger(softening, least_softening));
    pull_ = {{0, 0, 0}, 0};
  }

  const __device__ Pull<float>& pull() const { return pull_; }

  /// Puts a cell of each lane into the batch, if it has one.
  __device__ BatchCounts stage_cell(bool exists, const Vec3f& centre, const NodeCore& core,
                                    const NodeMoments& moments, const TargetBounds& targets) {
    constexpr float least2 = least_softening * least_softening;
    const float softening = larger(std::abs(core.softening), least_softening);
    const CellSource s =
        CellSource::of(centre, core.mass, moments, softening, larger(moments.softening2, least2));
    int slot = 0;
    const BatchCounts counts = arrange(exists, is_near(Shape{}, centre, softening, targets), slot);
    if (exists) {
      batch_.place[slot] = {s.centre.x, s.centre.y, s.centre.z, s.mass};
      batch_.second[slot] = {s.xx, s.yy, s.zz, s.xy};
      batch_.rest[slot] = {s.xz, s.yz, s.trace, scale_of(Shape{}, s)};
    }
    __syncwarp();
    return counts;
  }

  /// And a particle.
  __device__ BatchCounts stage_particle(bool exists, const Vec3f& position, float mass, float softening,
                                        const TargetBounds& targets) {
    const float length = larger(softening, least_softening);
    int slot = 0;
    const BatchCounts counts = arrange(exists, is_near(Shape{}, position, length, targets), slot);
    if (exists) put_particle(slot, position, mass, scale_of(Shape{}, length));
    __syncwarp();
    return counts;
  }

  __device__ void add_cells(const BatchCounts& counts) {
#pragma unroll 2
    for (int j = 0; j < counts.far; j += round_size)
#pragma unroll
      for (int i = 0; i < round_size; ++i) add_cell(Far{}, j + i);
#pragma unroll 1
    for (int j = 0; j < counts.near; ++j) add_near_cell(StagedBatch::slots - 1 - j);
    __syncwarp();
  }

  __device__ void add_particles(const BatchCounts& counts) {
    for (int j = 0; j < counts.far; j += round_size)
#pragma unroll
      for (int i = 0; i < round_size; ++i) add_far_particle(j + i);
#pragma unroll 1
    for (int j = 0; j < counts.near; ++j) add_near_particle(StagedBatch::slots - 1 - j);
    __syncwarp();
  }

  /// What the targets do to each other; to themselves nothing. In round k lane i takes target i + k. mass: of
  /// a lane's target. Lanes beyond `count` do as the last one.
  __device__ void add_within(int count, float mass) {
    if (lane_ < count) put_particle(lane_, position_, mass, scale_);
    __syncwarp();
    int source = min(lane_, count - 1);
    for (int k = 1; k < count; ++k) {
      source = source + 1 < count ? source + 1 : 0;
      add_near_particle(source);
    }
    __syncwarp();
  }

 private:
  /// The shape of what is not near.
  using Far = std::conditional_t<std::is_same_v<Shape, Spline>, Newton, Shape>;

  /// Whether softening may matter to a target. Plummer's always does: one shape serves all.
  __device__ static bool is_near(Plummer, const Vec3f&, float, const TargetBounds&) { return false; }
  __device__ static bool is_near(Spline, const Vec3f& place, float softening, const TargetBounds& targets) {
    const float scale = scale_of(Spline{}, larger(softening, targets.softening));
    return !(targets.distance2(place) > scale * (1 + leaf_margin));
  }

  /// Gives the sources of the lanes their slots, and fills up the far ones.
  __device__ BatchCounts arrange(bool exists, bool near, int& slot) {
    const unsigned before = lanes_before();
    const unsigned all_far = __ballot_sync(~0u, exists && !near),
                   all_near = __ballot_sync(~0u, exists && near);
    slot = near ? StagedBatch::slots - 1 - __popc(all_near & before) : __popc(all_far & before);
    const int far = __popc(all_far), filled = (far + round_size - 1) / round_size * round_size;
    constexpr float away = 1e15F;  // where nothing is, and its fifth power harmless
    if (lane_ < filled - far) {
      batch_.place[far + lane_] = {away, away, away, 0};
      batch_.second[far + lane_] = batch_.rest[far + lane_] = {0, 0, 0, 0};
    }
    return {filled, __popc(all_near)};
  }

  __device__ void put_particle(int slot, const Vec3f& position, float mass, float scale) {
    batch_.place[slot] = {position.x, position.y, position.z, mass};
    batch_.rest[slot].w = scale;
  }

  template <class Softening>
  __device__ void add_cell(Softening softening, int j) {
    const float4 a = batch_.place[j], c = batch_.rest[j];
    const Vec3f d = Vec3f{a.x, a.y, a.z} - position_;
    const float scale = pair_scale(softening, scale_, c.w);
    if constexpr (order == Order::quadrupole) {
      const float4 b = batch_.second[j];
      const CellSource s{{a.x, a.y, a.z}, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, 0, 0};
      add_quadrupole(softening, d, s, scale, pull_);
    } else {
      add_particle(softening, d, a.w, scale, pull_);
    }
  }

  /// Softened only if it reaches a target.
  __device__ void add_near_cell(int j) {
    if constexpr (order == Order::monopole)
      add_near_particle(j);
    else if (__any_sync(~0u, distance2(j) < larger(scale_, batch_.rest[j].w)))
      add_cell(Shape{}, j);
    else
      add_cell(Far{}, j);
  }

  __device__ void add_far_particle(int j) {
    const float4 a = batch_.place[j];
    const float scale = std::is_same_v<Far, Newton> ? 0 : larger(scale_, batch_.rest[j].w);
    add_particle(Far{}, Vec3f{a.x, a.y, a.z} - position_, a.w, scale, pull_);
  }

  /// Softened only if it reaches a target; j may differ from lane to lane.
  __device__ void add_near_particle(int j) {
    const float4 a = batch_.place[j];
    const Vec3f d = Vec3f{a.x, a.y, a.z} - position_;
    const float r2 = norm2(d), scale = larger(scale_, batch_.rest[j].w);
    if constexpr (std::is_same_v<Far, Newton>)
      add_pair(
          __any_sync(~0u, r2 < scale) ? pair_within(Shape{}, r2, scale) : softened_pair(Newton{}, r2, scale),
          d, a.w, pull_);
    else
      add_pair(softened_pair(Shape{}, r2, scale), d, a.w, pull_);
  }

  __device__ float distance2(int j) const {
    const float4 a = batch_.place[j];
    return norm2(Vec3f{a.x, a.y, a.z} - position_);
  }

  StagedBatch& batch_;
  const int lane_ = static_cast<int>(threadIdx.x % 32);
  Vec3f position_;  ///< of this lane's target, and the next likewise
  float scale_;
  Pull<float> pull_;
};

}  // namespace grove::cuda
