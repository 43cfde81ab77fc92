#include "kernels/cuda/trees/far_cells.hpp"

#include <stdexcept>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/particles/column_sums.cuh"

namespace grove::cuda {
namespace {

/// A block per piece, and a warp of it (threadIdx.y) for each m and for what is no multipole.
__global__ void __launch_bounds__(32 * (far_cells_order + 2))
    sum_far_pieces(const Images images, const std::uint64_t* begin, const std::uint32_t* leaf,
                   const Ball* leaves, const Vec3d* position, const double* mass, FarMoments* parts) {
  const std::uint64_t first = begin[blockIdx.x], end = begin[blockIdx.x + 1];
  const BallPlaces places(leaves[leaf[blockIdx.x]], images);
  FarMoments& part = parts[blockIdx.x];
  if (threadIdx.y <= far_cells_order)
    return sum_column_of_warp<far_cells_order>(
        places, position, mass, first, end,
        [&](int l, int m, const DeviceComplex& sum) { part.multipoles(l, m) = sum; });
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

constexpr int climb_threads = 96;  // more than FarHarmonics::size

struct ClimbMemory {
  FarHarmonics own[2], regular[2], moved[2];
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
  const int l = degree_of(i), m = i - FarHarmonics::index(l, 0);
  auto c = static_cast<std::int32_t>(cells[blockIdx.x]);
  if (side == 0) {
    if (i < FarHarmonics::size) way.moments[c].multipoles.of[i] = starts[blockIdx.x].multipoles.of[i];
    if (i == FarHarmonics::size) way.moments[c].second = starts[blockIdx.x].second;
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
    if (i < FarHarmonics::size) memory.own[side].of[i] = way.moments[child].multipoles.of[i];
    if (i <= far_cells_order) find_regular(i, back, memory.regular[side]);
    __syncthreads();
    if (i < FarHarmonics::size)
      memory.moved[side].of[i] = moved_multipole(memory.own[side], memory.regular[side], l, m);
    if (i == FarHarmonics::size)
      memory.second[side] = moved_low(low_moments(memory.own[side], way.moments[child].second), back).second;
    __syncthreads();
    if (side == 0) {
      if (i < FarHarmonics::size)
        way.moments[up].multipoles.of[i] = memory.moved[0].of[i] + memory.moved[1].of[i];
      if (i == FarHarmonics::size) way.moments[up].second = memory.second[0] + memory.second[1];
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
  DeviceComplex moments[FarHarmonics::size * table_row], irregular[FarHarmonics::size * table_row];
  FarHarmonics local;
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
  if (lane == 0) {
    memory.stacked = stacked;
    memory.waiting = waiting;
  }
}

/// Puts the multipoles and irregular harmonics of a batch into shared memory: warps take a source each for
/// the ones, and all sources for one m or two of the others.
__device__ void stage_far(const DeviceFarTree& tree, const BallPlaces& places, int warp, int count,
                          FarMemory& memory) {
  const int lane = lane_index();
  for (int source = warp; source < count; source += warps) {
    const DeviceComplex* const from = tree.moments[memory.sources[source] / images_of_code].multipoles.of;
    for (int i = lane; i < FarHarmonics::size; i += 32) memory.moments[i * table_row + source] = from[i];
  }
  if (lane >= count) return;
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

/// One row of an expansion, or two; second: -1 for none. By one warp, whose lanes have a source each.
template <int first, int second>
__device__ void expand_far_rows(const DeviceFarTree& tree, const BallPlaces& places, const Ball& target,
                                int warp, FarMemory& memory) {
  const int lane = lane_index();
  const auto moment = [&](int l, int m) {
    return memory.moments[FarHarmonics::index(l, m) * table_row + lane];
  };
  const auto table = [&](int l, int m) {
    return memory.irregular[FarHarmonics::index(l, m) * table_row + lane];
  };
  DeviceComplex sum[first + 1], more[second + 2];
  for (;;) {
    if (warp == 0) descend_far(tree, target, memory);
    __barrier_sync(0);  // of all warps, wherever they are in this file
    const int count = memory.waiting < sources_of_batch ? memory.waiting : sources_of_batch;
    if (count == 0) break;
    stage_far(tree, places, warp, count, memory);
    __barrier_sync(0);
    if (lane < count) {
      add_local_row<first>(moment, table, sum);
      if constexpr (second >= 0) add_local_row<second>(moment, table, more);
    }
    __barrier_sync(0);
    if (warp == 0) {
      memory.sources[lane] = memory.sources[sources_of_batch + lane];
      if (lane == 0) memory.waiting -= count;
      __syncwarp();
    }
  }
  GROVE_UNROLL
  for (int k = 0; k <= first; ++k) {
    const DeviceComplex all{warp_sum(sum[k].re), warp_sum(sum[k].im)};
    if (lane == 0) memory.local(first, k) = all;
  }
  GROVE_UNROLL
  for (int k = 0; k <= second; ++k) {
    const DeviceComplex all{warp_sum(more[k].re), warp_sum(more[k].im)};
    if (lane == 0) memory.local(second, k) = all;
  }
}

/// The expansion about the middle of a leaf's ball, by all warps of a block. They share its rows so that none
/// has much more to do than others.
__device__ void expand_far(const DeviceFarTree& tree, const Ball& target, FarMemory& memory) {
  if (threadIdx.x == 0) {
    memory.stacked = tree.images.count();
    memory.waiting = 0;
  }
  if (static_cast<int>(threadIdx.x) < tree.images.count())
    memory.stack[tree.images.count() - 1 - static_cast<int>(threadIdx.x)] = threadIdx.x;
  __syncthreads();
  const BallPlaces places(target, tree.images);
  switch (threadIdx.x / 32) {
    case 0:
      return expand_far_rows<0, 8>(tree, places, target, 0, memory);
    case 1:
      return expand_far_rows<1, 9>(tree, places, target, 1, memory);
    case 2:
      return expand_far_rows<2, 10>(tree, places, target, 2, memory);
    case 3:
      return expand_far_rows<3, -1>(tree, places, target, 3, memory);
    case 4:
      return expand_far_rows<4, -1>(tree, places, target, 4, memory);
    case 5:
      return expand_far_rows<5, -1>(tree, places, target, 5, memory);
    case 6:
      return expand_far_rows<6, -1>(tree, places, target, 6, memory);
    case 7:
      return expand_far_rows<7, -1>(tree, places, target, 7, memory);
  }
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
  for (std::uint64_t base = begin; base < end; base += threads) {
    const std::uint64_t i = base + threadIdx.x;
    const bool is_here = i < end && targets.rung[i] >= work.first_active;
    FarForce images{};
    if (is_here) images = work.far.at(work.units.place(targets.position[i]));
    __syncthreads();  // else the compiler mixes the terms of both expansions, for which there are not enough
                      // registers
    if (!is_here) continue;
    const FarForce cells = local_force(memory.local, places.place(targets.position[i]));
    const DirectForce force = work.units.force(
        FarForce{cells.acceleration + images.acceleration, cells.potential + images.potential});
    targets.acceleration[i] = (targets.acceleration[i].as<double>() + force.acceleration).as<float>();
    targets.potential[i] = static_cast<float>(targets.potential[i] + force.potential);
  }
}

}  // namespace

void sum_leaf_moments(const Images& images, const LeafPieces& pieces, const Ball* leaves,
                      const Vec3d* position, const double* mass, FarMoments* moments) {
  if (pieces.count == 0) return;
  const DeviceArray<FarMoments> parts(pieces.are_leaves() ? 0 : pieces.count);
  sum_far_pieces<<<pieces.count, dim3(32, far_cells_order + 2), 0, stream()>>>(
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
