#include "kernels/cuda/bracket_search.cuh"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/hash.hpp"
#include "kernels/cuda/block_select.cuh"
#include "kernels/cuda/check.cuh"
#include "kernels/cuda/orb_partition.cuh"

namespace grove::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr std::uint64_t piece_size = OrbPartition::tile_size;
/// Pieces that a warp of the pass reads, one after the other.
constexpr std::uint32_t pieces_per_warp = 8;
/// Keys of a piece that a warp sets aside; if more lie in the bracket, it reads the piece again.
constexpr std::uint32_t staged_keys = 256;

constexpr std::uint64_t least_sample = 2048, most_sample = 32768, one_in = 64;

/// What is known of a cell's sample and list.
struct Bracket {
  std::uint32_t sample_begin, sample_size;
  std::uint64_t list_begin, room;  ///< of its list

  // Counted by the pass.
  unsigned long long below, inside, left_of_middle;
};

/// Where a piece's keys of the bracket are listed.
struct PieceList {
  std::uint64_t begin;
  std::uint32_t count;
};

std::uint64_t sample_size(std::uint64_t count, std::uint64_t most) {
  return std::min(count, std::clamp(count / one_in, least_sample, most));
}

/// By how many places of the sample the rank of the cut may be off: 4.5 standard deviations of a binomial
/// distribution, at most.
GROVE_HOST_DEVICE double uncertainty(double size) { return 2.25 * sqrt(size) + 2; }

/// One key from each of `sample_size` equal parts of the cell.
__global__ void __launch_bounds__(threads)
    draw(const Columns columns0, const Columns columns1, const CellTask* tasks, const Bracket* brackets,
         std::uint32_t* sample) {
  const CellTask& task = tasks[blockIdx.y];
  const Bracket& b = brackets[blockIdx.y];
  const std::uint32_t* const column = column_of(columns0, columns1, task.from, task.axis);
  for (std::uint32_t s = blockIdx.x * threads + threadIdx.x; s < b.sample_size; s += gridDim.x * threads) {
    const std::uint64_t begin = task.count * s / b.sample_size, end = task.count * (s + 1) / b.sample_size;
    sample[b.sample_begin + s] = column[task.first + begin + mixed(task.first + s) % (end - begin)];
  }
}

/// One block per cell: the bracket from the sample.
__global__ void __launch_bounds__(select_threads)
    bracket(CellTask* tasks, const CutScheme scheme, const Bracket* brackets, const std::uint32_t* sample) {
  extern __shared__ std::uint32_t keys[];
  __shared__ Selection selection;
  CellTask& task = tasks[blockIdx.x];
  const Bracket& b = brackets[blockIdx.x];
  const std::uint32_t size = b.sample_size;
  const Coordinate middle = spatial_middle(task.low, task.high);
  std::uint32_t below = 0;
  for (std::uint32_t base = 0; base < size; base += select_threads) {
    const std::uint32_t i = base + threadIdx.x;
    const std::uint32_t key = i < size ? sample[b.sample_begin + i] : ~0u;
    if (i < size) keys[i] = key;
    below += __syncthreads_count(i < size && key < middle);
  }
  const auto count = static_cast<double>(task.count), per_place = count / size;
  double rank, off = uncertainty(size);  // in places of the sample
  if (scheme.needs_middle()) {
    // The cut is at the nearest multiple of the quantum, with at least one on each side.
    const auto quantum = static_cast<double>(scheme.quantum);
    rank = fmin(fmax(below * per_place, quantum), count - quantum) / per_place;
    off += 0.5 * quantum / per_place;
  } else {
    const auto all = static_cast<Count>(task.count);
    rank = static_cast<double>(scheme.target(all, all, task.leaves, 0).longest()) / per_place;
  }
  const double first = floor(rank - off), last = ceil(rank + off);
  const auto key_of = [&](std::uint32_t i) -> std::uint64_t { return keys[i]; };
  const auto any = [](std::uint32_t) { return true; };
  Coordinate key_first = task.low, key_last = task.high;
  for (const bool is_first : {true, false}) {
    const double place = is_first ? first : last;
    if (place < 0 || place >= size) continue;
    __syncthreads();
    if (threadIdx.x == 0) selection = {0, ~0u, static_cast<std::uint32_t>(place), size};
    __syncthreads();
    narrow(selection, size, key_of, any);
    if (is_first)
      key_first = max(key_first, static_cast<Coordinate>(selection.first));
    else
      key_last = min(key_last, static_cast<Coordinate>(selection.last));
  }
  if (threadIdx.x == 0) task.key_first = key_first, task.key_last = key_last;
}

/// Keys of a piece that lie in the bracket, in no order.
struct Staged {
  std::uint32_t number;
  std::uint32_t key[staged_keys], place[staged_keys];
};

/// What a warp finds in a piece; each lane counts its own keys.
struct Found {
  std::uint32_t less = 0, left_of_middle = 0;
};

/// Reads a piece, by all lanes of a warp; calls hit(key, i) for keys in the bracket. Most keys are not, so
/// lanes note their hits and go through them once in 16 keys. is_full: the piece has piece_size keys.
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
          std::uint32_t piece_count, Bracket* brackets, std::uint32_t* list_keys, std::uint32_t* list_places,
          PieceList* piece_lists, std::uint32_t* left_in) {
  __shared__ Staged staged_by_warp[warps];
  __shared__ Requests requests;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Staged& staged = staged_by_warp[warp];
  std::uint64_t below = 0, left_of_middle = 0;
  int now = -1;
  const auto add_up = [&] {
    if (now < 0 || lane != 0) return;
    atomicAdd(&brackets[now].below, static_cast<unsigned long long>(below));
    if (count_middle)
      atomicAdd(&brackets[now].left_of_middle, static_cast<unsigned long long>(left_of_middle));
  };
  for (std::uint32_t round = 0; round < pieces_per_warp; ++round) {
    const std::uint32_t p = (blockIdx.x * pieces_per_warp + round) * warps + warp;
    const bool is_piece = p < piece_count;
    const Tile piece = pieces[min(p, piece_count - 1)];
    if (is_piece && piece.task != now) {
      add_up();
      below = left_of_middle = 0;
      now = piece.task;
    }
    const CellTask& task = tasks[piece.task];
    const std::uint64_t begin = piece.number * piece_size;
    const auto size = is_piece ? static_cast<std::uint32_t>(min(piece_size, task.count - begin)) : 0;
    const std::uint32_t* const keys =
        column_of(columns0, columns1, task.from, task.axis) + task.first + begin;
    const Coordinate first = task.key_first, width = task.key_last - first;
    const Coordinate middle = spatial_middle(task.low, task.high);
    if (lane == 0) staged.number = 0;
    __syncwarp();
    const auto stage = [&](std::uint32_t key, std::uint32_t i) {
      const std::uint32_t place = atomicAdd(&staged.number, 1u);
      if (place >= staged_keys) return;
      staged.key[place] = key;
      staged.place[place] = static_cast<std::uint32_t>(begin) + i;
    };
    Found found = size == piece_size
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
    const std::uint64_t at = b.list_begin + requests.at[warp];
    if (lane == 0) piece_lists[p] = {at, has_room ? hits : 0};
    if (has_room && hits > staged_keys) {  // once more, past the staged ones
      if (lane == 0) staged.number = 0;
      __syncwarp();
      read_piece<false, false>(keys, size, first, width, middle, [&](std::uint32_t key, std::uint32_t i) {
        const std::uint32_t place = atomicAdd(&staged.number, 1u);
        list_keys[at + place] = key;
        list_places[at + place] = static_cast<std::uint32_t>(begin) + i;
      });
    } else if (has_room) {
      for (std::uint32_t i = lane; i < hits; i += 32)
        list_keys[at + i] = staged.key[i], list_places[at + i] = staged.place[i];
    }
    __syncwarp();
  }
  add_up();
}

/// The search in the lists: a cell each.
__global__ void make_list_tasks(const CellTask* tasks, const CutScheme scheme, const Bracket* brackets,
                                std::uint32_t count, const Columns columns0, const Columns columns1,
                                CellTask* list_tasks, std::uint32_t* failures) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= count) return;
  const CellTask& task = tasks[c];
  const Bracket& b = brackets[c];
  const auto all = static_cast<Count>(task.count);
  const auto left = static_cast<std::uint64_t>(
      scheme.target(all, all, task.leaves, static_cast<Count>(b.left_of_middle)).longest());
  CellTask list{};
  list.first = b.list_begin;
  list.low = list.key_first = task.key_first;
  list.high = list.key_last = task.key_last;
  list.left_is_known = true;
  list.via = column_of(columns0, columns1, task.from, 3) + task.first;
  if (left >= b.below && left - b.below < b.inside && b.inside <= b.room) {
    list.count = list.inside = b.inside;
    list.left = left - b.below;
  } else {
    atomicAdd(failures, 1u);
  }
  list_tasks[c] = list;
}

/// The cuts, from the lists to the cells.
__global__ void take_cuts(CellTask* tasks, const Bracket* brackets, const CellTask* list_tasks,
                          std::uint32_t count) {
  const std::uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= count) return;
  tasks[c].cut = list_tasks[c].cut;
  tasks[c].cut.axis = tasks[c].axis;
  tasks[c].is_ambiguous = list_tasks[c].is_ambiguous;
  tasks[c].left = brackets[c].below + list_tasks[c].left;
}

/// Adds what goes left of each piece's list.
__global__ void __launch_bounds__(threads)
    add_listed(const CellTask* tasks, const CellTask* list_tasks, const Tile* pieces,
               std::uint32_t piece_count, const PieceList* piece_lists, const std::uint32_t* list_keys,
               const std::uint32_t* list_places, const ParticleId* ids, std::uint32_t* left_in) {
  const std::uint32_t p = blockIdx.x * warps + threadIdx.x / 32;
  if (p >= piece_count) return;
  const PieceList list = piece_lists[p];
  const std::int32_t c = pieces[p].task;
  const Cut cut = tasks[c].cut;
  const std::uint32_t* const index = list_tasks[c].via;
  std::uint32_t left = 0;
  for (std::uint32_t i = threadIdx.x % 32; i < list.count; i += 32) {
    const std::uint32_t key = list_keys[list.begin + i];
    left += key < cut.coordinate ||
            (key == cut.coordinate && id_of(ids, index[list_places[list.begin + i]]) < cut.id);
  }
  left = __reduce_add_sync(~0u, left);
  if (threadIdx.x % 32 == 0) left_in[p] += left;
}

}  // namespace

BracketSearch::BracketSearch(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme)
    : columns_{columns[0], columns[1]}, ids_(ids), scheme_(scheme), most_sample_(most_sample) {
  int device = 0, room = 0;
  cudaFuncAttributes attributes;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  GROVE_CUDA(cudaFuncGetAttributes(&attributes, bracket));
  const std::size_t left = static_cast<std::size_t>(room) - attributes.sharedSizeBytes;
  most_sample_ = std::min<std::uint64_t>(most_sample_, left / sizeof(std::uint32_t));
  GROVE_CUDA(cudaFuncSetAttribute(bracket, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most_sample_ * sizeof(std::uint32_t))));
}

bool BracketSearch::run(std::span<const CellTask> host_tasks, CellTask* tasks, const Tiles& pieces,
                        LeftCounts& left) {
  const auto cells = static_cast<std::uint32_t>(host_tasks.size());
  std::vector<Bracket> brackets;
  std::vector<std::uint64_t> rooms;
  std::uint32_t sampled = 0, most = 0;
  std::uint64_t listed = 0;
  for (const CellTask& task : host_tasks) {
    const auto size = static_cast<std::uint32_t>(sample_size(task.count, most_sample_));
    // A quarter more than is expected.
    const double share = 2 * (uncertainty(size) + 1) / size;
    const double quantum = scheme_.needs_middle() ? static_cast<double>(scheme_.quantum) : 0;
    const auto room = std::min(
        task.count, static_cast<std::uint64_t>(1.25 * (share * static_cast<double>(task.count) + quantum)));
    brackets.push_back({sampled, size, listed, room, 0, 0, 0});
    rooms.push_back(room);
    sampled += size;
    listed += room;
    most = std::max(most, size);
  }
  sample_.reserve(sampled);
  list_keys_.reserve(listed);
  list_places_.reserve(listed);
  left.reserve(pieces.size());
  const DeviceArray<Bracket> device_brackets{std::span<const Bracket>(brackets)};
  const DeviceArray<PieceList> piece_lists(pieces.size());
  const DeviceArray<CellTask> list_tasks(cells);
  DeviceArray<std::uint32_t> failures(1);
  failures.clear();

  draw<<<dim3((most + 4 * threads - 1) / (4 * threads), cells), threads>>>(
      columns_[0], columns_[1], tasks, device_brackets.data(), sample_.data());
  launched("Grove::cuda::draw");
  bracket<<<cells, select_threads, most * sizeof(std::uint32_t)>>>(tasks, scheme_, device_brackets.data(),
                                                                   sample_.data());
  launched("Grove::cuda::bracket");
  constexpr std::uint32_t pieces_per_block = warps * pieces_per_warp;
  const std::uint32_t blocks = (pieces.size() + pieces_per_block - 1) / pieces_per_block;
  const auto pass = scheme_.needs_middle() ? split<true> : split<false>;
  pass<<<blocks, threads>>>(columns_[0], columns_[1], tasks, pieces.data(), pieces.size(),
                            device_brackets.data(), list_keys_.data(), list_places_.data(),
                            piece_lists.data(), left.in());
  launched("Grove::cuda::split", 4 * pieces.records() + 8 * listed);
  make_list_tasks<<<(cells + 127) / 128, 128>>>(tasks, scheme_, device_brackets.data(), cells, columns_[0],
                                                columns_[1], list_tasks.data(), failures.data());
  launched("Grove::cuda::make_list_tasks");
  std::uint32_t failed = 0;
  failures.download(std::span(&failed, 1));
  if (failed > 0) return false;

  const Columns lists{{list_keys_.data(), nullptr, nullptr, list_places_.data()}};
  OrbSearch in_lists({lists, lists}, ids_, scheme_);
  Tiles list_tiles(std::uint64_t{1} << 14), list_pieces(piece_size);
  list_tiles.make(rooms);
  list_pieces.make(rooms);
  LeftCounts unused;
  in_lists.run(list_tasks.data(), list_tiles, list_pieces, listed / cells, unused);
  take_cuts<<<(cells + 127) / 128, 128>>>(tasks, device_brackets.data(), list_tasks.data(), cells);
  launched("Grove::cuda::take_cuts");
  add_listed<<<(pieces.size() + warps - 1) / warps, threads>>>(
      tasks, list_tasks.data(), pieces.data(), pieces.size(), piece_lists.data(), list_keys_.data(),
      list_places_.data(), ids_, left.in());
  launched("Grove::cuda::add_listed", 8 * listed);
  left.scan(pieces.size());
  return true;
}

}  // namespace grove::cuda
