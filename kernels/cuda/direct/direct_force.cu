#include "kernels/cuda/direct/direct_force.hpp"

#include <algorithm>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/warp_bounds.cuh"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/softening_shape.hpp"
#include "kernels/math/softening_table.hpp"

namespace grove::cuda {
namespace {

constexpr int force_threads = 128;
/// Targets of a thread: what is read of a source serves them all.
constexpr int slots = 4;
constexpr int batch = 32;
/// Particles that have an origin in common; a block has as many targets.
constexpr int tile_size = force_threads * slots;
/// Sources in shared memory at a time.
constexpr int stage_size = force_threads;
constexpr int stages_per_tile = tile_size / stage_size;
constexpr int batches_per_stage = stage_size / batch;
/// A block goes through so many stages at most, and there are as many blocks as this if there can be.
constexpr std::uint64_t most_stages = 8, wanted_blocks = 1u << 13;
/// Blocks of one launch, each of which leaves 8 KiB.
constexpr std::uint64_t most_force_blocks = 1u << 15;

/// Particles as sources and as targets, in tiles; walk units. The last tile is full, with what has no mass
/// and is far from everything.
struct DirectTiles {
  double per_length;    ///< from units of the run to walk units
  std::uint64_t count;  ///< of particles
  Vec3d* origin;        ///< [tiles] units of the run
  SourceParticle* sources;
  float* scale;  ///< of softening, squared: that of a pair is the larger
};

struct PrepareRule {
  double per_mass;
  float scale_of_type[particle_types];
};

__global__ void __launch_bounds__(force_threads)
    prepare(const PrepareRule rule, const DirectParticles particles, const DirectTiles tiles) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * force_threads + threadIdx.x, tile = i / tile_size,
                      first = tile * tile_size,
                      in_tile = min(std::uint64_t{tile_size}, particles.count - first);
  const Vec3d origin = particles.position[first + in_tile / 2];
  if (i == first) tiles.origin[tile] = origin;
  constexpr float far = 1e15F;
  SourceParticle source{{far, far, far}, 0};
  float scale = 0;
  if (i < particles.count) {
    source = {((particles.position[i] - origin) * tiles.per_length).as<float>(),
              static_cast<float>(particles.mass[i] * rule.per_mass)};
    scale = rule.scale_of_type[particles.type[i]];
  }
  tiles.sources[i] = source;
  tiles.scale[i] = scale;
}

/// The task of this launch: tiles first_tile .. first_tile + tiles - 1, of them targets first .. last - 1.
struct Wanted {
  std::uint64_t first, last;
  const std::uint8_t* rung;  ///< of these; or null
  int first_active;
  std::uint32_t first_tile, tiles;
  std::uint32_t stages, stages_per_part, parts;

  __device__ bool holds(std::uint64_t p) const {
    return p >= first && p < last && (!rung || rung[p - first] >= first_active);
  }
};

struct StageMemory {
  float4 source[stage_size];
  float scale[stage_size];
};

/// The effect of a part of the sources on a tile of targets. A warp has 128 consecutive ones, so that the box
/// around them is small.
template <class Shape>
class TileSum {
 public:
  __device__ TileSum(const DirectTiles& tiles, const Wanted& wanted, std::uint32_t tile, StageMemory& memory)
      : from_(tiles), m_(memory), tile_(tile) {
    const std::uint64_t warp_first = std::uint64_t{tile} * tile_size + warp_ * (batch * slots);
    bool is_any_wanted = false;
    bounds_ = no_bounds();
    float scale = 0;
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const std::uint64_t p = warp_first + static_cast<std::uint64_t>(batch * k + lane_);
      is_any_wanted |= wanted.holds(p);
      const SourceParticle target = from_.sources[p];
      position_[k] = target.position;
      scale_[k] = from_.scale[p];
      if (p < from_.count) widen(bounds_, target.position, target.position, 0, 0);
      scale = larger(scale, scale_[k]);
      sum_[k] = {{0, 0, 0}, 0};
      total_[k] = {{0, 0, 0}, 0};
    }
    is_wanted_ = __any_sync(~0u, is_any_wanted);
    bounds_ = warp_union(bounds_);
    largest_scale_ = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(scale)));
  }

  /// Stages first .. last - 1.
  __device__ void run(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t stage = first; stage < last; ++stage) {
      __syncthreads();
      load(stage);
      __syncthreads();
      if (is_wanted_)
        for (int b = 0; b < batches_per_stage; ++b) add_batch(stage, b * batch);
      if (stage % stages_per_tile == stages_per_tile - 1 || stage + 1 == last) flush();
    }
  }

  /// sums: of the tile.
  __device__ void store(float4* sums) const {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      const Accumulator<double>& total = total_[k];
      const Vec3f a = total.acceleration.as<float>();
      sums[warp_ * (batch * slots) + batch * k + lane_] = {a.x, a.y, a.z,
                                                           static_cast<float>(total.potential)};
    }
  }

 private:
  __device__ void load(std::uint32_t stage) const {
    const std::uint32_t tile = stage / stages_per_tile;
    const Vec3f shift = ((from_.origin[tile] - from_.origin[tile_]) * from_.per_length).as<float>();
    const std::uint64_t p = std::uint64_t{stage} * stage_size + threadIdx.x;
    const SourceParticle source = from_.sources[p];
    const Vec3f place = source.position + shift;
    m_.source[threadIdx.x] = {place.x, place.y, place.z, source.mass};
    m_.scale[threadIdx.x] = from_.scale[p];
  }

  /// The sources at j .. j + batch - 1 of the stage.
  __device__ void add_batch(std::uint32_t stage, int j) {
    const int in_tile = static_cast<int>(stage % stages_per_tile) * stage_size + j;
    if (stage / stages_per_tile == tile_ && in_tile / (batch * slots) == warp_) {
      add_own(j, in_tile / batch % slots);
      return;
    }
    if constexpr (std::is_same_v<Shape, Plummer>) {
      add_all(Plummer{}, j);  // Plummer softening has no end
    } else {
      const unsigned near = __ballot_sync(~0u, is_near(j + lane_));
      if (near == 0)
        add_all(Newton{}, j);
      else
        add_some_near(j, near);
    }
  }

  /// True if softening may matter to a target of the warp.
  __device__ bool is_near(int j) const {
    const float4 s = m_.source[j];
    return !(bounds_.distance2({s.x, s.y, s.z}) > larger(m_.scale[j], largest_scale_) * (1 + leaf_margin));
  }

  template <class Softening>
  __device__ void add_all(Softening softening, int first) {
#pragma unroll 8
    for (int j = 0; j < batch; ++j) add(softening, first + j);
  }

  __device__ void add_some_near(int first, unsigned near) {
#pragma unroll 1
    for (int j = 0; j < batch; ++j)
      if (near >> j & 1)
        add(Shape{}, first + j);
      else
        add(Newton{}, first + j);
  }

  template <class Softening>
  __device__ void add(Softening softening, int j) {
    const float4 s = m_.source[j];
    const float scale = std::is_same_v<Softening, Newton> ? 0 : m_.scale[j];
#pragma unroll
    for (int k = 0; k < slots; ++k)
      add_particle(softening, Vec3f{s.x, s.y, s.z} - position_[k], s.w,
                   pair_scale(softening, scale_[k], scale), sum_[k]);
  }

  /// A batch that is also the targets of this slot.
  __device__ void add_own(int first, int slot) {
#pragma unroll 1
    for (int j = 0; j < batch; ++j) {
      const float4 s = m_.source[first + j];
      const float scale = m_.scale[first + j];
#pragma unroll
      for (int k = 0; k < slots; ++k) {
        const bool is_self = k == slot && j == lane_;
        Vec3f d = Vec3f{s.x, s.y, s.z} - position_[k];
        if (is_self) d.x = 1;
        add_particle(Shape{}, d, is_self ? 0 : s.w, pair_scale(Shape{}, scale_[k], scale), sum_[k]);
      }
    }
  }

  __device__ void flush() {
#pragma unroll
    for (int k = 0; k < slots; ++k) {
      total_[k].acceleration += sum_[k].acceleration.template as<double>();
      total_[k].potential += sum_[k].potential;
      sum_[k] = {{0, 0, 0}, 0};
    }
  }

  const DirectTiles& from_;
  StageMemory& m_;
  const std::uint32_t tile_;
  const int lane_ = static_cast<int>(threadIdx.x % 32), warp_ = static_cast<int>(threadIdx.x / 32);

  Vec3f position_[slots];
  float scale_[slots];
  Accumulator<float> sum_[slots];     ///< of this tile of sources
  Accumulator<double> total_[slots];  ///< of those before
  TargetBounds bounds_;               ///< around the targets of the warp
  float largest_scale_;               ///< of theirs
  bool is_wanted_;                    ///< whether any of them is
};

/// parts: [parts][tiles of the launch][tile_size].
template <class Shape>
__global__ void __launch_bounds__(force_threads, 4)
    sum_tiles(const DirectTiles tiles, const Wanted wanted, float4* parts) {
  __shared__ StageMemory memory;
  const std::uint32_t part = blockIdx.x / wanted.tiles, tile = wanted.first_tile + blockIdx.x % wanted.tiles;
  const std::uint32_t first = part * wanted.stages_per_part;
  TileSum<Shape> sum(tiles, wanted, tile, memory);
  sum.run(first, min(first + wanted.stages_per_part, wanted.stages));
  sum.store(parts + std::uint64_t{blockIdx.x} * tile_size);
}

constexpr int columns = 32, rows = 8;

struct Factors {
  double acceleration, potential;  ///< from walk units to units of the run
};

/// 32 targets a block: eight threads each add every eighth part, then one adds their sums.
__global__ void __launch_bounds__(columns* rows)
    add_parts(const Factors factors, const Wanted wanted, const float4* parts, Vec3f* acceleration,
              float* potential) {
  __shared__ Accumulator<double> sums[rows][columns];
  const int column = static_cast<int>(threadIdx.x) % columns, row = static_cast<int>(threadIdx.x) / columns;
  const std::uint64_t place = std::uint64_t{blockIdx.x} * columns + static_cast<std::uint64_t>(column);
  const std::uint64_t width = std::uint64_t{wanted.tiles} * tile_size;
  Accumulator<double> sum{{0, 0, 0}, 0};
  for (auto part = static_cast<std::uint32_t>(row); part < wanted.parts; part += rows) {
    const float4 one = parts[part * width + place];
    sum.acceleration += Vec3d{one.x, one.y, one.z};
    sum.potential += one.w;
  }
  sums[row][column] = sum;
  __syncthreads();
  if (row != 0) return;
  for (int other = 1; other < rows; ++other) {
    sum.acceleration += sums[other][column].acceleration;
    sum.potential += sums[other][column].potential;
  }
  const std::uint64_t p = std::uint64_t{wanted.first_tile} * tile_size + place;
  if (!wanted.holds(p)) return;
  acceleration[p - wanted.first] = (sum.acceleration * factors.acceleration).as<float>();
  potential[p - wanted.first] = static_cast<float>(-factors.potential * sum.potential);
}

constexpr std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

void direct_force(const GravityParameters& gravity, const WalkUnits& units, const DirectParticles& particles,
                  const DirectTargets& targets, Vec3f* acceleration, float* potential) {
  const auto [first, count, rung, first_active] = targets;
  if (count == 0) return;
  const std::uint64_t tiles = quotient_up(particles.count, tile_size),
                      stages = quotient_up(particles.count, stage_size);
  const DeviceArray<Vec3d> origin(tiles);
  const DeviceArray<SourceParticle> sources(tiles * tile_size);
  const DeviceArray<float> scale(tiles * tile_size);
  const DirectTiles prepared{1 / units.length, particles.count, origin.data(), sources.data(), scale.data()};
  const SofteningTable table = softening_table(gravity, units);
  PrepareRule rule{1 / units.mass, {}};
  const float* const scales = with_shape(gravity.kernel, [&](auto shape) { return table.scales(shape); });
  std::copy_n(scales, particle_types, rule.scale_of_type);
  prepare<<<static_cast<std::uint32_t>(tiles * slots), force_threads>>>(rule, particles, prepared);
  launched("Grove::cuda::direct_force::prepare", particles.count * 53);

  const std::uint64_t per_part = std::clamp(stages * tiles / wanted_blocks, std::uint64_t{1}, most_stages),
                      parts = quotient_up(stages, per_part),
                      tiles_at_once = std::max(std::uint64_t{1}, most_force_blocks / parts);
  const std::uint64_t first_tile = first / tile_size, last_tile = quotient_up(first + count, tile_size);
  const DeviceArray<float4> sums(std::min(tiles_at_once, last_tile - first_tile) * parts * tile_size);
  const double factor = gravity.gravitational_constant * units.mass / units.length;
  const Factors factors{factor / units.length, factor};
  const auto kernel = with_shape(gravity.kernel, [](auto shape) { return sum_tiles<decltype(shape)>; });
  for (std::uint64_t tile = first_tile; tile < last_tile; tile += tiles_at_once) {
    const auto now = static_cast<std::uint32_t>(std::min(tiles_at_once, last_tile - tile));
    const Wanted wanted{first,
                        first + count,
                        rung,
                        first_active,
                        static_cast<std::uint32_t>(tile),
                        now,
                        static_cast<std::uint32_t>(stages),
                        static_cast<std::uint32_t>(per_part),
                        static_cast<std::uint32_t>(parts)};
    kernel<<<wanted.tiles * wanted.parts, force_threads>>>(prepared, wanted, sums.data());
    launched("Grove::cuda::direct_force::sum_tiles");
    add_parts<<<wanted.tiles*(tile_size / columns), columns * rows>>>(factors, wanted, sums.data(),
                                                                      acceleration, potential);
    launched("Grove::cuda::direct_force::add_parts");
  }
}

}  // namespace grove::cuda
