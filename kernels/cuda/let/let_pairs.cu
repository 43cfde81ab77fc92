#include "kernels/cuda/let/let_pairs.cuh"

#include <cub/device/device_scan.cuh>
#include <stdexcept>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

constexpr int pair_threads = 128;
/// Into which the leaves of all ranks are divided, from left to right.
constexpr std::int32_t parts = 256;

/// How deep a descent of the top tree may go: a cut halves the longest side of a box of 2^96 places at most.
constexpr int stack_size = 128;

/// Calls hit(leaf) for the leaves of other ranks, ascending, of a part of all, for which the root of own leaf
/// `leaf` may not stand for its particles.
template <class Hit>
__device__ void descend(const LetReceivers& to, std::int32_t leaf, std::int32_t part, Hit&& hit) {
  const std::int32_t own_begin = to.first_leaf[to.own_rank], own_end = to.first_leaf[to.own_rank + 1];
  const std::int32_t part_size = (to.top.links[0].leaves + parts - 1) / parts, begin = part * part_size,
                     end = begin + part_size;
  const std::uint32_t node = to.top.leaf_cell[own_begin + leaf];
  const Vec3d centre = to.top.centre[node];
  const NodeCore core = to.top.core[node];
  std::int32_t stack[stack_size];
  int size = 1;
  stack[0] = 0;
  while (size > 0) {
    const std::int32_t c = stack[--size];
    const TopLinks links = to.top.links[c];
    if (links.first_leaf >= end || links.first_leaf + links.leaves <= begin) continue;
    const bool own = links.first_leaf >= own_begin && links.first_leaf + links.leaves <= own_end;
    if (own || !to.top.wanted[c].may_open(centre, core, to.unit_length, to.images)) continue;
    if (links.child < 0) {
      hit(static_cast<std::uint32_t>(links.first_leaf));
    } else {
      if (size + 2 > stack_size) __trap();
      stack[size++] = links.child + 1;
      stack[size++] = links.child;
    }
  }
}

/// One thread per own leaf and part, and one more.
__global__ void __launch_bounds__(pair_threads)
    count_receivers(const LetReceivers to, std::uint32_t number, std::uint32_t* counts) {
  const std::uint32_t i = blockIdx.x * pair_threads + threadIdx.x;
  if (i > number) return;
  std::uint32_t found = 0;
  if (i < number)
    descend(to, static_cast<std::int32_t>(i / parts), static_cast<std::int32_t>(i % parts),
            [&](std::uint32_t) { ++found; });
  counts[i] = found;
}

__global__ void __launch_bounds__(pair_threads)
    list_receivers(const LetReceivers to, std::uint32_t number, const std::uint32_t* before,
                   std::uint32_t* receivers) {
  const std::uint32_t i = blockIdx.x * pair_threads + threadIdx.x;
  if (i >= number || before[i + 1] == before[i]) return;
  std::uint32_t next = before[i];
  descend(to, static_cast<std::int32_t>(i / parts), static_cast<std::int32_t>(i % parts),
          [&](std::uint32_t receiver) { receivers[next++] = receiver; });
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

/// Calls visit(rank, begin, end) for each rank that has some of the receivers of an own leaf.
template <class Visitor>
__device__ void for_each_rank(const LetReceivers& to, std::int32_t leaf, const std::uint32_t* before,
                              const std::uint32_t* receivers, Visitor&& visit) {
  const std::uint32_t end = before[(leaf + 1) * parts];
  std::int32_t rank = 0;
  for (std::uint32_t begin = before[leaf * parts]; begin < end;) {
    while (static_cast<std::uint32_t>(to.first_leaf[rank + 1]) <= receivers[begin]) ++rank;
    std::uint32_t low = begin, high = end;  // the first receiver of another rank is one of low + 1 .. high
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (receivers[middle] < static_cast<std::uint32_t>(to.first_leaf[rank + 1]) ? low : high) = middle;
    }
    visit(rank, begin, high);
    begin = high;
  }
}

__device__ std::uint64_t marks_of(const LeafPlaces& leaf) {
  return (static_cast<std::uint64_t>(leaf.nodes) + 31) / 32 * 32;
}

/// One thread per own leaf, and one more.
__global__ void __launch_bounds__(pair_threads)
    count_pairs(const LetReceivers to, const LeafPlaces* places, std::int32_t leaves,
                const std::uint32_t* before, const std::uint32_t* receivers, Numbers* numbers) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * pair_threads + threadIdx.x);
  if (leaf > leaves) return;
  Numbers found{0, 0};
  if (leaf < leaves)
    for_each_rank(to, leaf, before, receivers, [&](std::int32_t, std::uint32_t, std::uint32_t) {
      ++found.pairs;
      found.nodes += marks_of(places[leaf]);
    });
  numbers[leaf] = found;
}

__global__ void __launch_bounds__(pair_threads)
    list_pairs(const LetReceivers to, const LeafPlaces* places, std::int32_t leaves,
               const std::uint32_t* before, const std::uint32_t* receivers, const Numbers* numbers_before,
               LetPair* pairs) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * pair_threads + threadIdx.x);
  if (leaf >= leaves) return;
  Numbers next = numbers_before[leaf];
  for_each_rank(to, leaf, before, receivers, [&](std::int32_t rank, std::uint32_t begin, std::uint32_t end) {
    pairs[next.pairs++] = {leaf, rank, begin, end, next.nodes};
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

LetPairs find_let_pairs(const LeafTrees& trees, const LetReceivers& to) {
  if (trees.count >= (1u << 31) / parts)
    throw std::length_error("too many leaves on one rank: larger leaves, or more ranks, are needed");
  const auto number = static_cast<std::uint32_t>(trees.count * parts);
  const DeviceArray<std::uint32_t> counts(std::size_t{number} + 1);
  count_receivers<<<blocks_for(counts.size(), pair_threads), pair_threads, 0, stream()>>>(to, number,
                                                                                          counts.data());
  launched("Grove::cuda::count_receivers");
  const DeviceArray<std::uint32_t> before = scanned(counts, Plus{});
  LetPairs result{DeviceArray<std::uint32_t>(last_of(before)), {}, 0};
  if (result.receivers.size() == 0) return result;
  list_receivers<<<blocks_for(number, pair_threads), pair_threads, 0, stream()>>>(to, number, before.data(),
                                                                                  result.receivers.data());
  launched("Grove::cuda::list_receivers");

  const auto leaves = static_cast<std::int32_t>(trees.count);
  const DeviceArray<Numbers> numbers(trees.count + 1);
  count_pairs<<<blocks_for(numbers.size(), pair_threads), pair_threads, 0, stream()>>>(
      to, trees.leaves, leaves, before.data(), result.receivers.data(), numbers.data());
  launched("Grove::cuda::count_pairs");
  const DeviceArray<Numbers> numbers_before = scanned(numbers, AddNumbers{});
  const Numbers all = last_of(numbers_before);
  result.pairs = DeviceArray<LetPair>(all.pairs);
  result.nodes = all.nodes;
  list_pairs<<<blocks_for(trees.count, pair_threads), pair_threads, 0, stream()>>>(
      to, trees.leaves, leaves, before.data(), result.receivers.data(), numbers_before.data(),
      result.pairs.data());
  launched("Grove::cuda::list_pairs");
  return result;
}

}  // namespace grove::cuda
