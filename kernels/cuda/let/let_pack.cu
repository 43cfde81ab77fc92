#include "kernels/cuda/let/let_pack.cuh"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

constexpr int pack_threads = 256;
/// Nodes of a piece of a large tree: no tree has more than 65535 times as many.
constexpr std::int32_t piece = 16384;

__device__ bool has_bit(const std::uint32_t* bits, std::int32_t n) { return bits[n / 32] >> (n % 32) & 1; }

/// Copies an element of each array of a list that is there.
template <class... Fields>
__device__ void copy_fields(FieldList<Fields...>, const LeafTrees& trees, std::uint64_t from,
                            const LeafTrees& out, std::uint64_t to) {
  const auto copy = [&](auto field) {
    if (out.*field.member) (out.*field.member)[to] = (trees.*field.member)[from];
  };
  (copy(Fields{}), ...);
}

/// Particles of a bucket that is opened.
struct OpenedBucket {
  std::int32_t first, before, count;  ///< of the leaf; of opened buckets before this one
};

/// A tree that is packed. Numbers: number(n) of node n among those selected.
template <class Numbers>
struct TreePacking {
  const LeafTrees& trees;
  const LeafPlaces& leaf;
  const PackPlaces& place;
  const std::uint32_t *selected, *opened;
  const Numbers& number;
  const LeafTrees& out;
  NodeLinks* out_links;

  /// before: opened buckets' particles before this node.
  __device__ void store(std::int32_t n, std::int32_t before) const {
    const std::uint64_t from = leaf.node + static_cast<std::uint64_t>(n),
                        to = place.node + static_cast<std::uint64_t>(number(n));
    copy_fields(let_fields::OfNodes{}, trees, from, out, to);
    NodeLinks link = trees.links[from];
    // The next node is a sibling of a selected node, or of one above it: selected, too.
    if (link.next >= 0) link.next = number(link.next);
    const bool is_open = has_bit(opened, n);
    link.first = is_open ? before : 0;
    if (!is_open)
      link.child = NodeLinks::pruned;
    else if (link.child >= 0)
      link.child = number(link.child);
    out_links[to] = link;
  }

  __device__ void copy_particle(const OpenedBucket& bucket, std::int32_t i) const {
    copy_fields(let_fields::OfParticles{}, trees, leaf.first + static_cast<std::uint64_t>(bucket.first + i),
                out, place.particle + static_cast<std::uint64_t>(bucket.before + i));
  }

  /// Those that a node brings along; of others there are none.
  __device__ OpenedBucket bucket(std::int32_t n) const {
    if (n >= leaf.nodes || !has_bit(opened, n)) return {0, 0, 0};
    const NodeLinks link = trees.links[leaf.node + static_cast<std::uint64_t>(n)];
    return {link.first, 0, link.child < 0 ? link.count : 0};
  }
};

/// The memory in which a block packs a tree: by word of marks, what comes before it.
struct PackMemory {
  static constexpr int words = most_in_block / 32;
  std::uint32_t selected[words];
  std::int32_t nodes[words], particles[words];
  OpenedBucket bucket[most_in_block];  ///< in any order
  std::int32_t buckets;

  __device__ std::int32_t operator()(std::int32_t n) const {
    return nodes[n / 32] + __popc(selected[n / 32] & ((1u << (n % 32)) - 1));
  }
};

/// A warp per word of marks. All threads of a block.
class TreeInBlock {
 public:
  __device__ TreeInBlock(const TreePacking<PackMemory>& tree, PackMemory& shared) : tree_(tree), s_(shared) {}

  __device__ void pack() {
    if (threadIdx.x == 0) s_.buckets = 0;
    OpenedBucket own[rounds];
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      own[round] = tree_.bucket(node(round));
      if (word(round) >= words_of_tree()) continue;
      own[round].before = inclusive_sum(own[round].count) - own[round].count;
      if (lane_index() < 31) continue;
      s_.selected[word(round)] = tree_.selected[word(round)];
      s_.nodes[word(round)] = __popc(tree_.selected[word(round)]);
      s_.particles[word(round)] = own[round].before + own[round].count;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      sum_up(s_.nodes);
      sum_up(s_.particles);
    }
    __syncthreads();
#pragma unroll
    for (int round = 0; round < rounds; ++round) {
      if (node(round) >= tree_.leaf.nodes) continue;
      own[round].before += s_.particles[word(round)];
      if (has_bit(s_.selected, node(round))) tree_.store(node(round), own[round].before);
      if (own[round].count > 0) s_.bucket[atomicAdd(&s_.buckets, 1)] = own[round];
    }
    __syncthreads();
    for (auto b = static_cast<std::int32_t>(threadIdx.x / lanes); b < s_.buckets; b += pack_threads / lanes)
      for (auto i = static_cast<std::int32_t>(threadIdx.x % lanes); i < s_.bucket[b].count; i += lanes)
        tree_.copy_particle(s_.bucket[b], i);
  }

 private:
  static constexpr int block_warps = pack_threads / 32, rounds = PackMemory::words / block_warps;
  static constexpr unsigned lanes = bucket_size;  ///< that copy a bucket

  __device__ static std::int32_t word(int round) {
    return static_cast<std::int32_t>(threadIdx.x / 32) + round * block_warps;
  }
  __device__ static std::int32_t node(int round) { return 32 * word(round) + lane_index(); }
  __device__ std::int32_t words_of_tree() const { return (tree_.leaf.nodes + 31) / 32; }

  /// Sums of all before, in place of numbers by word. By a warp.
  __device__ void sum_up(std::int32_t* of_word) const {
    std::int32_t done = 0;
    for (std::int32_t first = 0; first < words_of_tree(); first += 32) {
      const std::int32_t w = first + lane_index(), own = w < words_of_tree() ? of_word[w] : 0;
      const std::int32_t sum = inclusive_sum(own);
      if (w < words_of_tree()) of_word[w] = done + sum - own;
      done += __shfl_sync(~0u, sum, 31);
    }
  }

  const TreePacking<PackMemory>& tree_;
  PackMemory& s_;
};

/// One block per tree that a block holds.
__global__ void __launch_bounds__(pack_threads)
    pack_tree(const LeafTrees trees, const PackPlaces* places, const LetMarks marks, const LeafTrees out,
              NodeLinks* out_links) {
  __shared__ PackMemory memory;
  const PackPlaces place = places[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[place.leaf];
  if (leaf.nodes > most_in_block) return;
  TreeInBlock({trees, leaf, place, marks.selected + place.marks / 32, marks.opened + place.marks / 32, memory,
               out, out_links},
              memory)
      .pack();
}

/// By node of a large tree.
struct ListedNumbers {
  std::int32_t* list;
  __device__ std::int32_t operator()(std::int32_t n) const { return list[n]; }
};
using LargeTree = TreePacking<ListedNumbers>;

/// The numbers of selected ones among some nodes.
struct PackCounts {
  std::uint32_t nodes, particles;
};
struct AddCounts {
  __device__ PackCounts operator()(const PackCounts& a, const PackCounts& b) const {
    return {a.nodes + b.nodes, a.particles + b.particles};
  }
};

/// Sums along nodes, a node per thread in each round. All threads of a block.
class RoundSums {
 public:
  using Scan = cub::BlockScan<std::int32_t, pack_threads>;

  __device__ RoundSums(Scan::TempStorage& storage, std::int32_t before) : storage_(storage), done_(before) {}

  /// The sum of the values before this thread's.
  __device__ std::int32_t add(std::int32_t value) {
    std::int32_t before = 0, all = 0;
    Scan(storage_).ExclusiveSum(value, before, all);
    __syncthreads();
    before += done_;
    done_ += all;
    return before;
  }
  __device__ std::int32_t done() const { return done_; }

 private:
  Scan::TempStorage& storage_;
  std::int32_t done_;
};

/// Numbers of the selected ones among nodes [first, end).
__device__ void number_nodes(const LargeTree& tree, std::int32_t first, std::int32_t end, RoundSums sums) {
  for (; first < end; first += pack_threads) {
    const std::int32_t n = first + static_cast<std::int32_t>(threadIdx.x);
    const bool is_selected = n < end && has_bit(tree.selected, n);
    const std::int32_t before = sums.add(is_selected ? 1 : 0);
    if (is_selected) tree.number.list[n] = before;
  }
}

__device__ void store_nodes(const LargeTree& tree, std::int32_t first, std::int32_t end, RoundSums sums) {
  for (; first < end; first += pack_threads) {
    const std::int32_t n = first + static_cast<std::int32_t>(threadIdx.x);
    OpenedBucket bucket = n < end ? tree.bucket(n) : OpenedBucket{0, 0, 0};
    bucket.before = sums.add(bucket.count);
    if (n < end && has_bit(tree.selected, n)) tree.store(n, bucket.before);
    for (std::int32_t i = 0; i < bucket.count; ++i) tree.copy_particle(bucket, i);
  }
}

/// The steps with the pieces of large trees, one after the other.
enum class PackStep { count, number, store };

/// Blocks along y share a tree, a piece each. counts: by tree and piece; after counting sums of all before.
template <PackStep step>
__global__ void __launch_bounds__(pack_threads)
    pack_piece(const LeafTrees trees, const PackPlaces* places, const LetMarks marks, PackCounts* counts,
               const LeafTrees out, NodeLinks* out_links) {
  __shared__ RoundSums::Scan::TempStorage storage;
  const PackPlaces place = places[blockIdx.x];
  const LeafPlaces leaf = trees.leaves[place.leaf];
  const ListedNumbers numbers{marks.number + place.marks};
  const LargeTree tree{
      trees,   leaf, place,    marks.selected + place.marks / 32, marks.opened + place.marks / 32,
      numbers, out,  out_links};
  PackCounts* const of_tree = counts + blockIdx.x * std::size_t{gridDim.y};
  const bool is_large = leaf.nodes > most_in_block;
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.y) * piece,
                     end = is_large ? min(first + piece, leaf.nodes) : 0;
  if constexpr (step == PackStep::count) {
    RoundSums nodes(storage, 0), particles(storage, 0);
    for (std::int32_t round = first; round < end; round += pack_threads) {
      const std::int32_t n = round + static_cast<std::int32_t>(threadIdx.x);
      nodes.add(n < end && has_bit(tree.selected, n) ? 1 : 0);
      particles.add(n < end ? tree.bucket(n).count : 0);
    }
    if (threadIdx.x == 0)
      of_tree[blockIdx.y] = {static_cast<std::uint32_t>(nodes.done()),
                             static_cast<std::uint32_t>(particles.done())};
  } else {
    const PackCounts before = of_tree[blockIdx.y], before_tree = of_tree[0];
    if constexpr (step == PackStep::number)
      number_nodes(tree, first, end, {storage, static_cast<std::int32_t>(before.nodes - before_tree.nodes)});
    else
      store_nodes(tree, first, end,
                  {storage, static_cast<std::int32_t>(before.particles - before_tree.particles)});
  }
}

void pack_large(const LeafTrees& trees, std::int32_t largest, const DeviceArray<PackPlaces>& places,
                const LetMarks& marks, const LetArrays& out) {
  const dim3 blocks(static_cast<unsigned>(places.size()), static_cast<unsigned>((largest - 1) / piece + 1));
  const std::size_t pieces = places.size() * blocks.y;
  const DeviceArray<PackCounts> counts(pieces), before(pieces);
  pack_piece<PackStep::count><<<blocks, pack_threads, 0, stream()>>>(trees, places.data(), marks,
                                                                     counts.data(), out.trees(), out.links());
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    GROVE_CUDA(cub::DeviceScan::ExclusiveScan(scratch, bytes, counts.data(), before.data(), AddCounts{},
                                              PackCounts{}, static_cast<int>(pieces), stream()));
  };
  scan(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  scan(scratch.data());
  pack_piece<PackStep::number><<<blocks, pack_threads, 0, stream()>>>(
      trees, places.data(), marks, before.data(), out.trees(), out.links());
  pack_piece<PackStep::store><<<blocks, pack_threads, 0, stream()>>>(trees, places.data(), marks,
                                                                     before.data(), out.trees(), out.links());
  launched("Grove::cuda::pack_large", 0, 3 + kernels_of_pass);
}

}  // namespace

void pack_trees(const LeafTrees& trees, std::int32_t largest, std::span<const PackPlaces> places,
                const LetMarks& marks, const LetArrays& out) {
  if (places.empty()) return;
  const DeviceArray<PackPlaces> device_places(places);
  pack_tree<<<static_cast<unsigned>(places.size()), pack_threads, 0, stream()>>>(
      trees, device_places.data(), marks, out.trees(), out.links());
  launched("Grove::cuda::pack_trees");
  if (largest > most_in_block) pack_large(trees, largest, device_places, marks, out);
}

}  // namespace grove::cuda
