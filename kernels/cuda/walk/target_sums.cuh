#pragma once

#include <type_traits>

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/walk/staged_batch.cuh"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/softening_table.hpp"

namespace grove::cuda {

/// The sums over all that acts on a group of up to `most` targets, 32 or 64, in batches of sources.
///
/// Each lane has two targets. With 32 targets the lanes are parted in two: each part takes every second
/// source of a batch. So a source that is read from shared memory, 48 bytes to each lane of a part, serves
/// two targets of it: with one, that memory is 86 % busy beside the sums, with two 72 %.
template <Order order, class Shape, int most>
class TargetSums {
 public:
  /// Targets with the number of a lane, or 32 more than that.
  static constexpr int rows = most / 32;

  __device__ explicit TargetSums(StagedBatch& batch) : batch_(batch) {}

  /// targets, softening: of the group's `count`. Lanes beyond them do as the last one.
  __device__ void load(const SourceParticle* targets, const float* softening, int count) {
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const int t = min(column_ + width * k, count - 1);
      position_[k] = targets[t].position;
      scale_[k] = scale_of(Shape{}, larger(softening[t], least_softening));
      sum_[k] = {{0, 0, 0}, 0};
    }
    has_kept_ = false;
  }

  /// Takes what has been summed out of the registers, before it is so large that rounding costs what has yet
  /// to come. In a nearly homogeneous periodic box what acts from all sides cancels but for a thousandth of
  /// it: plain sums of 20,000 sources err by 0.4 % of that (99th percentile).
  __device__ void keep(KeptSums& kept) {
    for_each_sum(
        [&](float& own, float& sum, float& rest) {
          if (!has_kept_) sum = rest = 0;
          add_exactly(sum, rest, own);
          own = 0;
        },
        kept);
    has_kept_ = true;
  }
  /// Puts all of it back, to be called once before total().
  __device__ void end(KeptSums& kept) {
    if (!has_kept_) return;
    for_each_sum([](float& own, float& sum, float& rest) { own = sum + (rest + own); }, kept);
  }

  /// The sum for the target with the number of the lane, or 32 * row more.
  __device__ Accumulator<float> total(int row) const {
    if constexpr (parts == 1) {
      return sum_[row];
    } else {
      Accumulator<float> sum[per_lane];
#pragma unroll
      for (int k = 0; k < per_lane; ++k) {
        const auto add_parts = [](float own) { return own + __shfl_xor_sync(~0u, own, width); };
        sum[k].acceleration = {add_parts(sum_[k].acceleration.x), add_parts(sum_[k].acceleration.y),
                               add_parts(sum_[k].acceleration.z)};
        sum[k].potential = add_parts(sum_[k].potential);
      }
      return part_ == 0 ? sum[0] : sum[1];
    }
  }

  /// True if cells beyond softening are Newtonian and have second moments, as an expansion takes them.
  static constexpr bool has_expansion = order != Order::monopole && std::is_same_v<Shape, Spline>;
  static constexpr Order node_order = order;
  /// The place of the target that total() is about.
  __device__ Vec3f position(int row) const {
    if constexpr (parts == 1)
      return position_[row];
    else
      return part_ == 0 ? position_[0] : position_[1];
  }

  /// Puts a cell of each lane into the batch, if it has one.
  __device__ BatchCounts stage_cell(bool exists, const Vec3f& centre, const NodeCore& core,
                                    const NodeMoments& moments, const TargetBounds& targets) {
    constexpr float least2 = least_softening * least_softening;
    const float softening = larger(std::abs(core.softening), least_softening);
    const CellSource s =
        CellSource::of(centre, core.mass, moments, softening, larger(moments.softening2, least2));
    int slot = 0;
    constexpr bool has_octupole = order == Order::octupole;  // accepted beyond softening only
    const BatchCounts counts =
        arrange(exists, !has_octupole && is_near(Shape{}, centre, softening, targets), slot);
    if (exists) {
      batch_.place[slot] = {s.centre.x, s.centre.y, s.centre.z, s.mass};
      batch_.second[slot] = {s.xx, s.yy, s.zz, s.xy};
      if constexpr (has_octupole)
        batch_.rest[slot] = {s.xz, s.yz, float_of_bits(s.octupole.low), float_of_bits(s.octupole.high)};
      else
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

  // Loops are one round long: twice as long, all that a walk runs through does not fit the caches of
  // instructions, and warps wait for instructions a third of their time.
  __device__ void add_cells(const BatchCounts& counts) {
#pragma unroll 1
    for (int j = 0; j < counts.far; j += round_size)
#pragma unroll
      for (int i = 0; i < round_size; i += parts) add_cell(Far{}, j + i + part_);
#pragma unroll 1
    for (int j = 0; j < counts.near; j += parts) add_near_cell(StagedBatch::slots - 1 - (j + part_));
    __syncwarp();
  }

  __device__ void add_particles(const BatchCounts& counts) {
#pragma unroll 1
    for (int j = 0; j < counts.far; j += round_size)
#pragma unroll
      for (int i = 0; i < round_size; i += parts) add_far_particle(j + i + part_);
#pragma unroll 1
    for (int j = 0; j < counts.near; j += parts) add_near_particle(StagedBatch::slots - 1 - (j + part_));
    __syncwarp();
  }

  /// Adds the effect of the targets on each other, not on themselves. targets: the group's `count`.
  __device__ void add_within(int count, const SourceParticle* targets) {
    if constexpr (parts == 1)
      add_within_by_rows(count, targets);
    else
      add_within_by_parts(count, targets);
    __syncwarp();
  }

 private:
  template <class F>
  __device__ void for_each_sum(const F& f, KeptSums& kept) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      Accumulator<float>& own = sum_[k];
      f(own.acceleration.x, kept.sum[4 * k][lane], kept.rest[4 * k][lane]);
      f(own.acceleration.y, kept.sum[4 * k + 1][lane], kept.rest[4 * k + 1][lane]);
      f(own.acceleration.z, kept.sum[4 * k + 2][lane], kept.rest[4 * k + 2][lane]);
      f(own.potential, kept.sum[4 * k + 3][lane], kept.rest[4 * k + 3][lane]);
    }
  }

  /// The shape of what is not near.
  using Far = std::conditional_t<std::is_same_v<Shape, Spline>, Newton, Shape>;

  /// True if softening may matter to a target. Plummer's always does: one shape serves all.
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
    const int near_count = __popc(all_near), lane = static_cast<int>(threadIdx.x % 32);
    if (lane < filled - far) put_nothing(far + lane);
    if (near_count % parts != 0 && lane == 31) put_nothing(StagedBatch::slots - 1 - near_count);
    return {filled, near_count};
  }

  __device__ void put_nothing(int slot) {
    constexpr float away = 1e15F;  // where nothing is, and its fifth power harmless
    batch_.place[slot] = {away, away, away, 0};
    batch_.second[slot] = batch_.rest[slot] = {0, 0, 0, 0};
  }

  __device__ void put_particle(int slot, const Vec3f& position, float mass, float scale) {
    batch_.place[slot] = {position.x, position.y, position.z, mass};
    batch_.rest[slot].w = scale;
  }

  /// Slots may differ from part to part, and in add_within() from lane to lane.
  template <class Softening>
  __device__ void add_cell(Softening softening, int j) {
    const float4 a = batch_.place[j];
    if constexpr (order == Order::octupole) {
      const float4 b = batch_.second[j], c = batch_.rest[j];
      const CellSource s{{a.x, a.y, a.z}, a.w, b.x, b.y, b.z, b.w, c.x, c.y, 0, 0, 0};
      const PackedOctupole octupole{bits_of_float(c.z), bits_of_float(c.w)};
      const Octupole<float> numbers = octupole.numbers();
#pragma unroll
      for (int k = 0; k < per_lane; ++k)
        add_octupole(s.centre - position_[k], s, numbers, octupole.unit(), sum_[k]);
    } else if constexpr (order == Order::quadrupole) {
      const float4 b = batch_.second[j], c = batch_.rest[j];
      const CellSource s{{a.x, a.y, a.z}, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, 0, 0};
#pragma unroll
      for (int k = 0; k < per_lane; ++k)
        add_quadrupole(softening, s.centre - position_[k], s, pair_scale(softening, scale_[k], c.w), sum_[k]);
    } else {
      const float scale = batch_.rest[j].w;
#pragma unroll
      for (int k = 0; k < per_lane; ++k)
        add_particle(softening, Vec3f{a.x, a.y, a.z} - position_[k], a.w,
                     pair_scale(softening, scale_[k], scale), sum_[k]);
    }
  }

  /// Softened only if it reaches a target. None has an octupole.
  __device__ void add_near_cell(int j) {
    if constexpr (order == Order::monopole) {
      add_near_particle(j);
    } else if constexpr (order == Order::quadrupole) {
      const float4 a = batch_.place[j];
      const float scale = batch_.rest[j].w;
      bool reaches = false;
#pragma unroll
      for (int k = 0; k < per_lane; ++k)
        reaches |= norm2(Vec3f{a.x, a.y, a.z} - position_[k]) < larger(scale_[k], scale);
      if (__any_sync(~0u, reaches))
        add_cell(Shape{}, j);
      else
        add_cell(Far{}, j);
    }
  }

  __device__ void add_far_particle(int j) {
    const float4 a = batch_.place[j];
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const float scale = std::is_same_v<Far, Newton> ? 0 : larger(scale_[k], batch_.rest[j].w);
      add_particle(Far{}, Vec3f{a.x, a.y, a.z} - position_[k], a.w, scale, sum_[k]);
    }
  }

  /// Softened only if it reaches a target.
  __device__ void add_near_particle(int j) {
    const float4 a = batch_.place[j];
    const float scale = batch_.rest[j].w;
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      add_near_pair(Vec3f{a.x, a.y, a.z} - position_[k], a.w, larger(scale_[k], scale), sum_[k]);
  }

  /// Target i takes i + 1, i + 3, ... in one part, i + 2, i + 4, ... in the other.
  __device__ void add_within_by_parts(int count, const SourceParticle* targets) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const float mass = targets[min(lane, count - 1)].mass;
    if (lane < count)
      put_particle(lane, part_ == 0 ? position_[0] : position_[1], mass, part_ == 0 ? scale_[0] : scale_[1]);
    __syncwarp();
#pragma unroll 1
    for (int k = 1; k < count; k += parts) {
#pragma unroll
      for (int t = 0; t < per_lane; ++t) {
        int source = min(column_ + width * t, count - 1) + k + part_;
        source -= source < count ? 0 : count;
        // The last one may be a part's own target, with nothing to do.
        add_within_group(t, source, k + part_ < count);
      }
    }
  }

  /// One row after the other gives the sources; a lane begins with the one of its own number.
  __device__ void add_within_by_rows(int count, const SourceParticle* targets) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const int sources = min(count - 32 * row, 32);
      if (sources <= 0) break;
      __syncwarp();
      if (lane < sources) put_particle(lane, position_[row], targets[32 * row + lane].mass, scale_[row]);
      __syncwarp();
#pragma unroll 1
      for (int k = 0; k < 32; ++k) {
        const int source = (lane + k) % 32;
        const bool exists = source < sources;
#pragma unroll
        for (int t = 0; t < per_lane; ++t)
          add_within_group(t, exists ? source : 0, exists && (k > 0 || t != row));
      }
    }
  }

  __device__ void add_within_group(int k, int j, bool exists) {
    const float4 a = batch_.place[j];
    add_near_pair(Vec3f{a.x, a.y, a.z} - position_[k], exists ? a.w : 0, larger(scale_[k], batch_.rest[j].w),
                  sum_[k]);
  }

  __device__ static void add_near_pair(const Vec3f& d, float mass, float scale, Accumulator<float>& sum) {
    const float r2 = norm2(d);
    if constexpr (std::is_same_v<Far, Newton>)
      add_pair(
          __any_sync(~0u, r2 < scale) ? pair_within(Shape{}, r2, scale) : softened_pair(Newton{}, r2, scale),
          d, mass, sum);
    else
      add_pair(softened_pair(Shape{}, r2, scale), d, mass, sum);
  }

  static constexpr int per_lane = 2, width = most / per_lane, parts = 32 / width;
  static_assert(round_size % parts == 0 && parts * width == 32);

  StagedBatch& batch_;
  const int part_ = static_cast<int>(threadIdx.x % 32) / width,
            column_ = static_cast<int>(threadIdx.x) % width;
  Vec3f position_[per_lane];  ///< of targets column_ and column_ + width, and the next likewise
  float scale_[per_lane];
  Accumulator<float> sum_[per_lane];
  bool has_kept_ = false;
};

}  // namespace grove::cuda
