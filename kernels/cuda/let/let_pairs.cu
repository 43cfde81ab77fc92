#include "kernels/cuda/let/let_pairs.cuh"

#include <algorithm>
#include <bit>
#include <cub/block/block_scan.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

constexpr int pair_threads = 256;
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

__device__ std::uint64_t marks_of(const LeafPlaces& leaf) {
  return (static_cast<std::uint64_t>(leaf.nodes) + 31) / 32 * 32;
}

/// The lists that a search fills.
struct FoundPairs {
  std::uint32_t* receivers;
  LetPair* pairs;
  LetNumbers* found;  ///< one, 0 before
  LetNumbers room;

  /// Takes room for all receivers of a leaf; returns where it begins.
  __device__ std::uint64_t take_receivers(std::uint32_t count) const {
    return atomicAdd(counter(found->receivers), static_cast<unsigned long long>(count));
  }
  __device__ void add(LetPair pair, const LeafPlaces& tree) const {
    pair.node = atomicAdd(counter(found->nodes), static_cast<unsigned long long>(marks_of(tree)));
    const std::uint32_t number = atomicAdd(&found->pairs, 1U);
    if (number < room.pairs) pairs[number] = pair;
  }

 private:
  __device__ static unsigned long long* counter(std::uint64_t& number) {
    static_assert(sizeof(number) == sizeof(unsigned long long));
    return reinterpret_cast<unsigned long long*>(&number);
  }
};

/// One block per own cell, leaves first: lists the targets that may open the root of a leaf, and marks the
/// cells that some may open. opened: by slot, `words` each. before: shared, one per piece and one more.
__global__ void __launch_bounds__(pair_threads)
    find_pairs(const LetReceivers from, const LeafPlaces* places, std::uint32_t leaves, const FoundPairs to,
               std::uint32_t words, std::uint32_t* opened) {
  using Scan = cub::BlockScan<std::uint32_t, pair_threads>;
  extern __shared__ std::uint32_t before[];
  __shared__ typename Scan::TempStorage storage;
  __shared__ std::uint64_t begin;
  const LetTargets::View& targets = from.to;
  const std::int32_t cell = from.cells.cells[blockIdx.x];
  const auto leaf = static_cast<std::int32_t>(blockIdx.x);
  const bool is_leaf = blockIdx.x < leaves;
  const NodeCore core = is_leaf ? drifted(from.cells.core[cell], from.drift_of(leaf))
                                : grown(from.cells.core[cell], from.room_of_cells);
  const Ball ball =
      is_leaf ? ball_of_leaf(from, cell, leaf) : from.cells.balls[cell].grown(from.room_of_cells);
  std::uint32_t all = 0;
  for (std::uint32_t first = 0; first < targets.piece_count; first += pair_threads) {
    const std::uint32_t piece = first + threadIdx.x;
    std::uint32_t found = 0;
    if (piece < targets.piece_count) {
      descend(from, cell, core, ball, !is_leaf, piece, [&](std::uint32_t) {
        ++found;
        return is_leaf;  // who opens a cell above does not matter
      });
      if (found > 0)
        mark_opened(from.cells, cell,
                    opened + std::size_t{words} * static_cast<std::uint32_t>(targets.pieces[piece].slot));
    }
    if (!is_leaf) continue;
    std::uint32_t place = 0, sum = 0;
    __syncthreads();  // of the round before
    Scan(storage).ExclusiveSum(found, place, sum);
    if (piece < targets.piece_count) before[piece] = all + place;
    all += sum;
  }
  if (!is_leaf || all == 0) return;
  if (threadIdx.x == 0) {
    before[targets.piece_count] = all;
    begin = to.take_receivers(all);
  }
  __syncthreads();
  for (std::int32_t slot = static_cast<std::int32_t>(threadIdx.x); slot < targets.slots;
       slot += pair_threads) {
    const std::uint32_t first = before[targets.first_piece[slot]],
                        end = before[targets.first_piece[slot + 1]];
    const auto base = static_cast<std::uint32_t>(begin);  // of use only if there is room
    if (first < end) to.add({leaf, slot, base + first, base + end, 0}, places[leaf]);
  }
  if (begin + all > to.room.receivers) return;
  for (std::uint32_t piece = threadIdx.x; piece < targets.piece_count; piece += pair_threads) {
    if (before[piece] == before[piece + 1]) continue;
    std::uint64_t next = begin + before[piece];
    descend(from, cell, core, ball, false, piece, [&](std::uint32_t receiver) {
      to.receivers[next++] = receiver;
      return true;
    });
  }
}

}  // namespace

TargetPieces::TargetPieces(std::vector<Range> ranks) : ranks_(std::move(ranks)) {
  std::uint32_t all = 0;
  for (const Range& rank : ranks_) all += rank.count;
  size_ = std::bit_ceil(std::max(1U, (all + enough_pieces - 1) / enough_pieces));
  std::vector<TargetPiece> pieces;
  std::vector<std::uint32_t> first_piece{0};
  for (std::size_t slot = 0; slot < ranks_.size(); ++slot) {
    const std::uint32_t end = ranks_[slot].begin + ranks_[slot].count;
    for (std::uint32_t begin = ranks_[slot].begin; begin < end; begin += size_)
      pieces.push_back({static_cast<std::int32_t>(slot), begin, std::min(size_, end - begin)});
    first_piece.push_back(static_cast<std::uint32_t>(pieces.size()));
  }
  pieces_ = DeviceArray<TargetPiece>{std::span<const TargetPiece>(pieces)};
  first_piece_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(first_piece)};
}

LetTargets::LetTargets(DeviceArray<LeafTargets> targets, const TargetPieces& pieces, const WalkUnits& units,
                       const Vec3d& reference)
    : pieces_(pieces),
      targets_(std::move(targets)),
      frames_(targets_.size()),
      wanted_(std::size_t{pieces.count()} * 2 * pieces.size()) {
  if (pieces.count() == 0) return;
  build_piece<<<pieces.count(), pair_threads, 0, stream()>>>(view(), reference, units.length, frames_.data(),
                                                             wanted_.data());
  launched("Grove::cuda::build_piece");
}

LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& from, const LetNumbers& room) {
  constexpr std::uint32_t most_pieces = 11000;  // in the shared memory of a block
  static_assert((most_pieces + 1) * sizeof(std::uint32_t) +
                    sizeof(cub::BlockScan<std::uint32_t, pair_threads>::TempStorage) + 64 <=
                48 * 1024);
  if (from.to.piece_count > most_pieces)
    throw std::length_error("too many ranks in reach of one: larger leaves, or fewer ranks, are needed");
  const std::size_t words = words_of_slot(from);
  LetPairs result(room, words * static_cast<std::size_t>(from.to.slots));
  result.clear();
  find_pairs<<<static_cast<unsigned>(from.cells.count), pair_threads,
               (std::size_t{from.to.piece_count} + 1) * sizeof(std::uint32_t), stream()>>>(
      from, trees.leaves, trees.count, {result.receivers(), result.pairs(), result.found(), room},
      static_cast<std::uint32_t>(words), result.opened());
  launched("Grove::cuda::find_pairs");
  return result;
}

}  // namespace grove::cuda
