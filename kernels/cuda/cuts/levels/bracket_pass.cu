#include "kernels/cuda/cuts/levels/bracket_pass.cuh"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "kernels/cuda/cuts/partition/block_select.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

constexpr int bracket_threads = 1024;
constexpr std::uint64_t bracket_piece = OrbPartition::tile_size;
/// Pieces that a warp of the pass reads, one after the other: as many as leave all processors some blocks.
constexpr std::uint32_t most_rounds = 8, bracket_blocks = 512;
/// Keys of a piece that a warp sets aside; if more lie in the bracket, it reads the piece again.
constexpr std::uint32_t staged_keys = 256;

constexpr std::uint64_t least_sample = 4096, most_sample = 32768, one_in = 64;

GROVE_HOST_DEVICE std::uint32_t sample_size(std::uint64_t count, std::uint64_t most) {
  const std::uint64_t wanted = count / one_in;
  const std::uint64_t size = wanted < least_sample ? least_sample : wanted > most ? most : wanted;
  return static_cast<std::uint32_t>(size < count ? size : count);
}

/// By how many places of the sample the rank of the cut may be off: 4.5 standard deviations of a binomial
/// distribution, at most.
GROVE_HOST_DEVICE double uncertainty(double size) { return 2.25 * sqrt(size) + 2; }
/// How many places of the sample more a bracket may hold at each end, so that its ends need not be exact.
GROVE_HOST_DEVICE double slack(double size) { return uncertainty(size) / 8; }

/// Reads one key from each of `size` equal parts of a cell; returns how many of them are less than `middle`.
__device__ std::uint32_t draw(const CellTask& task, const std::uint32_t* column, std::uint32_t size,
                              Coordinate middle, std::uint32_t* keys) {
  __shared__ std::uint32_t below;
  if (threadIdx.x == 0) below = 0;
  __syncthreads();
  const std::uint64_t part = (task.count << 24) / size;  // in units of 2^-24 records
  std::uint32_t own = 0;
#pragma unroll 8
  for (std::uint32_t s = threadIdx.x; s < size; s += bracket_threads) {
    const std::uint64_t in_part = ((part >> 12) * (mixed(task.first + s) >> 40)) >> 12;
    const std::uint32_t key = column[task.first + ((s * part + in_part) >> 24)];
    keys[s] = key;
    own += key < middle;
  }
  own = __reduce_add_sync(~0u, own);
  if (threadIdx.x % 32 == 0) atomicAdd(&below, own);
  __syncthreads();
  return below;
}

/// One block per cell. Dynamic shared memory: the sample.
__global__ void __launch_bounds__(bracket_threads)
    bracket(const Columns columns0, const Columns columns1, const CutScheme scheme, CellTask* tasks,
            const std::uint32_t* number, std::uint32_t most_keys) {
  extern __shared__ std::uint32_t keys[];
  __shared__ Selection selection;
  if (blockIdx.x >= *number) return;
  CellTask& task = tasks[blockIdx.x];
  const std::uint32_t size = sample_size(task.count, most_keys);
  const std::uint32_t below =
      draw(task, column_of(columns0, columns1, task.from, task.axis), size, task.middle, keys);
  const auto count = static_cast<double>(task.count), per_place = count / size;
  double rank, off = uncertainty(size);  // in places of the sample
  if (scheme.needs_middle()) {
    // The cut is at the nearest multiple of the quantum, with at least one on each side, if it is rounded.
    const auto quantum = static_cast<double>(scheme.rounding(static_cast<Count>(task.count)));
    rank = fmin(fmax(below * per_place, quantum), count - quantum) / per_place;
    off += 0.5 * quantum / per_place;
  } else {
    const auto all = static_cast<Count>(task.count);
    rank = static_cast<double>(scheme.target(all, all, task.leaves, 0).longest()) / per_place;
  }
  const double first = floor(rank - off), last = ceil(rank + off);
  const auto key_of = [&](std::uint32_t i) -> std::uint64_t { return keys[i]; };
  Coordinate key_first = task.low, key_last = task.high;
  for (const bool is_first : {true, false}) {
    const double place = is_first ? first : last;
    if (place < 0 || place >= size) continue;
    __syncthreads();
    if (threadIdx.x == 0) selection = {task.low, task.high, static_cast<std::uint32_t>(place), size};
    __syncthreads();
    narrow<bracket_threads>(selection, size, key_of, OneEach{}, static_cast<std::uint32_t>(slack(size)));
    if (is_first)
      key_first = static_cast<Coordinate>(selection.first);
    else
      key_last = static_cast<Coordinate>(selection.last);
  }
  if (threadIdx.x == 0) task.key_first = key_first, task.key_last = key_last;
}

/// Keys of a piece that lie in the bracket, in no order.
struct StagedKeys {
  std::uint32_t number;
  std::uint32_t key[staged_keys], place[staged_keys];
};

/// The findings of a warp in a piece; each lane counts its own keys.
struct Found {
  std::uint32_t less = 0, left_of_middle = 0;
};

/// Reads a piece, by all lanes of a warp; calls hit(key, i) for keys in the bracket. Most keys are not, so
/// lanes note their hits and go through them once in 16 keys. is_full: the piece has bracket_piece keys.
template <bool is_full, bool count_middle, class Hit>
__device__ Found read_piece(const std::uint32_t* keys, std::uint32_t size, Coordinate first, Coordinate width,
                            Coordinate middle, Hit&& hit) {
  constexpr int rows = 8;
  const std::uint32_t lane = threadIdx.x % 32;
  Found found;
  for (std::uint32_t base = lane; base < size; base += 32 * rows) {
    std::uint32_t key[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) key[r] = is_full || base + 32 * r < size ? keys[base + 32 * r] : 0;
    std::uint32_t hits = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const bool is_there = is_full || base + 32 * r < size;
      found.less += is_there && key[r] < first;
      if constexpr (count_middle) found.left_of_middle += is_there && key[r] < middle;
      hits |= static_cast<std::uint32_t>(is_there && key[r] - first <= width) << r;
    }
    for (; hits != 0; hits &= hits - 1) {
      const std::uint32_t i = base + 32 * (__ffs(static_cast<int>(hits)) - 1);
      hit(keys[i], i);  // which is still in the cache
    }
  }
  return found;
}

/// Keys that the warps of a block add to the list of a cell; the first adds for all that follow with the same
/// cell, since thousands of additions to one place would take longer than the reading.
struct Requests {
  std::int32_t task[warps];
  std::uint32_t hits[warps];
  std::uint64_t at[warps];

  /// By one thread.
  __device__ void serve(Bracket* brackets) {
    for (int w = 0; w < warps;) {
      std::uint32_t sum = 0;
      int end = w;
      for (; end < warps && task[end] == task[w]; ++end) at[end] = sum, sum += hits[end];
      const std::uint64_t begin =
          sum > 0 ? atomicAdd(&brackets[task[w]].inside, static_cast<unsigned long long>(sum)) : 0;
      for (; w < end; ++w) at[w] += begin;
    }
  }
};

/// The pass: in each round the warps of a block read neighbouring pieces.
template <bool count_middle>
__global__ void __launch_bounds__(threads)
    split(const Columns columns0, const Columns columns1, const CellTask* tasks, const Tile* pieces,
          const std::uint32_t* number, std::uint32_t rounds, Bracket* brackets, PieceList* lists,
          std::uint32_t* left_in) {
  __shared__ StagedKeys staged_by_warp[warps];
  __shared__ Requests requests;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t piece_count = *number;
  StagedKeys& staged = staged_by_warp[warp];
  std::uint64_t below = 0, left_of_middle = 0;
  int now = -1;
  const auto add_up = [&] {
    if (now < 0 || lane != 0) return;
    atomicAdd(&brackets[now].below, static_cast<unsigned long long>(below));
    if (count_middle)
      atomicAdd(&brackets[now].left_of_middle, static_cast<unsigned long long>(left_of_middle));
  };
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t p = (blockIdx.x * rounds + round) * warps + warp;
    if (p - warp >= piece_count) break;
    const bool is_piece = p < piece_count;
    const Tile piece = pieces[min(p, piece_count - 1)];
    if (is_piece && piece.task != now) {
      add_up();
      below = left_of_middle = 0;
      now = piece.task;
    }
    const CellTask& task = tasks[piece.task];
    const std::uint64_t begin = piece.number * bracket_piece;
    const auto size = is_piece ? static_cast<std::uint32_t>(min(bracket_piece, task.count - begin)) : 0;
    const std::uint32_t* const keys =
        column_of(columns0, columns1, task.from, task.axis) + task.first + begin;
    const Coordinate first = task.key_first, width = task.key_last - first;
    const Coordinate middle = task.middle;
    if (lane == 0) staged.number = 0;
    __syncwarp();
    const auto stage = [&](std::uint32_t key, std::uint32_t i) {
      const std::uint32_t place = atomicAdd(&staged.number, 1u);
      if (place >= staged_keys) return;
      staged.key[place] = key;
      staged.place[place] = static_cast<std::uint32_t>(begin) + i;
    };
    Found found = size == bracket_piece
                      ? read_piece<true, count_middle>(keys, size, first, width, middle, stage)
                      : read_piece<false, count_middle>(keys, size, first, width, middle, stage);
    __syncwarp();  // all lanes have staged
    found.less = __reduce_add_sync(~0u, found.less);
    if (count_middle) left_of_middle += __reduce_add_sync(~0u, found.left_of_middle);
    const std::uint32_t hits = staged.number;
    below += found.less;
    if (lane == 0) {
      if (is_piece) left_in[p] = found.less;
      requests.task[warp] = piece.task;
      requests.hits[warp] = hits;
    }
    __syncthreads();
    if (threadIdx.x == 0) requests.serve(brackets);
    __syncthreads();
    if (!is_piece) continue;
    const Bracket& b = brackets[piece.task];
    const bool has_room = requests.at[warp] + hits <= b.room;
    const BracketList list(columns0, columns1, task);
    const auto at = static_cast<std::uint32_t>(requests.at[warp]);
    if (lane == 0) lists[p] = {at, has_room ? hits : 0};
    if (has_room && hits > staged_keys) {  // once more, past the staged ones
      if (lane == 0) staged.number = 0;
      __syncwarp();
      read_piece<false, false>(keys, size, first, width, middle, [&](std::uint32_t key, std::uint32_t i) {
        const std::uint32_t place = atomicAdd(&staged.number, 1u);
        list.keys[at + place] = key;
        list.places[at + place] = static_cast<std::uint32_t>(begin) + i;
      });
    } else if (has_room) {
      for (std::uint32_t i = lane; i < hits; i += 32)
        list.keys[at + i] = staged.key[i], list.places[at + i] = staged.place[i];
    }
    __syncwarp();
  }
  add_up();
}

}  // namespace

double bracket_share(std::uint64_t count) {
  const auto size = static_cast<double>(sample_size(count, most_sample));
  return 2 * (uncertainty(size) + slack(size) + 1) / size;
}

void find_brackets(const Columns (&columns)[2], const CutScheme& scheme, CellTask* tasks, std::uint32_t most,
                   const std::uint32_t* number) {
  static const std::uint32_t most_keys = [] {
    int device = 0, room = 0;
    cudaFuncAttributes attributes;
    GROVE_CUDA(cudaGetDevice(&device));
    GROVE_CUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    GROVE_CUDA(cudaFuncGetAttributes(&attributes, bracket));
    const std::size_t left = static_cast<std::size_t>(room) - attributes.sharedSizeBytes;
    const auto keys = std::min<std::uint64_t>(most_sample, left / sizeof(std::uint32_t));
    GROVE_CUDA(cudaFuncSetAttribute(bracket, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(keys * sizeof(std::uint32_t))));
    return static_cast<std::uint32_t>(keys);
  }();
  bracket<<<most, bracket_threads, most_keys * sizeof(std::uint32_t)>>>(columns[0], columns[1], scheme, tasks,
                                                                        number, most_keys);
  launched("Grove::cuda::bracket");
}

void split_at_brackets(const Columns (&columns)[2], const CutScheme& scheme, const CellTask* tasks,
                       const Tile* pieces, std::uint32_t most, const std::uint32_t* number, Bracket* brackets,
                       PieceList* lists, std::uint32_t* left_in) {
  const std::uint32_t rounds = std::clamp(most / (warps * bracket_blocks), 1u, most_rounds);
  const std::uint32_t per_block = warps * rounds;
  const auto pass = scheme.needs_middle() ? split<true> : split<false>;
  pass<<<(most + per_block - 1) / per_block, threads>>>(columns[0], columns[1], tasks, pieces, number, rounds,
                                                        brackets, lists, left_in);
  launched("Grove::cuda::split");
}

}  // namespace grove::cuda
