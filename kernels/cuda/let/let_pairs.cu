#include "kernels/cuda/let/let_pairs.cuh"

#include <algorithm>
#include <bit>
#include <cub/device/device_scan.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

constexpr int pair_threads = 128;
/// Into which the targets of all ranks are divided, at least where there are so many.
constexpr std::uint32_t enough_pieces = 256;

/// By piece: the frames of its targets, and its binary tree, level by level.
__global__ void __launch_bounds__(pair_threads)
    build_piece(const LetTargets::View to, const Vec3d reference, double unit_length, SourceFrame* frames,
                Wanted* wanted) {
  const TargetPiece piece = to.pieces[blockIdx.x];
  Wanted* const tree = wanted + std::size_t{2} * to.piece_size * blockIdx.x;
  for (std::uint32_t i = threadIdx.x; i < to.piece_size; i += pair_threads) {
    tree[to.piece_size + i] = Wanted::nothing();
    if (i >= piece.count) continue;
    const LeafTargets target = to.targets[piece.begin + i];
    tree[to.piece_size + i] = target.wanted(unit_length);
    frames[piece.begin + i] = SourceFrame::at(target.origin, reference, 1 / unit_length, 0, 0);
  }
  for (std::uint32_t level = to.piece_size / 2; level > 0; level /= 2) {
    __syncthreads();
    for (std::uint32_t n = level + threadIdx.x; n < 2 * level; n += pair_threads)
      tree[n] = Wanted::united_if_any(tree[2 * n], tree[2 * n + 1]);
  }
}

/// Deep enough for a piece of 2^30 targets.
constexpr int stack_size = 32;

/// Calls hit(target) for the targets of a piece, ascending, for which an own cell may not stand for its
/// particles, until it says false. core, ball: of the cell, with room. is_inner: it is above the leaves.
template <class Hit>
__device__ void descend(const LetReceivers& from, std::int32_t cell, const NodeCore& core, const Ball& ball,
                        bool is_inner, std::uint32_t piece, Hit&& hit) {
  const LetTargets::View& to = from.to;
  const Wanted* const tree = to.wanted + std::size_t{2} * to.piece_size * piece;
  const Vec3d centre = from.cells.centre[cell];
  std::uint32_t stack[stack_size];
  int size = 1;
  stack[0] = 1;
  while (size > 0) {
    const std::uint32_t n = stack[--size];
    const Wanted& wanted = tree[n];
    if (wanted.is_nothing() || !wanted.may_open(centre, core, ball, is_inner, from.unit_length, from.images))
      continue;
    if (n >= to.piece_size) {
      if (!hit(to.pieces[piece].begin + (n - to.piece_size))) return;
      continue;
    }
    if (size + 2 > stack_size) __trap();
    stack[size++] = 2 * n + 1;
    stack[size++] = 2 * n;
  }
}

__device__ Ball ball_of_leaf(const LetReceivers& from, std::int32_t cell, std::int32_t leaf) {
  return from.cells.balls[cell].drifted(from.drift_of(leaf) * from.unit_length);
}

/// Marks a cell and all above it, up to the cover, as opened by a rank: what is below nothing that is opened
/// would not be known there.
__device__ void mark_opened(const OwnCells& cells, std::int32_t cell, std::uint32_t* opened) {
  for (std::int32_t c = cell;; c = cells.parent[c]) {
    const std::uint32_t bit = 1u << (c % 32);
    const std::uint32_t before = atomicOr(&opened[c / 32], bit);
    if ((before & bit) != 0 || cells.is_cover[c] != 0) return;
  }
}

/// One thread per own cell and piece, and one more. counts: by own leaf and piece the targets that may open
/// the root, and one more, 0. opened: by slot, `words` each.
__global__ void __launch_bounds__(pair_threads)
    count_receivers(const LetReceivers from, std::uint32_t leaves, std::uint32_t* counts, std::uint32_t words,
                    std::uint32_t* opened) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * pair_threads + threadIdx.x;
  const std::uint32_t pieces = from.to.piece_count;
  const std::uint64_t of_leaves = std::uint64_t{leaves} * pieces;
  if (i == 0) counts[of_leaves] = 0;
  if (i >= static_cast<std::uint64_t>(from.cells.count) * pieces) return;
  const auto piece = static_cast<std::uint32_t>(i % pieces);
  const std::int32_t cell = from.cells.cells[i / pieces];
  const bool is_leaf = i < of_leaves;
  std::uint32_t found = 0;
  const NodeCore core = is_leaf ? drifted(from.cells.core[cell], from.drift_of(static_cast<int>(i / pieces)))
                                : grown(from.cells.core[cell], from.room_of_cells);
  const Ball ball = is_leaf ? ball_of_leaf(from, cell, static_cast<int>(i / pieces))
                            : from.cells.balls[cell].grown(from.room_of_cells);
  descend(from, cell, core, ball, !is_leaf, piece, [&](std::uint32_t) {
    ++found;
    return is_leaf;  // who opens a cell above does not matter
  });
  if (is_leaf) counts[i] = found;
  if (found > 0)
    mark_opened(from.cells, cell,
                opened + std::size_t{words} * static_cast<std::uint32_t>(from.to.pieces[piece].slot));
}

__global__ void __launch_bounds__(pair_threads)
    list_receivers(const LetReceivers from, std::uint32_t number, const std::uint32_t* before,
                   std::uint32_t* receivers) {
  const std::uint32_t i = blockIdx.x * pair_threads + threadIdx.x;
  if (i >= number || before[i + 1] == before[i]) return;
  std::uint32_t next = before[i];
  const std::uint32_t leaf = i / from.to.piece_count;
  const std::int32_t cell = from.cells.cells[leaf];
  const NodeCore core = drifted(from.cells.core[cell], from.drift_of(static_cast<int>(leaf)));
  const Ball ball = ball_of_leaf(from, cell, static_cast<int>(leaf));
  descend(from, cell, core, ball, false, i % from.to.piece_count, [&](std::uint32_t receiver) {
    receivers[next++] = receiver;
    return true;
  });
}

struct Numbers {
  std::uint64_t nodes;  ///< of the trees of the pairs
  std::uint32_t pairs;
};
struct AddNumbers {
  __device__ Numbers operator()(const Numbers& a, const Numbers& b) const {
    return {a.nodes + b.nodes, a.pairs + b.pairs};
  }
};

/// Calls visit(slot, begin, end) for each rank that has some of the receivers of an own leaf.
template <class Visitor>
__device__ void for_each_slot(const LetTargets::View& to, std::int32_t leaf, const std::uint32_t* before,
                              Visitor&& visit) {
  const std::uint32_t* const of_leaf = before + static_cast<std::uint32_t>(leaf) * to.piece_count;
  for (std::int32_t slot = 0; slot < to.slots; ++slot) {
    const std::uint32_t begin = of_leaf[to.first_piece[slot]], end = of_leaf[to.first_piece[slot + 1]];
    if (begin < end) visit(slot, begin, end);
  }
}

__device__ std::uint64_t marks_of(const LeafPlaces& leaf) {
  return (static_cast<std::uint64_t>(leaf.nodes) + 31) / 32 * 32;
}

/// One thread per own leaf, and one more.
__global__ void __launch_bounds__(pair_threads)
    count_pairs(const LetTargets::View to, const LeafPlaces* places, std::int32_t leaves,
                const std::uint32_t* before, Numbers* numbers) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * pair_threads + threadIdx.x);
  if (leaf > leaves) return;
  Numbers found{0, 0};
  if (leaf < leaves)
    for_each_slot(to, leaf, before, [&](std::int32_t, std::uint32_t, std::uint32_t) {
      ++found.pairs;
      found.nodes += marks_of(places[leaf]);
    });
  numbers[leaf] = found;
}

__global__ void __launch_bounds__(pair_threads)
    list_pairs(const LetTargets::View to, const LeafPlaces* places, std::int32_t leaves,
               const std::uint32_t* before, const Numbers* numbers_before, LetPair* pairs) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * pair_threads + threadIdx.x);
  if (leaf >= leaves) return;
  Numbers next = numbers_before[leaf];
  for_each_slot(to, leaf, before, [&](std::int32_t slot, std::uint32_t begin, std::uint32_t end) {
    pairs[next.pairs++] = {leaf, slot, begin, end, next.nodes};
    next.nodes += marks_of(places[leaf]);
  });
}

/// The sums of all that stands before each element; the last one is the sum of all but the last.
template <class T, class Sum>
DeviceArray<T> scanned(const DeviceArray<T>& values, const Sum& sum) {
  DeviceArray<T> before(values.size());
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    GROVE_CUDA(cub::DeviceScan::ExclusiveScan(scratch, bytes, values.data(), before.data(), sum, T{},
                                              static_cast<int>(values.size()), stream()));
  };
  scan(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  scan(scratch.data());
  launched("Grove::cuda::sum_before", 0, kernels_of_pass);
  return before;
}

template <class T>
T last_of(const DeviceArray<T>& values) {
  T last{};
  device_download(&last, values.data() + values.size() - 1, sizeof(last));
  return last;
}

struct Plus {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

}  // namespace

LetTargets::LetTargets(DeviceArray<LeafTargets> targets, std::span<const Range> ranks, const WalkUnits& units,
                       const Vec3d& reference)
    : targets_(std::move(targets)), frames_(targets_.size()) {
  const auto all = static_cast<std::uint32_t>(targets_.size());
  piece_size_ = std::bit_ceil(std::max(1U, (all + enough_pieces - 1) / enough_pieces));
  std::vector<TargetPiece> pieces;
  std::vector<std::uint32_t> first_piece{0};
  for (std::size_t slot = 0; slot < ranks.size(); ++slot) {
    const std::uint32_t end = ranks[slot].begin + ranks[slot].count;
    for (std::uint32_t begin = ranks[slot].begin; begin < end; begin += piece_size_)
      pieces.push_back({static_cast<std::int32_t>(slot), begin, std::min(piece_size_, end - begin)});
    first_piece.push_back(static_cast<std::uint32_t>(pieces.size()));
  }
  pieces_ = DeviceArray<TargetPiece>{std::span<const TargetPiece>(pieces)};
  first_piece_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(first_piece)};
  wanted_ = DeviceArray<Wanted>(pieces.size() * 2 * piece_size_);
  if (pieces.empty()) return;
  build_piece<<<static_cast<unsigned>(pieces.size()), pair_threads, 0, stream()>>>(
      view(), reference, units.length, frames_.data(), wanted_.data());
  launched("Grove::cuda::build_piece");
}

LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& from) {
  const std::uint64_t pieces = from.to.piece_count;
  if (trees.count * pieces >= (1u << 31))
    throw std::length_error("too many leaves on one rank: larger leaves, or more ranks, are needed");
  const auto number = static_cast<std::uint32_t>(trees.count * pieces);
  LetPairs result;
  const DeviceArray<std::uint32_t> counts(std::size_t{number} + 1);
  result.words = (from.cells.count_of_numbers + 31) / 32;
  result.opened = DeviceArray<std::uint32_t>(result.words * static_cast<std::size_t>(from.to.slots));
  result.opened.clear();
  const std::uint64_t descents = static_cast<std::uint64_t>(from.cells.count) * pieces;
  count_receivers<<<blocks_for(descents, pair_threads), pair_threads, 0, stream()>>>(
      from, trees.count, counts.data(), static_cast<std::uint32_t>(result.words), result.opened.data());
  launched("Grove::cuda::count_receivers");
  const DeviceArray<std::uint32_t> before = scanned(counts, Plus{});
  result.receivers = DeviceArray<std::uint32_t>(last_of(before));
  if (result.receivers.size() == 0) return result;
  list_receivers<<<blocks_for(number, pair_threads), pair_threads, 0, stream()>>>(from, number, before.data(),
                                                                                  result.receivers.data());
  launched("Grove::cuda::list_receivers");

  const auto leaves = static_cast<std::int32_t>(trees.count);
  const DeviceArray<Numbers> numbers(trees.count + 1);
  count_pairs<<<blocks_for(numbers.size(), pair_threads), pair_threads, 0, stream()>>>(
      from.to, trees.leaves, leaves, before.data(), numbers.data());
  launched("Grove::cuda::count_pairs");
  const DeviceArray<Numbers> numbers_before = scanned(numbers, AddNumbers{});
  const Numbers all = last_of(numbers_before);
  result.pairs = DeviceArray<LetPair>(all.pairs);
  result.nodes = all.nodes;
  list_pairs<<<blocks_for(trees.count, pair_threads), pair_threads, 0, stream()>>>(
      from.to, trees.leaves, leaves, before.data(), numbers_before.data(), result.pairs.data());
  launched("Grove::cuda::list_pairs");
  return result;
}

}  // namespace grove::cuda
