#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/trees/octree_keys.cuh"

namespace grove::cuda {
namespace {

constexpr int most_levels = 32, most_in_high = 21;

int bits_of_leaf(const LeafRecords& from) { return static_cast<int>(std::bit_width(from.leaves - 1)); }

/// The steps of a curve, in shared memory.
struct StepTable {
  std::uint8_t bits[8 * curve_states];

  __device__ void fill() {
    for (unsigned i = threadIdx.x; i < 8 * curve_states; i += threads)
      bits[i] = curve_step(static_cast<CurveState>(i / 8), i % 8).bits;
    __syncthreads();
  }
};

/// Levels [first, first + count) of a key, below the number of the leaf or nothing.
struct KeyLevels {
  int first, count;
  bool with_leaf;
};

/// The keys of particles, in order.
__global__ void __launch_bounds__(threads)
    make_curve_keys(const LeafRecords from, const KeyLevels levels, CurveState state,
                    const std::uint32_t* order, std::uint64_t* keys) {
  __shared__ StepTable table;
  table.fill();
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i >= from.count) return;
  const std::uint32_t place = order[i];
  const Coordinate x = from.columns.at[0][place], y = from.columns.at[1][place],
                   z = from.columns.at[2][place];
  std::uint64_t key = levels.with_leaf ? leaf_at(from.begin, from.leaves, place) : 0;
  for (int level = 0; level < levels.first + levels.count; ++level) {
    const CurveStep step{table.bits[8U * state + octant_of(x, y, z, 31 - level)]};
    state = step.state();
    if (level >= levels.first) key = key << 3 | step.digit();
  }
  keys[i] = key;
}

__global__ void make_leaf_keys(const LeafRecords from, const std::uint32_t* order, std::uint64_t* keys) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i < from.count) keys[i] = leaf_at(from.begin, from.leaves, order[i]);
}

__global__ void make_id_keys(const LeafRecords from, const std::uint32_t* order, std::uint64_t* keys) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i < from.count) keys[i] = id_of(from.ids, from.columns.at[3][order[i]]);
}

__global__ void make_order(std::uint32_t count, std::uint32_t* order) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i < count) order[i] = i;
}

/// The findings about sorted keys.
struct Findings {
  int levels;  ///< that the trees need
  int is_unresolved, has_coincident;
};

__device__ bool coincide(const Columns& columns, std::uint32_t i, std::uint32_t j) {
  return columns.at[0][i] == columns.at[0][j] && columns.at[1][i] == columns.at[1][j] &&
         columns.at[2][i] == columns.at[2][j];
}

/// A cell must be divided if the particle after as many of its own as a bucket may have is in it too.
__global__ void __launch_bounds__(threads)
    inspect(const LeafRecords from, const KeyView keys, const std::uint32_t* order, std::uint32_t bucket,
            Findings* findings) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  unsigned needed = 0;
  if (i < from.count && i + bucket < from.begin[leaf_at(from.begin, from.leaves, i) + 1]) {
    const int common = keys.common_levels(i, i + bucket);
    if (common < keys.levels()) {
      needed = static_cast<unsigned>(common + 1);
    } else {
      bool all = true;
      for (std::uint32_t k = 1; k <= bucket; ++k) all = all && coincide(from.columns, order[i], order[i + k]);
      if (all)
        findings->has_coincident = 1;
      else
        findings->is_unresolved = 1;
    }
  }
  needed = __reduce_max_sync(~0u, needed);
  if (threadIdx.x % 32 == 0) atomicMax(&most, static_cast<int>(needed));
  __syncthreads();
  if (threadIdx.x == 0 && most > 0) atomicMax(&findings->levels, most);
}

}  // namespace

KeyView OctreeKeys::view() const {
  const int high_levels = std::min(levels_, most_in_high), low_levels = levels_ - high_levels;
  return {keys_[now_].data(), low_levels > 0 ? low_.data() : nullptr, high_levels, low_levels};
}

void OctreeKeys::make_keys(Word word, const LeafRecords& from, std::uint64_t* keys) const {
  const unsigned blocks = blocks_for(from.count);
  const int high_levels = std::min(levels_, most_in_high);
  if (word == Word::id)
    make_id_keys<<<blocks, threads>>>(from, order(), keys);
  else if (word == Word::leaf)
    make_leaf_keys<<<blocks, threads>>>(from, order(), keys);
  else
    make_curve_keys<<<blocks, threads>>>(from,
                                         word == Word::low
                                             ? KeyLevels{high_levels, levels_ - high_levels, false}
                                             : KeyLevels{0, high_levels, leaf_in_high_},
                                         first_state(curve_), order(), keys);
  launched("Grove::cuda::make_octree_keys", std::uint64_t{24} * from.count);
}

void OctreeKeys::sort_by(Word word, const LeafRecords& from) {
  make_keys(word, from, keys_[now_].data());
  const int of_leaf = bits_of_leaf(from), in_high = std::min(levels_, most_in_high);
  const int bits = word == Word::id     ? 64
                   : word == Word::leaf ? of_leaf
                   : word == Word::low  ? 3 * (levels_ - in_high)
                                        : 3 * in_high + (leaf_in_high_ ? of_leaf : 0);
  cub::DoubleBuffer<std::uint64_t> keys(keys_[now_].data(), keys_[1 - now_].data());
  cub::DoubleBuffer<std::uint32_t> order(order_[now_].data(), order_[1 - now_].data());
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, order, from.count, 0, bits));
  scratch_.reserve(bytes);
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(scratch_.data(), bytes, keys, order, from.count, 0, bits));
  if (keys.Current() != keys_[now_].data()) now_ = 1 - now_;
  launched("Grove::cuda::sort_octree_keys",
           std::uint64_t{24} * static_cast<std::uint64_t>((bits + 7) / 8) * from.count,
           kernels_of_sort(bits));
}

void OctreeKeys::sort_once(const LeafRecords& from) {
  leaf_in_high_ = 3 * std::min(levels_, most_in_high) + bits_of_leaf(from) <= 64;
  make_order<<<blocks_for(from.count), threads>>>(from.count, order_[now_].data());
  if (by_id_) sort_by(Word::id, from);
  if (levels_ > most_in_high) sort_by(Word::low, from);
  sort_by(Word::high, from);
  if (!leaf_in_high_) {
    sort_by(Word::leaf, from);
    make_keys(Word::high, from, keys_[now_].data());
  }
  if (levels_ <= most_in_high) return;
  low_.reserve(from.count);
  make_keys(Word::low, from, low_.data());
}

void OctreeKeys::release() {
  for (auto& keys : keys_) keys = {};
  for (auto& order : order_) order = {};
  low_ = {};
  scratch_ = {};
}

void OctreeKeys::sort(const LeafRecords& from) {
  for (auto& keys : keys_) keys.reserve(from.count);
  for (auto& order : order_) order.reserve(from.count);
  DeviceArray<Findings> findings(1);
  for (levels_ = wanted_;;) {
    sort_once(from);
    findings.clear();
    inspect<<<blocks_for(from.count), threads>>>(from, view(), order(), bucket_, findings.data());
    launched("Grove::cuda::inspect_octree_keys", std::uint64_t{8} * from.count);
    Findings found{};
    findings.download(std::span(&found, 1));
    if (found.is_unresolved) {
      levels_ = std::min(levels_ + 6, most_levels);
    } else if (found.has_coincident && !by_id_) {
      by_id_ = true;
    } else {
      // Divisions by number: from 2^31 by eights.
      depth_ = found.levels + (found.has_coincident ? 11 : 0);
      by_id_ = found.has_coincident != 0;
      wanted_ = std::max(1, std::min(found.levels + 1, most_levels));
      return;
    }
  }
}

}  // namespace grove::cuda
