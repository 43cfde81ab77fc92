#include "kernels/cuda/particles/fields.hpp"

#include <algorithm>
#include <cfloat>
#include <cub/block/block_reduce.cuh>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/math/uniform_point.hpp"

namespace grove::cuda {
namespace {

/// Blocks of a pass in which each thread takes every so many-th particle.
constexpr unsigned many_blocks = 2046;

template <class T>
struct Parts {
  const T* first;
  std::uint64_t size;
  const T* rest;

  const __device__ T& operator[](std::uint64_t i) const { return i < size ? first[i] : rest[i - size]; }
};

/// Elements of so many words: a thread moves single words, so that a warp reads and writes whole lines.
template <class Word, int words>
__global__ void __launch_bounds__(threads)
    gather(Word* to, const Parts<Word> from, const std::uint32_t* index, std::uint64_t count) {
  constexpr int per_thread = 4;
  const std::uint64_t begin = blockIdx.x * std::uint64_t{threads * per_thread} + threadIdx.x;
  Word word[per_thread];
#pragma unroll
  for (int k = 0; k < per_thread; ++k)
    if (const std::uint64_t i = begin + k * threads; i < count * words)
      word[k] = from[std::uint64_t{index[i / words]} * words + i % words];
#pragma unroll
  for (int k = 0; k < per_thread; ++k)
    if (const std::uint64_t i = begin + k * threads; i < count * words) to[i] = word[k];
}

__global__ void gather_bytes(std::byte* to, const Parts<std::byte> from, const std::uint32_t* index,
                             std::uint64_t count, std::uint32_t size) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i >= count * size) return;
  to[i] = from[static_cast<std::uint64_t>(index[i / size]) * size + i % size];
}

__global__ void __launch_bounds__(threads) number(std::uint32_t* index, std::uint64_t count) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i < count) index[i] = static_cast<std::uint32_t>(i);
}

template <class Word, int words>
void launch_gather(void* to, const TwoParts& from, const std::uint32_t* index, std::size_t count) {
  const Parts<Word> parts{static_cast<const Word*>(from.first), from.size * words,
                          static_cast<const Word*>(from.rest)};
  gather<Word, words>
      <<<(blocks_for(count * words) + 3) / 4, threads>>>(static_cast<Word*>(to), parts, index, count);
}

/// The union of what the threads of a block have. Thread 0 gets it.
__device__ Extent united(const Extent& own) {
  using Reduce = cub::BlockReduce<double, threads>;
  __shared__ typename Reduce::TempStorage storage;
  Extent all{};
  for (int a = 0; a < 3; ++a) {
    all.low[a] = Reduce(storage).Reduce(own.low[a], [](double p, double q) { return p < q ? p : q; });
    __syncthreads();
    all.high[a] = Reduce(storage).Reduce(own.high[a], [](double p, double q) { return p > q ? p : q; });
    __syncthreads();
  }
  all.is_finite = __syncthreads_and(own.is_finite);
  return all;
}

__global__ void __launch_bounds__(threads)
    extent(const double* numbers, std::uint64_t count, Extent* of_block) {
  double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, zero = 0;
  // The stride is a multiple of three, so a thread sees one axis only.
  static_assert(many_blocks % 3 == 0);
  const std::uint64_t thread = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  const int axis = static_cast<int>(thread % 3);
  double least = DBL_MAX, most = -DBL_MAX;
#pragma unroll 4
  for (std::uint64_t i = thread; i < 3 * count; i += std::uint64_t{many_blocks} * threads) {
    const double x = numbers[i];
    least = x < least ? x : least;
    most = x > most ? x : most;
    zero += 0 * x;
  }
#pragma unroll
  for (int a = 0; a < 3; ++a)
    if (a == axis) low[a] = least, high[a] = most;
  const Extent all = united({{low[0], low[1], low[2]}, {high[0], high[1], high[2]}, zero == 0});
  if (threadIdx.x == 0) of_block[blockIdx.x] = all;
}

/// By one block.
__global__ void __launch_bounds__(threads) unite_extents(const Extent* of_block, Extent* all) {
  Extent own{{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, true};
  for (unsigned b = threadIdx.x; b < many_blocks; b += threads) {
    const Extent other = of_block[b];
    for (int axis = 0; axis < 3; ++axis) {
      own.low[axis] = fmin(own.low[axis], other.low[axis]);
      own.high[axis] = fmax(own.high[axis], other.high[axis]);
    }
    own.is_finite = own.is_finite && other.is_finite;
  }
  const Extent united_ones = united(own);
  if (threadIdx.x == 0) *all = united_ones;
}

__global__ void find_not_finite(const Vec3d* position, std::uint64_t count, unsigned long long* first) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i >= count) return;
  const Vec3d p = position[i];
  if (!(isfinite(p.x) && isfinite(p.y) && isfinite(p.z)))
    atomicMin(first, static_cast<unsigned long long>(i));
}

struct RecordColumns {
  std::uint32_t* at[4];
};

__global__ void __launch_bounds__(threads)
    fill_records(const Box box, const LedPositions position, std::uint64_t count, std::uint32_t first_index,
                 const RecordColumns columns) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i >= count) return;
  const IntegerPosition c = box.coordinates(position(i));
  columns.at[0][i] = c.x;
  columns.at[1][i] = c.y;
  columns.at[2][i] = c.z;
  columns.at[3][i] = first_index + static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(threads)
    add_work(const std::uint32_t* work, std::uint64_t count, unsigned long long* sums) {
  using Reduce = cub::BlockReduce<unsigned long long, threads>;
  __shared__ typename Reduce::TempStorage storage;
  unsigned long long sum = 0, idle = 0;
  for (std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * threads)
    sum += work[i], idle += work[i] == 0;
  sum = Reduce(storage).Sum(sum);
  __syncthreads();
  idle = Reduce(storage).Sum(idle);
  if (threadIdx.x != 0) return;
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], idle);
}

__global__ void raise_zeros(std::uint32_t* work, std::uint64_t count) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i < count && work[i] == 0) work[i] = 1;
}

__global__ void __launch_bounds__(threads)
    fill_uniform(std::uint64_t stream, std::uint64_t first, std::uint64_t count, double mass_of_each,
                 Vec3d* position, Vec3d* velocity, double* mass, ParticleId* id) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{threads} + threadIdx.x;
  if (i >= count) return;
  position[i] = uniform_point(stream, first + i);
  velocity[i] = {0, 0, 0};
  mass[i] = mass_of_each;
  id[i] = first + i + 1;
}

}  // namespace

void gather_elements(void* to, const TwoParts& from, const std::uint32_t* index, std::size_t count,
                     std::size_t element_size) {
  if (count == 0) return;
  using Word = std::uint32_t;
  using Double = std::uint64_t;
  switch (element_size) {
    case 1:
      launch_gather<std::byte, 1>(to, from, index, count);
      break;
    case 4:
      launch_gather<Word, 1>(to, from, index, count);
      break;
    case 8:
      launch_gather<Double, 1>(to, from, index, count);
      break;
    case 12:
      launch_gather<Word, 3>(to, from, index, count);
      break;
    case 24:
      launch_gather<Double, 3>(to, from, index, count);
      break;
    default: {
      const Parts<std::byte> parts{static_cast<const std::byte*>(from.first), from.size * element_size,
                                   static_cast<const std::byte*>(from.rest)};
      gather_bytes<<<blocks_for(count * element_size), threads>>>(
          static_cast<std::byte*>(to), parts, index, count, static_cast<std::uint32_t>(element_size));
    }
  }
  launched("Grove::cuda::gather", (2 * element_size + 4) * count);
}

void number_elements(std::uint32_t* index, std::size_t count) {
  if (count == 0) return;
  number<<<blocks_for(count), threads>>>(index, count);
  launched("Grove::cuda::number_elements", count * sizeof(std::uint32_t));
}

Arriving<Extent> find_extent(const Vec3d* position, std::size_t count) {
  const DeviceArray<Extent> of_block(many_blocks), all(1);
  extent<<<many_blocks, threads>>>(reinterpret_cast<const double*>(position), count, of_block.data());
  unite_extents<<<1, threads>>>(of_block.data(), all.data());
  launched("Grove::cuda::extent", sizeof(Vec3d) * count, 2);
  return Arriving<Extent>(all.data());
}

std::size_t first_not_finite(const Vec3d* position, std::size_t count) {
  unsigned long long first = ~0ull;
  DeviceArray<unsigned long long> found{std::span<const unsigned long long>(&first, 1)};
  find_not_finite<<<blocks_for(count), threads>>>(position, count, found.data());
  launched("Grove::cuda::find_not_finite", sizeof(Vec3d) * count);
  found.download(std::span(&first, 1));
  return first;
}

void make_records(const Box& box, const LedPositions& position, std::size_t count, std::uint32_t first_index,
                  const DeviceRecords& records) {
  if (count == 0) return;
  RecordColumns columns;
  for (std::size_t c = 0; c < 4; ++c) columns.at[c] = records.columns[c].data();
  fill_records<<<blocks_for(count), threads>>>(box, position, count, first_index, columns);
  launched("Grove::cuda::fill_records", (sizeof(Vec3d) + 16) * count);
}

Arriving<WorkSum> sum_work(const std::uint32_t* work, std::size_t count) {
  DeviceArray<WorkSum> sums(1);
  sums.clear();
  if (work) {
    static_assert(sizeof(WorkSum) == 2 * sizeof(unsigned long long));
    add_work<<<many_blocks, threads>>>(work, count, reinterpret_cast<unsigned long long*>(sums.data()));
    launched("Grove::cuda::add_work", 4 * count);
  }
  return Arriving<WorkSum>(sums.data());
}

void employ_idle(std::uint32_t* work, std::size_t count) {
  if (count == 0) return;
  raise_zeros<<<blocks_for(count), threads>>>(work, count);
  launched("Grove::cuda::raise_zeros", 8 * count);
}

void make_uniform(std::uint64_t stream, std::uint64_t first, std::size_t count, std::uint64_t all,
                  Vec3d* position, Vec3d* velocity, double* mass, ParticleId* id) {
  if (count == 0) return;
  fill_uniform<<<blocks_for(count), threads>>>(stream, first, count, 1.0 / static_cast<double>(all), position,
                                               velocity, mass, id);
  launched("Grove::cuda::fill_uniform", (2 * sizeof(Vec3d) + 16) * count);
}

}  // namespace grove::cuda
