#include "kernels/cuda/trees/octree.hpp"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/trees/octree_keys.cuh"
#include "kernels/math/octree.hpp"

namespace grove::cuda {
namespace {

constexpr int lanes_per_cell = 8;
constexpr int most_depth = 64;
/// Blocks of a level: enough for any GPU, few for levels that have no cells.

/// A node that is divided.
struct OctreeCell {
  std::uint32_t leaf;
  std::uint32_t first, count;  ///< its particles, by place in the order
  std::uint32_t before;        ///< children that the counter at its first particle had before
  std::uint32_t children;      ///< nodes
  std::uint32_t begin[8];      ///< where the particles of its parts begin, empty ones too
};

/// The data that all kernels know.
struct OctreeView {
  LeafRecords from;
  KeyView keys;
  const std::uint32_t* place;  ///< of records, in the order of keys
  OctreeCell* cells;
  std::uint32_t capacity;      ///< of cells
  std::uint32_t* level_size;   ///< [most_depth] cells of each level, one level after the other
  std::uint32_t* node_counts;  ///< [particles + 1] children of cells that begin here, roots; then sums before
  std::uint32_t*
      largest_node;  ///< [particles] number of the largest node that begins here, but for first ones
  NodeLinks* links;
  std::uint32_t* order;
  std::uint32_t bucket;  ///< particles of a node that is not divided, at most

  __device__ std::uint32_t leaf_first(std::uint32_t leaf) const { return from.begin[leaf]; }

  __device__ std::uint32_t level_begin(int level) const {
    std::uint32_t begin = 0;
    for (int l = 0; l < level; ++l) begin += level_size[l];
    return begin;
  }

  __device__ void append(int level, std::uint32_t level_first, std::uint32_t leaf, std::uint32_t first,
                         std::uint32_t count) const {
    const std::uint32_t at = level_first + atomicAdd(&level_size[level], 1U);
    if (at >= capacity) return;  // there will be another try
    OctreeCell& cell = cells[at];
    cell.leaf = leaf, cell.first = first, cell.count = count;
  }

  /// Orders at most so many particles by id. Loads that depend on others are issued for all particles at a
  /// time: they wait three times in all.
  template <std::uint32_t most>
  __device__ void order_by_id(std::uint32_t first, std::uint32_t count) const {
    std::uint32_t index[most], rank[most];
    ParticleId id[most];
#pragma unroll
    for (std::uint32_t k = 0; k < most; ++k)
      if (k < count) index[k] = place[first + k];
#pragma unroll
    for (std::uint32_t k = 0; k < most; ++k)
      if (k < count) index[k] = from.columns.at[3][index[k]];
#pragma unroll
    for (std::uint32_t k = 0; k < most; ++k) {
      rank[k] = 0;
      id[k] = k < count ? index[k] : ~ParticleId{0};  // behind all others
    }
    if (from.ids != nullptr)
#pragma unroll
      for (std::uint32_t k = 0; k < most; ++k)
        if (k < count) id[k] = from.ids[index[k]];
#pragma unroll
    for (std::uint32_t k = 0; k < most; ++k)
#pragma unroll
      for (std::uint32_t other = k + 1; other < most; ++other) {
        const bool is_before = id[other] < id[k];
        rank[k] += is_before;
        rank[other] += !is_before;
      }
#pragma unroll
    for (std::uint32_t k = 0; k < most; ++k)
      if (k < count) order[first + rank[k]] = index[k];
  }
};

/// A part of a cell, of a lane's.
struct Part {
  std::uint32_t first, count;
  std::uint32_t nodes;  ///< 0, 1, or 2: buckets of two groups
};

__device__ Part part_of(const OctreeView& v, std::uint32_t leaf_first, std::uint32_t first,
                        std::uint32_t end) {
  Part part{first, end - first, 0};
  if (part.count == 0) return part;
  const auto a = static_cast<std::int32_t>(first - leaf_first),
             b = static_cast<std::int32_t>(end - leaf_first);
  part.nodes = part.count > v.bucket || group_end(a, b - 1) == b ? 1 : 2;
  return part;
}

/// The lane among those of its cell, and all of these.
__device__ int cell_lane() { return static_cast<int>(threadIdx.x % lanes_per_cell); }
__device__ unsigned cell_mask() {
  return ((1U << lanes_per_cell) - 1) << (threadIdx.x % 32 / lanes_per_cell * lanes_per_cell);
}

/// Nodes of the parts of lanes before this one, and of all.
struct NodeRank {
  std::uint32_t before, all;
};
__device__ NodeRank rank_of(std::uint32_t nodes) {
  std::uint32_t sum = nodes;
  for (int step = 1; step < lanes_per_cell; step *= 2) {
    const std::uint32_t other = __shfl_sync(cell_mask(), sum, max(cell_lane() - step, 0), lanes_per_cell);
    if (cell_lane() >= step) sum += other;
  }
  return {sum - nodes, __shfl_sync(cell_mask(), sum, lanes_per_cell - 1, lanes_per_cell)};
}

/// The begin of the part of this lane: by the digit behind the levels that all have in common, or by number.
__device__ std::uint32_t find_begin(const OctreeView& v, const OctreeCell& cell) {
  const unsigned lane = static_cast<unsigned>(cell_lane());
  const std::uint32_t end = cell.first + cell.count;
  if (lane == 0) return cell.first;
  const int level = v.keys.common_levels(cell.first, end - 1);
  if (level == v.keys.levels()) {
    const std::uint32_t leaf_first = v.leaf_first(cell.leaf);
    const auto a = static_cast<std::int32_t>(cell.first - leaf_first);
    const auto size = static_cast<std::uint64_t>(
        piece_size(a, a + static_cast<std::int32_t>(cell.count) - 1, static_cast<std::int32_t>(v.bucket)));
    const std::uint64_t begin = (static_cast<std::uint64_t>(a) / size + lane) * size;
    return static_cast<std::uint32_t>(min(leaf_first + begin, static_cast<std::uint64_t>(end)));
  }
  std::uint32_t low = cell.first, high = end;  // the first one whose digit is not below the lane's
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (v.keys.digit(middle, level) < lane)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// A leaf's root, and where it must be divided, its cell.
__global__ void start(const OctreeView v) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf >= v.from.leaves) return;
  const std::uint32_t first = v.from.begin[leaf], count = v.from.begin[leaf + 1] - first;
  if (count == 0) return;
  v.node_counts[first] = 1;
  if (count > v.bucket) v.append(0, 0, leaf, first, count);
}

/// Divides the cells of a level, eight lanes each.
__global__ void __launch_bounds__(threads) divide(const OctreeView v, int level) {
  const std::uint32_t begin = v.level_begin(level), end = min(begin + v.level_size[level], v.capacity);
  const std::uint32_t next = begin + v.level_size[level], step = gridDim.x * (threads / lanes_per_cell);
  for (std::uint32_t c = begin + (blockIdx.x * threads + threadIdx.x) / lanes_per_cell; c < end; c += step) {
    OctreeCell& cell = v.cells[c];
    const std::uint32_t leaf = cell.leaf, first = cell.first, cell_end = first + cell.count;
    const std::uint32_t part_first = find_begin(v, cell);
    const std::uint32_t following =
        __shfl_sync(cell_mask(), part_first, min(cell_lane() + 1, lanes_per_cell - 1), lanes_per_cell);
    const std::uint32_t part_end = cell_lane() == lanes_per_cell - 1 ? cell_end : following;
    const Part part = part_of(v, v.leaf_first(leaf), part_first, part_end);
    const NodeRank rank = rank_of(part.nodes);
    cell.begin[cell_lane()] = part_first;
    if (cell_lane() == 0) {
      cell.before = v.node_counts[first];
      cell.children = rank.all;
      v.node_counts[first] += rank.all;
    }
    if (part.count > v.bucket) v.append(level + 1, next, leaf, part.first, part.count);
  }
}

/// Links the children of all cells, but for where walks go on behind the last one. Orders buckets, of at most
/// so many particles.
template <std::uint32_t most>
__global__ void __launch_bounds__(threads) link_children(const OctreeView v, std::uint32_t cells) {
  const std::uint32_t c = (blockIdx.x * threads + threadIdx.x) / lanes_per_cell;
  if (c >= cells) return;
  const OctreeCell& cell = v.cells[c];
  const int lane = cell_lane();
  const std::uint32_t end = lane == lanes_per_cell - 1 ? cell.first + cell.count : cell.begin[lane + 1];
  const std::uint32_t leaf_first = v.leaf_first(cell.leaf);
  const Part part = part_of(v, leaf_first, cell.begin[lane], end);
  const NodeRank rank = rank_of(part.nodes);
  if (part.count == 0) return;

  // Numbers of nodes: among all, and in the leaf.
  const std::uint32_t root = v.node_counts[leaf_first];
  const std::uint32_t number = v.node_counts[cell.first] + cell.before + rank.before;
  const auto own = static_cast<std::int32_t>(number - root),
             a = static_cast<std::int32_t>(part.first - leaf_first),
             count = static_cast<std::int32_t>(part.count);
  if (rank.before > 0) v.largest_node[part.first] = number - root;
  if (part.count > v.bucket) {
    const std::uint32_t before = part.first == cell.first ? cell.before + cell.children : 0;
    const auto child = static_cast<std::int32_t>(v.node_counts[part.first] + before - root);
    v.links[number] = {child, own + 1, a, count};
    return;
  }
  v.order_by_id<most>(part.first, part.count);
  const std::int32_t of_first = part.nodes == 1 ? count : group_end(a, a + count - 1) - a;
  v.links[number] = {NodeLinks::bucket, own + 1, a, of_first};
  if (part.nodes == 1) return;
  v.links[number + 1] = {NodeLinks::bucket, own + 2, a + of_first, count - of_first};
  v.largest_node[part.first + static_cast<std::uint32_t>(of_first)] = number + 1 - root;
}

/// Behind the last child of a cell a walk goes on where it does behind the cell: at the largest node that
/// begins there.
__global__ void link_last(const OctreeView v, std::uint32_t cells) {
  const std::uint32_t c = blockIdx.x * threads + threadIdx.x;
  if (c >= cells) return;
  const OctreeCell& cell = v.cells[c];
  const std::uint32_t last = v.node_counts[cell.first] + cell.before + cell.children - 1;
  const std::uint32_t end = cell.first + cell.count;
  v.links[last].next =
      end == v.from.begin[cell.leaf + 1] ? -1 : static_cast<std::int32_t>(v.largest_node[end]);
}

template <std::uint32_t most>
__global__ void link_roots(const OctreeView v, std::uint32_t* node_begin) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf > v.from.leaves) return;
  const std::uint32_t first = v.from.begin[leaf], number = v.node_counts[first];
  node_begin[leaf] = number;
  if (leaf == v.from.leaves) return;
  const std::uint32_t count = v.from.begin[leaf + 1] - first;
  if (count == 0) return;
  v.links[number] = {count > v.bucket ? 1 : NodeLinks::bucket, -1, 0, static_cast<std::int32_t>(count)};
  if (count <= v.bucket) v.order_by_id<most>(first, count);
}

}  // namespace

struct OctreeBuilder::Memory {
  Memory(Curve curve, std::uint32_t most) : bucket(most), keys(curve, most) {}

  std::uint32_t bucket;
  OctreeKeys keys;
  LeafRecords from{};
  DeviceArray<std::uint32_t> leaf_begin, node_counts, largest_node, node_begin;
  DeviceArray<std::uint32_t> sizes{most_depth + 1};  ///< cells of each level, and all nodes
  DeviceArray<OctreeCell> cells;
  DeviceArray<std::byte> scratch;

  OctreeView view() {
    return {from,
            keys.view(),
            keys.order(),
            cells.data(),
            static_cast<std::uint32_t>(cells.size()),
            sizes.data(),
            node_counts.data(),
            largest_node.data(),
            nullptr,
            nullptr,
            bucket};
  }

  struct Sizes {
    std::uint32_t cells, nodes;
  };

  /// Finds all cells that are divided, and numbers the nodes.
  Sizes divide_all() {
    // A cell that is divided has more particles than a bucket.
    const unsigned blocks =
        std::min(enough_blocks, blocks_for(std::uint64_t{from.count} / bucket * lanes_per_cell + 1));
    for (;;) {
      const OctreeView v = view();
      device_clear(node_counts.data(), (std::size_t{from.count} + 1) * sizeof(std::uint32_t));
      sizes.clear();
      start<<<blocks_for(from.leaves), threads>>>(v);
      for (int level = 0; level < keys.depth(); ++level) divide<<<blocks, threads>>>(v, level);
      launched("Grove::cuda::divide_octree_cells", std::uint64_t{16} * from.count,
               1 + static_cast<unsigned>(keys.depth()));
      number_nodes();
      // One transfer for both, which the device waits for.
      device_copy(sizes.data() + most_depth, node_counts.data() + from.count, sizeof(std::uint32_t));
      std::uint32_t found[most_depth + 1], all = 0;
      sizes.download(std::span(found));
      for (int level = 0; level < most_depth; ++level) all += found[level];
      if (all <= cells.size()) return {all, found[most_depth]};
      cells = DeviceArray<OctreeCell>();
      cells = DeviceArray<OctreeCell>(std::min<std::size_t>(from.count, 2 * std::size_t{all}));
    }
  }

  void number_nodes() {
    const std::uint32_t count = from.count + 1;
    std::size_t bytes = 0;
    GROVE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, node_counts.data(), node_counts.data(), count));
    scratch.reserve(bytes);
    GROVE_CUDA(
        cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, node_counts.data(), node_counts.data(), count));
    launched("Grove::cuda::number_octree_nodes", std::uint64_t{8} * count, kernels_of_pass);
  }
};

OctreeBuilder::OctreeBuilder(Curve curve, std::int32_t bucket)
    : memory_(std::make_unique<Memory>(curve, static_cast<std::uint32_t>(bucket))) {}
OctreeBuilder::~OctreeBuilder() = default;

void OctreeBuilder::release() {
  Memory& m = *memory_;
  m.keys.release();
  for (auto* array : {&m.leaf_begin, &m.node_counts, &m.largest_node, &m.node_begin}) *array = {};
  m.cells = {};
  m.scratch = {};
}

void OctreeBuilder::sort(std::span<const Count> leaf_begin, const DeviceRecords& records,
                         const ParticleId* ids) {
  Memory& m = *memory_;
  const std::vector<std::uint32_t> begin(leaf_begin.begin(), leaf_begin.end());
  m.leaf_begin.reserve(begin.size());
  m.leaf_begin.upload(begin);
  m.from = {m.leaf_begin.data(), static_cast<std::uint32_t>(begin.size() - 1), begin.back(),
            columns_of(records), ids};
  if (m.from.count > 0) m.keys.sort(m.from);
}

std::vector<Count> OctreeBuilder::build(std::uint32_t* order, DeviceArray<NodeLinks>& links) {
  Memory& m = *memory_;
  const std::uint32_t leaves = m.from.leaves;
  if (m.from.count == 0) return std::vector<Count>(leaves + std::size_t{1}, 0);
  m.node_counts.reserve(std::size_t{m.from.count} + 1);
  m.largest_node.reserve(m.from.count);
  m.cells.reserve(m.from.count / m.bucket);
  m.node_begin.reserve(std::size_t{leaves} + 1);
  const auto [cells, nodes] = m.divide_all();

  OctreeView v = m.view();
  links.reserve(nodes);
  v.links = links.data(), v.order = order;
  const auto link = [&]<std::uint32_t most>(std::integral_constant<std::uint32_t, most>) {
    link_roots<most><<<blocks_for(std::uint64_t{leaves} + 1), threads>>>(v, m.node_begin.data());
    if (cells == 0) return;
    link_children<most><<<blocks_for(std::uint64_t{cells} * lanes_per_cell), threads>>>(v, cells);
    link_last<<<blocks_for(cells), threads>>>(v, cells);
  };
  if (m.bucket <= bucket_size)
    link(std::integral_constant<std::uint32_t, bucket_size>{});
  else
    link(std::integral_constant<std::uint32_t, group_size>{});
  launched("Grove::cuda::link_octree_nodes", std::uint64_t{16} * nodes + std::uint64_t{8} * m.from.count,
           cells > 0 ? 3 : 1);
  std::vector<std::uint32_t> begin(leaves + std::size_t{1});
  device_download(begin.data(), m.node_begin.data(), begin.size() * sizeof(std::uint32_t));
  return {begin.begin(), begin.end()};
}

}  // namespace grove::cuda
