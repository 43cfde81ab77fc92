#include "kernels/cuda/walk/active.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <algorithm>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

/// Stands for the class of a group that is not to be listed, and is counted nowhere.
constexpr int not_listed = work_classes;

struct WorkClasses {
  WalkableGroups groups;
  bool in_pairs;

  __device__ int of(std::uint32_t g) const {
    const Group& group = groups.trees.groups[g];
    if (in_pairs && group.first % (2 * group_size) != 0) return not_listed;
    if (group.active != 0) return of_first(g, group);
    if (!in_pairs || g + 1 >= groups.count) return not_listed;
    const Group& next = groups.trees.groups[g + 1];  // in another leaf it would be the first
    return next.active != 0 && next.first == group.first + group_size ? of_first(g + 1, next) : not_listed;
  }

 private:
  __device__ int of_first(std::uint32_t g, const Group& group) const {
    const LeafPlaces& leaf = groups.trees.leaves[groups.leaf_of_group[g]];
    const std::uint64_t i = leaf.first + static_cast<std::uint64_t>(group.first) +
                            static_cast<std::uint64_t>(__ffs(static_cast<int>(group.active)) - 1);
    return __clz(static_cast<int>(groups.work[i] >> min(int{groups.rung[i]}, 31)));
  }
};

/// Numbers of groups by class, of a block and then of all.
using ClassCounts = std::uint32_t[work_classes];

/// By all lanes of a warp: the place of this one in its class, of all that are counted there.
__device__ std::uint32_t count_in(ClassCounts& counts, int of_class) {
  const unsigned peers = __match_any_sync(~0U, of_class);
  std::uint32_t first = 0;
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  if (lane_index() == leader && of_class != not_listed)
    first = atomicAdd(&counts[of_class], static_cast<std::uint32_t>(__popc(peers)));
  return __shfl_sync(~0U, first, leader) + static_cast<std::uint32_t>(__popc(peers & lanes_before()));
}

__device__ void clear(ClassCounts& counts) {
  if (threadIdx.x < work_classes) counts[threadIdx.x] = 0;
  __syncthreads();
}

__global__ void __launch_bounds__(threads) count_classes(const WorkClasses classes, ClassCounts* counts) {
  __shared__ ClassCounts own;
  clear(own);
  for (std::uint32_t first = blockIdx.x * threads; first < classes.groups.count;
       first += gridDim.x * threads) {
    const std::uint32_t g = first + threadIdx.x;
    count_in(own, g < classes.groups.count ? classes.of(g) : not_listed);
  }
  __syncthreads();
  if (threadIdx.x < work_classes && own[threadIdx.x] > 0)
    atomicAdd(&(*counts)[threadIdx.x], own[threadIdx.x]);
}

/// taken: how many of each class have been listed.
__global__ void __launch_bounds__(threads) list_by_class(const WorkClasses classes, const ClassCounts* counts,
                                                         ClassCounts* taken, std::uint32_t* numbers) {
  __shared__ ClassCounts own, begin;
  for (std::uint32_t first = blockIdx.x * threads; first < classes.groups.count;
       first += gridDim.x * threads) {
    clear(own);
    const std::uint32_t g = first + threadIdx.x;
    const int of_class = g < classes.groups.count ? classes.of(g) : not_listed;
    const std::uint32_t place = count_in(own, of_class);
    __syncthreads();
    if (threadIdx.x < work_classes && own[threadIdx.x] > 0) {
      std::uint32_t before = 0;
      for (unsigned heavier = 0; heavier < threadIdx.x; ++heavier) before += (*counts)[heavier];
      begin[threadIdx.x] = before + atomicAdd(&(*taken)[threadIdx.x], own[threadIdx.x]);
    }
    __syncthreads();
    if (of_class != not_listed) numbers[begin[of_class] + place] = g;
  }
}

/// Lists groups. Returns how many are of each class.
DeviceArray<ClassCounts> list_groups(const WalkableGroups& groups, int targets_per_warp,
                                     DeviceArray<std::uint32_t>& numbers) {
  DeviceArray<ClassCounts> counts(2);  // of all, and those listed
  counts.clear();
  numbers = DeviceArray<std::uint32_t>(groups.count);
  if (groups.count == 0) return counts;
  const WorkClasses classes{groups, targets_per_warp > group_size};
  const unsigned blocks = std::min(enough_blocks, blocks_for(groups.count));
  count_classes<<<blocks, threads, 0, stream()>>>(classes, counts.data());
  list_by_class<<<blocks, threads, 0, stream()>>>(classes, counts.data(), counts.data() + 1, numbers.data());
  launched("Grove::cuda::list_groups", 0, 2);
  return counts;
}

struct IsActive {
  const std::uint8_t* rung;
  int first_active;
  __device__ bool operator()(std::uint32_t i) const { return rung[i] >= first_active; }
};

}  // namespace

ActiveList active_groups(const WalkableGroups& groups, int targets_per_warp) {
  return ActiveSearch(groups, targets_per_warp).list();
}

ActiveSearch::ActiveSearch(const WalkableGroups& groups, int targets_per_warp) {
  if (groups.count == 0) return;
  const DeviceArray<ClassCounts> counts = list_groups(groups, targets_per_warp, numbers_);
  static_assert(sizeof(ClassCounts) == sizeof(OfClass));
  of_class_.emplace(reinterpret_cast<const OfClass*>(counts.data()));
}

ActiveList ActiveSearch::list() {
  ActiveList list{std::move(numbers_)};
  if (!of_class_) return list;
  list.of_class = of_class_->get();
  for (const std::uint32_t count : list.of_class) list.count += count;
  return list;
}

ActiveList all_groups(const WalkableGroups& groups, int targets_per_warp, std::uint32_t count) {
  ActiveList list;
  list_groups(groups, targets_per_warp, list.numbers);
  list.count = count;
  return list;
}

ActiveList active_particles(const std::uint8_t* rung, std::size_t count, int first_active) {
  ActiveList list{DeviceArray<std::uint32_t>(count), 0};
  if (count == 0) return list;
  const DeviceArray<std::uint32_t> found(1);
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  const IsActive is_active{rung, first_active};
  const auto items = static_cast<int>(count);
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceSelect::If(nullptr, bytes, numbers, list.numbers.data(), found.data(), items,
                                   is_active, stream()));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceSelect::If(scratch.data(), bytes, numbers, list.numbers.data(), found.data(), items,
                                   is_active, stream()));
  launched("Grove::cuda::select_active", 0, kernels_of_pass);
  found.download(std::span(&list.count, 1));
  return list;
}

}  // namespace grove::cuda
