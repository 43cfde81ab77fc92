#include "kernels/cuda/cuts/levels/orb_cuts.cuh"

#include <cub/block/block_scan.cuh>

#include "kernels/cuda/cuts/partition/block_select.cuh"
#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {
namespace {

/// Threads of a block. Where there are at most few_searches, a cell should be done soon; where there are
/// many, some blocks on a processor together wait less than the warps of one large block for each other.
constexpr int block_of_few = 1024, block_of_many = 256;
constexpr std::uint32_t few_searches = 2048;
constexpr std::uint32_t keys_of_piece = OrbPartition::tile_size;
constexpr int rows_of_keys = 8;  ///< keys that a thread asks for before it needs the first

/// Keys among which a cut is searched.
struct Keys {
  const std::uint32_t* key;
  const std::uint32_t* place;  ///< of each in its cell; nullptr: the cell's keys, all of them
  const std::uint32_t* index;  ///< of particles, by place
  const ParticleId* ids;
  std::uint32_t count;

  __device__ ParticleId id(std::uint32_t i) const { return id_of(ids, index[place ? place[i] : i]); }
  /// True if element i, with this key, goes left.
  __device__ bool is_left(std::uint32_t i, Coordinate own, const Cut& cut) const {
    return own < cut.coordinate || (own == cut.coordinate && id(i) < cut.id);
  }
};

/// Calls visit(key, i) for i = first, first + step, ... < end.
template <class Visitor>
__device__ void for_each_row(const std::uint32_t* keys, std::uint32_t first, std::uint32_t end,
                             std::uint32_t step, const Visitor& visit) {
  for (std::uint64_t base = first; base < end; base += rows_of_keys * step) {
    std::uint32_t key[rows_of_keys];
#pragma unroll
    for (int r = 0; r < rows_of_keys; ++r) key[r] = base + r * step < end ? keys[base + r * step] : 0;
#pragma unroll
    for (int r = 0; r < rows_of_keys; ++r)
      if (base + r * step < end) visit(key[r], static_cast<std::uint32_t>(base + r * step));
  }
}

/// Keys less than a bound; every thread gets the answer.
template <int threads>
__device__ std::uint32_t count_less(const Keys& keys, Coordinate bound) {
  __shared__ std::uint32_t all;
  if (threadIdx.x == 0) all = 0;
  __syncthreads();
  std::uint32_t own = 0;
  for_each_row(keys.key, threadIdx.x, keys.count, threads,
               [&](std::uint32_t key, std::uint32_t) { own += key < bound; });
  own = __reduce_add_sync(~0u, own);
  if (threadIdx.x % 32 == 0) atomicAdd(&all, own);
  __syncthreads();
  return all;
}

/// Counts what goes left in each piece of a cell, a warp per piece.
template <int threads>
__device__ void count_pieces(const Keys& keys, const Cut& cut, std::uint32_t* left_in) {
  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t p = threadIdx.x / 32; p * std::uint64_t{keys_of_piece} < keys.count; p += threads / 32) {
    const std::uint32_t begin = p * keys_of_piece, end = begin + min(keys_of_piece, keys.count - begin);
    std::uint32_t left = 0;
    for_each_row(keys.key, begin + lane, end, 32,
                 [&](std::uint32_t key, std::uint32_t i) { left += keys.is_left(i, key, cut); });
    left = __reduce_add_sync(~0u, left);
    if (lane == 0) left_in[p] = left;
  }
}

/// Adds what goes left of the bracket's list, a thread per piece; if records lie in the order of a tree, few
/// pieces have all of the list, and then a warp goes through each of those.
template <int threads>
__device__ void add_listed(const Keys& keys, const Cut& cut, const PieceList* lists, std::uint32_t pieces,
                           std::uint32_t* left_in) {
  constexpr std::uint32_t many = 128;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto count_left = [&](const PieceList& list, std::uint32_t first, std::uint32_t step) {
    std::uint32_t left = 0;
    for_each_row(keys.key, list.begin + first, list.begin + list.count, step,
                 [&](std::uint32_t key, std::uint32_t i) { left += keys.is_left(i, key, cut); });
    return left;
  };
  for (std::uint32_t base = threadIdx.x - static_cast<std::uint32_t>(lane); base < pieces; base += threads) {
    const std::uint32_t p = base + static_cast<std::uint32_t>(lane);
    const PieceList list = p < pieces ? lists[p] : PieceList{0, 0};
    std::uint32_t left = list.count <= many ? count_left(list, 0, 1) : 0;
    for (unsigned long_ones = __ballot_sync(~0u, list.count > many); long_ones != 0;
         long_ones &= long_ones - 1) {
      const int owner = __ffs(static_cast<int>(long_ones)) - 1;
      const PieceList one{__shfl_sync(~0u, list.begin, owner), __shfl_sync(~0u, list.count, owner)};
      const std::uint32_t sum = __reduce_add_sync(~0u, count_left(one, static_cast<std::uint32_t>(lane), 32));
      if (lane == owner) left = sum;
    }
    if (p < pieces) left_in[p] += left;
  }
}

/// left_before from left_in, of the pieces of a cell.
template <int threads>
__device__ void add_up(const std::uint32_t* left_in, std::uint32_t pieces, std::uint32_t* left_before) {
  using Scan = cub::BlockScan<std::uint32_t, threads>;
  __shared__ typename Scan::TempStorage storage;
  std::uint32_t begin = 0;
  for (std::uint32_t base = 0; base < pieces; base += threads) {
    const std::uint32_t p = base + threadIdx.x;
    std::uint32_t before = 0, sum = 0;
    Scan(storage).ExclusiveSum(p < pieces ? left_in[p] : 0u, before, sum);
    if (p < pieces) left_before[p] = begin + before;
    begin += sum;
    __syncthreads();
  }
}

/// Which cells of a level.
struct Kinds {
  bool bracketed, others;
};

/// One block per cell.
template <int threads>
__global__ void __launch_bounds__(threads, block_of_few / threads)
    find(const Columns columns0, const Columns columns1, const ParticleId* ids, const CutScheme scheme,
         const OrbLevel level, const Kinds kinds) {
  const LevelSize& size = level.head->size;
  const std::uint32_t c = blockIdx.x + (kinds.bracketed ? 0 : size.bracketed_cells);
  if (c >= (kinds.others ? size.cells : size.bracketed_cells)) return;
  const bool has_bracket = c < size.bracketed_cells;
  CellTask& task = level.tasks[c];
  const auto count = static_cast<std::uint32_t>(task.count);
  const Keys all{column_of(columns0, columns1, task.from, task.axis) + task.first, nullptr,
                 column_of(columns0, columns1, task.from, 3) + task.first, ids, count};
  std::uint64_t left_of_middle = 0;
  if (scheme.needs_middle())
    left_of_middle = has_bracket ? level.brackets[c].left_of_middle : count_less<threads>(all, task.middle);
  const auto left = static_cast<std::uint64_t>(
      scheme.target(count, count, task.leaves, static_cast<Count>(left_of_middle)).longest());

  const bool is_listed = has_bracket && level.brackets[c].holds(left);
  Keys keys = all;
  Coordinate first = task.low, last = task.high;
  std::uint64_t rank = left;
  if (is_listed) {
    const Bracket& b = level.brackets[c];
    const BracketList list(columns0, columns1, task);
    keys.key = list.keys, keys.place = list.places;
    keys.count = static_cast<std::uint32_t>(b.inside);
    first = task.key_first, last = task.key_last, rank -= b.below;
  }
  const SelectedCut found = select_by_key_and_id<threads>(
      first, last, static_cast<std::uint32_t>(rank), keys.count, [&](std::uint32_t i) { return keys.key[i]; },
      [&](std::uint32_t i) { return keys.id(i); });

  const std::uint32_t first_piece = level.places[c].first_piece;
  const auto pieces = static_cast<std::uint32_t>((task.count + keys_of_piece - 1) / keys_of_piece);
  if (is_listed)
    add_listed<threads>(keys, found.cut, level.lists + first_piece, pieces, level.left_in + first_piece);
  else
    count_pieces<threads>(all, found.cut, level.left_in + first_piece);
  __syncthreads();
  add_up<threads>(level.left_in + first_piece, pieces, level.left_before + first_piece);
  if (!has_bracket && threadIdx.x < pieces)
    level.pieces[first_piece + threadIdx.x] = {static_cast<std::int32_t>(c), threadIdx.x};
  if (threadIdx.x == 0) {
    task.left = left;
    task.cut = {found.cut.id, found.cut.coordinate, task.axis};
    task.is_ambiguous = found.is_ambiguous;
    level.bounds[c] = ChildBounds::of_nothing();
  }
}

}  // namespace

void find_cuts(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme,
               const OrbLevel& level, const LevelSize& bound) {
  static_assert(most_without_bracket <= std::uint64_t{block_of_many} * keys_of_piece);
  if (bound.cells <= few_searches) {
    find<block_of_few>
        <<<bound.cells, block_of_few>>>(columns[0], columns[1], ids, scheme, level, Kinds{true, true});
    return launched("Grove::cuda::find_cuts");
  }
  if (bound.bracketed_cells > 0) {
    find<block_of_few><<<bound.bracketed_cells, block_of_few>>>(columns[0], columns[1], ids, scheme, level,
                                                                Kinds{true, false});
    launched("Grove::cuda::find_cuts");
  }
  find<block_of_many>
      <<<bound.cells, block_of_many>>>(columns[0], columns[1], ids, scheme, level, Kinds{false, true});
  launched("Grove::cuda::find_cuts");
}

}  // namespace grove::cuda
