#include "kernels/cuda/trees/far_cells.hpp"

#include <cuda_pipeline.h>

#include <stdexcept>
#include <type_traits>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/particles/column_sums.cuh"

namespace grove::cuda {
namespace {

/// A block per piece, and a warp of it (threadIdx.y) for each m and for what is no multipole.
__global__ void __launch_bounds__(32 * (far_moments + 2))
    sum_far_pieces(const Images images, const std::uint64_t* begin, const std::uint32_t* leaf,
                   const Ball* leaves, const Vec3d* position, const double* mass, FarMoments* parts) {
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  const BallPlaces places(leaves[leaf[blockIdx.x]], images);
  FarMoments& part = parts[blockIdx.x];
  if (threadIdx.y <= far_moments)
    return sum_column_of_warp<double, far_moments>(
        [&](std::uint64_t i) {
          return SummedParticle<double>{-places.place(position[i]), mass[i]};
        },
        first, end, [&](int l, int m, const DeviceComplex& sum) { part.multipoles(l, m) = sum; });
  double second = 0;
  for (std::uint64_t i = first + threadIdx.x; i < end; i += 32)
    second += mass[i] * norm2(places.place(position[i]));
  second = warp_sum(second);
  if (threadIdx.x == 0) part.second = second;
}

constexpr int far_values = sizeof(FarMoments) / sizeof(double);

/// A block per leaf. first: of its pieces.
__global__ void __launch_bounds__(threads)
    unite_far_pieces(const std::uint64_t* first, const double* parts, double* moments) {
  static_assert(far_values <= threads);
  const auto value = static_cast<int>(threadIdx.x);
  if (value >= far_values) return;
  double sum = 0;
  for (std::uint64_t piece = first[blockIdx.x]; piece < first[blockIdx.x + 1]; ++piece)
    sum += parts[piece * far_values + static_cast<unsigned>(value)];
  moments[blockIdx.x * std::size_t{far_values} + static_cast<unsigned>(value)] = sum;
}

/// The l of a place in Harmonics.
__device__ int degree_of(int index) {
  int l = 0;
  while ((l + 1) * (l + 2) / 2 <= index) ++l;
  return l;
}

constexpr int climb_threads = 96;
static_assert(FarMultipoles::size < climb_threads);

struct ClimbMemory {
  FarMultipoles own[2], regular[2], moved[2];
  double second[2];
  bool goes_on;
};

/// A block per start goes on from its cell until another one has to come: of two that meet the second goes on
/// with their parent. threadIdx.y: the child, threadIdx.x: the place in Harmonics.
template <class Number>
__global__ void __launch_bounds__(2 * climb_threads)
    climb_far(const FarClimb way, const FarMoments* starts, const Number* cells, const std::uint8_t* is_cover,
              int* arrivals) {
  __shared__ __align__(16) std::byte bytes[sizeof(ClimbMemory)];
  ClimbMemory& memory = *reinterpret_cast<ClimbMemory*>(bytes);
  const auto side = static_cast<int>(threadIdx.y), i = static_cast<int>(threadIdx.x);
  const int l = degree_of(i), m = i - FarMultipoles::index(l, 0);
  auto c = static_cast<std::int32_t>(cells[blockIdx.x]);
  if (side == 0) {
    if (i < FarMultipoles::size) way.moments[c].multipoles.of[i] = starts[blockIdx.x].multipoles.of[i];
    if (i == FarMultipoles::size) way.moments[c].second = starts[blockIdx.x].second;
  }
  for (;;) {
    if (is_cover && is_cover[c]) return;
    const std::int32_t up = way.parent[c];
    if (up < 0) return;
    __threadfence();
    __syncthreads();
    if (side == 0 && i == 0) memory.goes_on = atomicAdd(&arrivals[up], 1) != 0;
    __syncthreads();
    if (!memory.goes_on) return;
    __threadfence();
    const std::int32_t child = way.links[up].child + side;
    const Vec3d back = BallPlaces(way.balls[child], way.images).place(way.balls[up].middle);
    if (i < FarMultipoles::size) memory.own[side].of[i] = way.moments[child].multipoles.of[i];
    if (i <= far_moments) find_regular(i, back, memory.regular[side]);
    __syncthreads();
    if (i < FarMultipoles::size)
      memory.moved[side].of[i] = moved_multipole(memory.own[side], memory.regular[side], l, m);
    if (i == FarMultipoles::size)
      memory.second[side] = moved_low(low_moments(memory.own[side], way.moments[child].second), back).second;
    __syncthreads();
    if (side == 0) {
      if (i < FarMultipoles::size)
        way.moments[up].multipoles.of[i] = memory.moved[0].of[i] + memory.moved[1].of[i];
      if (i == FarMultipoles::size) way.moments[up].second = memory.second[0] + memory.second[1];
    }
    c = up;
  }
}

template <class Number>
void climb(const FarClimb& way, const FarMoments* starts, const Number* cells, std::uint32_t count,
           const std::uint8_t* is_cover) {
  if (count == 0) return;
  DeviceArray<int> arrivals(way.cells);
  arrivals.clear();
  climb_far<<<count, dim3(climb_threads, 2), 0, stream()>>>(way, starts, cells, is_cover, arrivals.data());
  launched("Grove::cuda::climb_far");
}

constexpr int sources_of_batch = 32, images_of_code = 32;
/// In a table of all sources of a batch: neither lanes that are sources nor lanes that are harmonics of one
/// meet in a bank.
constexpr int table_row = sources_of_batch + 1;

struct FarMemory {
  DeviceComplex multipoles[FarHarmonics::size * table_row], irregular[FarHarmonics::size * table_row];
  FarHarmonics local;
  Harmonics<far_order> images, regular;
  /// The terms of both but for the first, in powers of the ball's radius and in units of the box's mass: in
  /// single precision, as the forces are.
  Harmonics<far_cells_order, float> expansion;
  double first_term;
  /// Cells to be asked, the next one last. Those of a depth are 64 at most, and 32 if there are deeper ones:
  /// this is enough for a depth of 125.
  std::uint32_t stack[4096];
  std::uint32_t sources[2 * sources_of_batch];  ///< that wait
  int stacked, waiting;
};

struct FarWork {
  DeviceFarTree tree;
  FarField<far_order> far;
  FarUnits units;
  FarTargets targets;
  const std::uint64_t *begin, *first;  ///< of LeafPieces
  int first_active;
};

/// Goes down, by one warp, until the sources of a batch wait or nothing is left.
__device__ void descend_far(const DeviceFarTree& tree, const Ball& target, FarMemory& memory) {
  constexpr int most = sizeof(memory.stack) / sizeof(memory.stack[0]) - 64;
  const int lane = lane_index();
  int stacked = memory.stacked, waiting = memory.waiting;
  while (stacked > 0 && waiting < sources_of_batch) {
    const int taken = stacked < 32 ? stacked : 32;
    stacked -= taken;
    std::uint32_t code = 0;
    std::int32_t child = -1;
    bool acts = false;
    if (lane < taken) {
      code = memory.stack[stacked + taken - 1 - lane];
      const std::uint32_t cell = code / images_of_code;
      const Ball ball = tree.balls[cell].shifted(tree.images.shift(static_cast<int>(code % images_of_code)));
      const TopLinks links = tree.links[cell];
      acts = acts_from_far(ball, target);
      if (!acts) child = links.child;
    }
    const bool opens = child >= 0;
    const unsigned acting = __ballot_sync(~0U, acts), opening = __ballot_sync(~0U, opens);
    __syncwarp();  // ballots do not order memory: all have read the stack
    if (acts) memory.sources[waiting + __popc(acting & lanes_before())] = code;
    if (opens) {
      std::uint32_t* const at = memory.stack + stacked + 2 * __popc(opening & ~lanes_before()) - 2;
      const auto left = static_cast<std::uint32_t>(child) * images_of_code + code % images_of_code;
      at[0] = left + images_of_code;
      at[1] = left;
    }
    waiting += __popc(acting);
    stacked += 2 * __popc(opening);
    if (stacked > most) __trap();
    __syncwarp();
  }
  __syncwarp();
  if (lane == 0) {
    memory.stacked = stacked;
    memory.waiting = waiting;
  }
}

/// Begins to copy the multipoles of a batch into shared memory. Warps take a source each, lanes a number.
__device__ void begin_to_copy_multipoles(const DeviceFarTree& tree, int warp, int count, FarMemory& memory) {
  auto* const to = reinterpret_cast<double*>(memory.multipoles);
  for (int source = warp; source < count; source += warps) {
    const auto* const from =
        reinterpret_cast<const double*>(tree.moments[memory.sources[source] / images_of_code].multipoles.of);
    GROVE_UNROLL
    for (int i = lane_index(); i < 2 * FarHarmonics::size; i += 32)
      __pipeline_memcpy_async(&to[2 * (i / 2 * table_row + source) + i % 2], &from[i], sizeof(double));
  }
  __pipeline_commit();
}

/// Puts the irregular harmonics of a batch into shared memory: all warps but the last take one m or
/// two, lanes a source.
__device__ void put_irregular(const DeviceFarTree& tree, const BallPlaces& places, int warp,
                              FarMemory& memory) {
  const int lane = lane_index();
  const std::uint32_t code = memory.sources[lane];
  const Vec3d way = tree.images.shift(static_cast<int>(code % images_of_code));
  const Vec3d d = places.place(tree.balls[code / images_of_code].shifted(way).middle);
  const double inverse2 = 1 / norm2(d);
  const auto put_column = [&](int m) {
    DeviceComplex sectoral{sqrt(inverse2), 0};
    for (int power = 1; power <= m; ++power)
      sectoral = next_irregular_sectoral(power, sectoral, d.x, d.y, inverse2);
    visit_irregular_harmonics<far_cells_order>(
        m, sectoral, d.z, inverse2, [&](int l, const DeviceComplex& s) {
          memory.irregular[FarHarmonics::index(l, m) * table_row + lane] = s;
        });
  };
  static_assert(far_cells_order == 10 && warps == 8);
  if (warp < 7) put_column(warp);
  if (warp >= 3 && warp < 7) put_column(13 - warp);
}

/// Rows of an expansion, as they are shared out so that no warp has much more to do than others: warp w has
/// row w, and one of those behind them.
template <int warp>
struct FarRows {
  static constexpr int first = warp, second = warp + warps;
  static constexpr bool are_two = second <= far_cells_order;
};
/// The most harmonics of a warp's rows.
constexpr int most_of_rows = far_cells_order + 1 + (far_cells_order - warps + 1);
static_assert(FarRows<warps - 1>::first + 1 <= most_of_rows && far_cells_order < 2 * warps);

/// Adds what a source does to a warp's rows; every lane has a source of its own.
template <int warp>
__device__ void add_far_rows(const FarMemory& memory, DeviceComplex (&sum)[most_of_rows]) {
  using Rows = FarRows<warp>;
  const int lane = lane_index();
  const auto moment = [&](int l, int m) {
    return memory.multipoles[FarHarmonics::index(l, m) * table_row + lane];
  };
  const auto table = [&](int l, int m) {
    return memory.irregular[FarHarmonics::index(l, m) * table_row + lane];
  };
  add_local_row<Rows::first>(moment, table, sum);
  if constexpr (Rows::are_two) add_local_row<Rows::second>(moment, table, sum + Rows::first + 1);
}

/// Sums them over the lanes.
template <int warp>
__device__ void unite_far_rows(const DeviceComplex (&sum)[most_of_rows], FarMemory& memory) {
  using Rows = FarRows<warp>;
  const auto unite = [&](int j, const DeviceComplex* of_row) {
    GROVE_UNROLL
    for (int k = 0; k <= j; ++k) {
      const DeviceComplex all{warp_sum(of_row[k].re), warp_sum(of_row[k].im)};
      if (lane_index() == 0) memory.local(j, k) = all;
    }
  };
  unite(Rows::first, sum);
  if constexpr (Rows::are_two) unite(Rows::second, sum + Rows::first + 1);
}

/// take(std::integral_constant<int, warp>).
template <int number = 0, class Take>
__device__ void with_warp(int warp, const Take& take) {
  if (warp == number)
    take(std::integral_constant<int, number>{});
  else if constexpr (number + 1 < warps)
    with_warp<number + 1>(warp, take);
}

/// The warp that looks for sources: it has the least to do in its rows.
constexpr int searching_warp = warps - 1;

/// Moves the sources that wait behind a batch, which is in the tables, to the front, and looks for more.
__device__ void find_next_batch(const DeviceFarTree& tree, const Ball& target, int count, FarMemory& memory) {
  const int lane = lane_index();
  memory.sources[lane] = memory.sources[sources_of_batch + lane];
  if (lane == 0) memory.waiting -= count;
  __syncwarp();
  descend_far(tree, target, memory);
}

/// The expansion about the middle of a leaf's ball, by all warps of a block. Warps go through code of their
/// own in their rows alone: more would not fit the instruction caches. One looks for the next batch
/// meanwhile.
__device__ void expand_far(const DeviceFarTree& tree, const Ball& target, FarMemory& memory) {
  if (threadIdx.x == 0) {
    memory.stacked = tree.images.count();
    memory.waiting = 0;
  }
  if (static_cast<int>(threadIdx.x) < tree.images.count())
    memory.stack[tree.images.count() - 1 - static_cast<int>(threadIdx.x)] = threadIdx.x;
  __syncthreads();
  const BallPlaces places(target, tree.images);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = lane_index();
  DeviceComplex sum[most_of_rows];
  if (warp == searching_warp) descend_far(tree, target, memory);
  for (;;) {
    __syncthreads();
    const int count = memory.waiting < sources_of_batch ? memory.waiting : sources_of_batch;
    if (count == 0) break;
    begin_to_copy_multipoles(tree, warp, count, memory);
    if (lane < count) put_irregular(tree, places, warp, memory);
    __pipeline_wait_prior(0);
    __syncthreads();
    if (lane < count) with_warp(warp, [&](auto number) { add_far_rows<number>(memory, sum); });
    if (warp == searching_warp) find_next_batch(tree, target, count, memory);
  }
  with_warp(warp, [&](auto number) { unite_far_rows<number>(sum, memory); });
}

/// Adds the expansion of far images to that of cells, by all threads of a block. middle: of the ball, in the
/// box; radius: its, in edges; mass: not 0.
__device__ void add_images(const FarField<far_order>& far, const Vec3d& middle, double radius, double mass,
                           FarMemory& memory) {
  const auto i = static_cast<int>(threadIdx.x);
  static_assert(Harmonics<far_order>::size <= threads);
  if (i < Harmonics<far_order>::size) memory.images.of[i] = far.local.of[i];
  if (i <= far_order) find_regular(i, middle, memory.regular);
  __syncthreads();
  if (i < FarHarmonics::size) {
    const int l = degree_of(i), m = i - FarHarmonics::index(l, 0);
    DeviceComplex term = memory.local.of[i] + moved_local(memory.images, memory.regular, l, m);
    if (i == 0) {
      memory.first_term = term.re;
      term = {0, 0};
    }
    term = (1 / mass) * term;
    for (int power = 0; power < l; ++power) term = radius * term;
    memory.expansion.of[i] = {static_cast<float>(term.re), static_cast<float>(term.im)};
  }
  __syncthreads();
}

/// A block per leaf.
__global__ void __launch_bounds__(threads, 2) add_far_to_leaves(const __grid_constant__ FarWork work) {
  extern __shared__ __align__(16) std::byte far_bytes[];
  FarMemory& memory = *reinterpret_cast<FarMemory*>(far_bytes);
  const FarTargets& targets = work.targets;
  const std::uint64_t begin = work.begin[work.first[blockIdx.x]],
                      end = work.begin[work.first[blockIdx.x + 1]];
  bool is_active = false;
  for (std::uint64_t i = begin + threadIdx.x; i < end && !is_active; i += threads)
    is_active = targets.rung[i] >= work.first_active;
  if (!__syncthreads_or(is_active)) return;
  const Ball target = targets.leaves[blockIdx.x];
  expand_far(work.tree, target, memory);
  const BallPlaces places(target, work.tree.images);
  // In a ball without a radius all places are its middle, and any radius will do.
  const double own = target.radius * places.per_length, radius = own > 0x1p-33 ? own : 0x1p-33,
               mass = work.far.mass > 0 ? work.far.mass : 1;
  add_images(work.far, work.units.place(target.middle), radius, mass, memory);
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += threads) {
    if (targets.rung[i] < work.first_active) continue;
    const Vec3f place = (places.place(targets.position[i]) * (1 / radius)).as<float>();
    const ExpandedForce<float> expanded = local_force(memory.expansion, place);
    const FarForce rest = work.far.but_for_expansion(work.units.place(targets.position[i]));
    const DirectForce force =
        work.units.force(FarForce{expanded.acceleration.as<double>() * (mass / radius) + rest.acceleration,
                                  expanded.potential * mass - memory.first_term + rest.potential});
    targets.acceleration[i] = (targets.acceleration[i].as<double>() + force.acceleration).as<float>();
    targets.potential[i] = static_cast<float>(targets.potential[i] + force.potential);
  }
}

}  // namespace

void sum_leaf_moments(const Images& images, const LeafPieces& pieces, const Ball* leaves,
                      const Vec3d* position, const double* mass, FarMoments* moments) {
  if (pieces.count == 0) return;
  const DeviceArray<FarMoments> parts(pieces.are_leaves() ? 0 : pieces.count);
  sum_far_pieces<<<pieces.count, dim3(32, far_moments + 2), 0, stream()>>>(
      images, pieces.begin.data(), pieces.leaf.data(), leaves, position, mass,
      pieces.are_leaves() ? moments : parts.data());
  launched("Grove::cuda::sum_far_pieces");
  if (pieces.are_leaves()) return;
  unite_far_pieces<<<pieces.leaves, threads, 0, stream()>>>(
      pieces.first.data(), reinterpret_cast<const double*>(parts.data()), reinterpret_cast<double*>(moments));
  launched("Grove::cuda::unite_far_pieces");
}

void climb_from_leaves(const FarClimb& way, const FarMoments* leaf_moments, const std::uint32_t* leaf_cell,
                       std::uint32_t leaves, const std::uint8_t* is_cover) {
  climb(way, leaf_moments, leaf_cell, leaves, is_cover);
}

void climb_from_covers(const FarClimb& way, const FarMoments* cover_moments, const std::int32_t* cover_cells,
                       std::uint32_t covers) {
  climb(way, cover_moments, cover_cells, covers, nullptr);
}

void add_far_cells(const DeviceFarTree& tree, const FarField<far_order>& far, const FarUnits& units,
                   const LeafPieces& pieces, const FarTargets& targets, int first_active) {
  if (pieces.leaves == 0) return;
  if (tree.nodes > DeviceFarTree::most_nodes) throw std::length_error("far cells: too many cells");
  GROVE_CUDA(cudaFuncSetAttribute(add_far_to_leaves, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  sizeof(FarMemory)));
  add_far_to_leaves<<<pieces.leaves, threads, sizeof(FarMemory), stream()>>>(
      FarWork{tree, far, units, targets, pieces.begin.data(), pieces.first.data(), first_active});
  launched("Grove::cuda::add_far_cells");
}

}  // namespace grove::cuda
