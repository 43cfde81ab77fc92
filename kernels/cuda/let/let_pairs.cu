#include "kernels/cuda/let/let_pairs.cuh"

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace grove::cuda {
namespace {

constexpr std::uint32_t fan = TargetClusters::fan;
constexpr int unite_threads = 1024, pair_threads = 128;
static_assert(fan == 32 && unite_threads == 32 * fan);

/// A block per set, a warp per cluster. frames, and the others (out): by target, by cluster and by set.
__global__ void __launch_bounds__(unite_threads)
    unite_targets(const LetTargets::View to, const Vec3d reference, double unit_length, SourceFrame* frames,
                  Wanted* of_target, Wanted* of_cluster, Wanted* of_set) {
  __shared__ Wanted united[fan];
  const TargetRange set = to.sets[blockIdx.x];
  const std::uint32_t number = threadIdx.x / 32, lane = threadIdx.x % 32;
  Wanted wanted = Wanted::nothing();
  if (number < set.count) {
    const TargetRange cluster = to.clusters[set.begin + number];
    if (lane < cluster.count) {
      const std::uint32_t i = cluster.begin + lane;
      const LeafTargets target = to.targets[i];
      of_target[i] = wanted = target.wanted(unit_length);
      frames[i] = SourceFrame::at(target.origin, reference, 1 / unit_length, 0, 0);
    }
    wanted = united_of_warp(wanted);
    if (lane == 0) of_cluster[set.begin + number] = wanted;
  }
  if (lane == 0) united[number] = wanted;
  __syncthreads();
  if (number > 0) return;
  wanted = united_of_warp(united[lane]);
  if (lane == 0) of_set[blockIdx.x] = wanted;
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

/// An own cell for which targets are searched. core, ball: with room.
struct SearchedCell {
  std::int32_t number;
  bool is_leaf;
  Vec3d centre;
  NodeCore core;
  Ball ball;

  /// True if for what is wanted the cell may not stand for its particles.
  __device__ bool is_opened(const Wanted& wanted, const LetReceivers& from) const {
    return !wanted.is_nothing() &&
           wanted.may_open(centre, core, ball, !is_leaf, from.unit_length, from.images);
  }
};

/// Some sets of clusters. Clusters count from the first one of these.
struct SearchMemory {
  static constexpr std::uint32_t sets = 32, clusters = sets * fan, of_thread = clusters / pair_threads;
  using Scan = cub::BlockScan<std::uint32_t, pair_threads>;

  std::uint32_t opens[clusters];   ///< a bit per target that may open the cell
  std::uint32_t before[clusters];  ///< of these before the cluster
  std::uint32_t set[sets];         ///< those that may, in any order
  std::uint16_t hit[clusters];     ///< likewise
  std::uint32_t set_hits, hits;
  typename Scan::TempStorage scan;
};

/// The search of one block, by all of its threads. slot_words: of a slot in opened.
class TargetSearch {
 public:
  __device__ TargetSearch(SearchMemory& shared, const LetReceivers& from, const SearchedCell& cell,
                          std::uint32_t* opened, std::uint32_t slot_words)
      : s_(shared), from_(from), to_(from.to), cell_(cell), opened_(opened), slot_words_(slot_words) {}

  /// Marks a cell above the leaves as opened by the ranks of which clusters may.
  __device__ void mark() const {
    for (std::uint32_t first = 0; first < to_.set_count; first += SearchMemory::sets) find_clusters(first);
  }

  /// Returns how many targets may open the leaf. begin (out): of each slot how many there are before, and
  /// all.
  __device__ std::uint32_t count(std::uint32_t* begin) const {
    std::uint32_t all = 0;
    for (std::uint32_t first = 0; first < to_.set_count; first += SearchMemory::sets) {
      const std::uint32_t found = search(first);
      const std::uint32_t base = to_.sets[first].begin;
      for (std::int32_t slot = own_thread(); slot < to_.slots; slot += pair_threads) {
        const std::uint32_t cluster = to_.first_cluster[slot];
        if (cluster >= base && cluster < end_of(first)) begin[slot] = all + s_.before[cluster - base];
        if (cluster == to_.first_cluster[to_.slots]) begin[slot] = all + found;  // so far: behind all others
      }
      all += found;
    }
    if (threadIdx.x == 0) begin[to_.slots] = all;
    __syncthreads();
    return all;
  }

  /// The marks of a slot.
  __device__ std::uint32_t* opened_of(std::int32_t slot) const {
    return opened_ + std::size_t{slot_words_} * static_cast<std::uint32_t>(slot);
  }

  /// Lists them in ascending order, after count().
  __device__ void list(std::uint32_t* receivers) const {
    const bool is_known = to_.set_count <= SearchMemory::sets;
    for (std::uint32_t first = 0; first < to_.set_count; first += SearchMemory::sets) {
      const std::uint32_t found = is_known ? 0 : search(first);
      for (std::uint32_t h = threadIdx.x / 32; h < s_.hits; h += pair_threads / 32) {
        const std::uint32_t c = s_.hit[h], bits = s_.opens[c], lane = threadIdx.x % 32;
        if ((bits >> lane & 1) != 0)
          receivers[s_.before[c] + __popc(bits & lanes_before())] =
              to_.clusters[to_.sets[first].begin + c].begin + lane;
      }
      receivers += found;
    }
  }

 private:
  __device__ static std::int32_t own_thread() { return static_cast<std::int32_t>(threadIdx.x); }
  /// The end of the clusters of the sets that are searched with this one.
  __device__ std::uint32_t end_of(std::uint32_t first) const {
    const TargetRange last = to_.sets[min(first + SearchMemory::sets, to_.set_count) - 1];
    return last.begin + last.count;
  }

  /// The sets and clusters that may open the cell; one above the leaves is marked.
  __device__ void find_clusters(std::uint32_t first) const {
    __syncthreads();  // what was found before has been read
    if (threadIdx.x == 0) s_.set_hits = s_.hits = 0;
    if (cell_.is_leaf)
      for (std::uint32_t c = threadIdx.x; c < SearchMemory::clusters; c += pair_threads) s_.opens[c] = 0;
    __syncthreads();
    static_assert(SearchMemory::sets <= pair_threads);
    const std::uint32_t own = first + threadIdx.x;
    if (threadIdx.x < SearchMemory::sets && own < to_.set_count && cell_.is_opened(to_.of_set[own], from_))
      s_.set[atomicAdd(&s_.set_hits, 1u)] = own;
    __syncthreads();
    const std::uint32_t base = to_.sets[first].begin, lane = threadIdx.x % 32;
    for (std::uint32_t h = threadIdx.x / 32; h < s_.set_hits; h += pair_threads / 32) {
      const TargetRange set = to_.sets[s_.set[h]];
      const bool opens = lane < set.count && cell_.is_opened(to_.of_cluster[set.begin + lane], from_);
      if (cell_.is_leaf) {
        if (opens) s_.hit[atomicAdd(&s_.hits, 1u)] = static_cast<std::uint16_t>(set.begin + lane - base);
      } else if (__any_sync(~0u, opens) && lane == 0) {
        mark_opened(from_.cells, cell_.number, opened_of(set.slot));
      }
    }
    __syncthreads();
  }

  /// Returns how many targets of the clusters of these sets may open the leaf.
  __device__ std::uint32_t search(std::uint32_t first) const {
    find_clusters(first);
    const std::uint32_t base = to_.sets[first].begin, lane = threadIdx.x % 32;
    for (std::uint32_t h = threadIdx.x / 32; h < s_.hits; h += pair_threads / 32) {
      const TargetRange cluster = to_.clusters[base + s_.hit[h]];
      const bool opens = lane < cluster.count && cell_.is_opened(to_.of_target[cluster.begin + lane], from_);
      const std::uint32_t bits = __ballot_sync(~0u, opens);
      if (lane == 0) s_.opens[s_.hit[h]] = bits;
    }
    __syncthreads();
    std::uint32_t own[SearchMemory::of_thread], all = 0;
    for (std::uint32_t k = 0; k < SearchMemory::of_thread; ++k)
      own[k] = __popc(s_.opens[threadIdx.x * SearchMemory::of_thread + k]);
    SearchMemory::Scan(s_.scan).ExclusiveSum(own, own, all);
    for (std::uint32_t k = 0; k < SearchMemory::of_thread; ++k)
      s_.before[threadIdx.x * SearchMemory::of_thread + k] = own[k];
    __syncthreads();
    return all;
  }

  SearchMemory& s_;
  const LetReceivers& from_;
  const LetTargets::View& to_;
  const SearchedCell& cell_;
  std::uint32_t* opened_;
  std::uint32_t slot_words_;
};

/// One block per own cell, leaves first: lists the targets that may open the root of a leaf, and marks the
/// cells that some may open. opened: by slot, `words` each. slot_begin: shared, one per slot and one more.
__global__ void __launch_bounds__(pair_threads)
    find_pairs(const __grid_constant__ LetReceivers from, const LeafPlaces* places, std::uint32_t leaves,
               const FoundPairs to, std::uint32_t words, std::uint32_t* opened) {
  extern __shared__ std::uint32_t slot_begin[];
  __shared__ SearchMemory memory;
  __shared__ std::uint64_t begin;
  const std::int32_t number = from.cells.cells[blockIdx.x];
  const auto leaf = static_cast<std::int32_t>(blockIdx.x);
  SearchedCell cell{number, blockIdx.x < leaves, from.cells.centre[number], from.cells.core[number],
                    from.cells.balls[number]};
  if (cell.is_leaf) {
    cell.core = drifted(cell.core, from.drift_of(leaf));
    cell.ball = cell.ball.drifted(from.drift_of(leaf) * from.unit_length);
  } else {
    cell.core = grown(cell.core, from.room_of_cells);
    cell.ball = cell.ball.grown(from.room_of_cells);
  }
  const TargetSearch search(memory, from, cell, opened, words);
  if (!cell.is_leaf) return search.mark();
  const std::uint32_t all = search.count(slot_begin);
  if (all == 0) return;
  if (threadIdx.x == 0) begin = to.take_receivers(all);
  __syncthreads();
  for (auto slot = static_cast<std::int32_t>(threadIdx.x); slot < from.to.slots; slot += pair_threads) {
    const std::uint32_t first = slot_begin[slot], end = slot_begin[slot + 1];
    if (first == end) continue;
    const auto base = static_cast<std::uint32_t>(begin);  // of use only if there is room
    to.add({leaf, slot, base + first, base + end, 0}, places[leaf]);
    mark_opened(from.cells, number, search.opened_of(slot));
  }
  if (begin + all <= to.room.receivers) search.list(to.receivers + begin);
}

}  // namespace

TargetClusters::TargetClusters(std::vector<Range> ranks) : ranks_(std::move(ranks)) {
  std::vector<TargetRange> clusters, sets;
  std::vector<std::uint32_t> first_cluster{0};
  const auto divide = [](std::size_t slot, const Range& range, std::vector<TargetRange>& parts) {
    const std::uint32_t end = range.begin + range.count;
    for (std::uint32_t begin = range.begin; begin < end; begin += fan)
      parts.push_back({static_cast<std::int32_t>(slot), begin, std::min(fan, end - begin)});
  };
  for (std::size_t slot = 0; slot < ranks_.size(); ++slot) {
    divide(slot, ranks_[slot], clusters);
    const auto end = static_cast<std::uint32_t>(clusters.size());
    divide(slot, {first_cluster.back(), end - first_cluster.back()}, sets);
    first_cluster.push_back(end);
  }
  cluster_count_ = clusters.size();
  set_count_ = sets.size();
  clusters_ = arrays_.add(std::span<const TargetRange>(clusters));
  sets_ = arrays_.add(std::span<const TargetRange>(sets));
  first_cluster_ = arrays_.add(std::span<const std::uint32_t>(first_cluster));
  arrays_.go();
}

LetTargets::LetTargets(DeviceArray<LeafTargets> targets, const TargetClusters& clusters,
                       const WalkUnits& units, const Vec3d& reference)
    : clusters_(clusters),
      targets_(std::move(targets)),
      frames_(targets_.size()),
      of_target_(targets_.size()),
      of_cluster_(clusters.cluster_count()),
      of_set_(clusters.set_count()) {
  if (clusters.set_count() == 0) return;
  unite_targets<<<static_cast<unsigned>(clusters.set_count()), unite_threads, 0, stream()>>>(
      view(), reference, units.length, frames_.data(), of_target_.data(), of_cluster_.data(), of_set_.data());
  launched("Grove::cuda::unite_targets");
}

LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& from, const LetNumbers& room) {
  constexpr std::int32_t most_slots = 8000;  // in the shared memory of a block
  static_assert((most_slots + 1) * sizeof(std::uint32_t) + sizeof(SearchMemory) + 64 <= 48 * 1024);
  if (from.to.slots > most_slots)
    throw std::length_error("too many ranks in reach of one: larger leaves, or fewer ranks, are needed");
  const std::size_t words = words_of_slot(from);
  LetPairs result(room, words * static_cast<std::size_t>(from.to.slots));
  result.clear();
  find_pairs<<<static_cast<unsigned>(from.cells.count), pair_threads,
               (static_cast<std::size_t>(from.to.slots) + 1) * sizeof(std::uint32_t), stream()>>>(
      from, trees.leaves, trees.count, {result.receivers(), result.pairs(), result.found(), room},
      static_cast<std::uint32_t>(words), result.opened());
  launched("Grove::cuda::find_pairs");
  return result;
}

}  // namespace grove::cuda
