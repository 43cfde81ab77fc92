#include "kernels/cuda/trees/leaf_groups.hpp"

#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/trees/leaf_blocks.cuh"
#include "kernels/math/group_cuts.hpp"

namespace grove::cuda {
namespace {

/// A thread for each item.
dim3 blocks_of_items(std::size_t leaves, std::uint64_t items) {
  return blocks_of_leaves(leaves, items, threads, 8 * enough_blocks);
}

__global__ void __launch_bounds__(threads)
    list_full(const LeafPlaces* places, GroupRun* runs, std::uint32_t* leaf_of_group) {
  const LeafPlaces leaf = places[blockIdx.x];
  for (std::int32_t g = first_item(); g < leaf.groups; g += step_of_items()) {
    const std::uint64_t at = leaf.group + static_cast<std::uint64_t>(g);
    runs[at] = {g * group_size, min(group_size, leaf.count - g * group_size)};
    leaf_of_group[at] = blockIdx.x;
  }
}

/// At the first particle of each group its size. sizes: cleared.
__global__ void __launch_bounds__(threads)
    mark_groups(const LeafPlaces* places, const NodeLinks* links, std::int32_t* sizes) {
  const LeafPlaces leaf = places[blockIdx.x];
  const NodeLinks* const own = links + leaf.node;
  const auto put = [&](const NodeLinks& link) {
    sizes[leaf.first + static_cast<std::uint64_t>(link.first)] = link.count;
  };
  for (std::int32_t n = first_item(); n < leaf.nodes; n += step_of_items()) {
    const NodeLinks link = own[n];
    if (link.count <= group_size) {
      if (n == 0) put(link);
      continue;
    }
    for (std::int32_t c = link.child; c <= link.child + 1; ++c)
      if (own[c].count <= group_size) put(own[c]);
  }
}

/// numbers: [particles + 1] groups that begin before.
__global__ void __launch_bounds__(threads) number_leaves(const LeafPlaces* places, std::uint32_t leaves,
                                                         const std::uint32_t* numbers, std::uint32_t* first) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  if (i > leaves) return;
  const std::uint64_t place =
      i < leaves ? places[i].first
                 : places[leaves - 1].first + static_cast<std::uint64_t>(places[leaves - 1].count);
  first[i] = numbers[place];
}

__global__ void __launch_bounds__(threads)
    list_marked(const LeafPlaces* places, const std::int32_t* sizes, const std::uint32_t* numbers,
                GroupRun* runs, std::uint32_t* leaf_of_group) {
  const LeafPlaces leaf = places[blockIdx.x];
  for (std::int32_t i = first_item(); i < leaf.count; i += step_of_items()) {
    const std::uint64_t p = leaf.first + static_cast<std::uint64_t>(i);
    if (sizes[p] == 0) continue;
    runs[numbers[p]] = {i, sizes[p]};
    leaf_of_group[numbers[p]] = blockIdx.x;
  }
}

struct IsMarked {
  __device__ std::uint32_t operator()(std::int32_t size) const { return size > 0 ? 1 : 0; }
};

DeviceArray<std::uint32_t> numbers_of(const DeviceArray<std::int32_t>& sizes) {
  DeviceArray<std::uint32_t> numbers(sizes.size());
  const auto marks = thrust::make_transform_iterator(sizes.data(), IsMarked{});
  const auto count = static_cast<std::int64_t>(sizes.size());
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, marks, numbers.data(), count));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, marks, numbers.data(), count));
  return numbers;
}

LeafGroups groups_at(std::span<const LeafPlaces> places, std::uint64_t groups) {
  return {DeviceArray<LeafPlaces>{places}, DeviceArray<GroupRun>(groups), DeviceArray<std::uint32_t>(groups)};
}

}  // namespace

LeafGroups full_groups_of(std::span<LeafPlaces> places) {
  std::uint64_t group = 0;
  for (LeafPlaces& leaf : places) {
    leaf.group = group;
    leaf.groups = full_groups(leaf.count);
    group += static_cast<std::uint64_t>(leaf.groups);
  }
  LeafGroups result = groups_at(places, group);
  if (group == 0) return result;
  list_full<<<blocks_of_items(places.size(), group), threads>>>(result.places.data(), result.runs.data(),
                                                                result.leaf_of_group.data());
  launched("Grove::cuda::full_groups_of");
  return result;
}

LeafGroups nodes_as_groups(std::span<LeafPlaces> places, const NodeLinks* links) {
  std::uint64_t particles = 0, nodes = 0;
  for (const LeafPlaces& leaf : places) {
    particles += static_cast<std::uint64_t>(leaf.count);
    nodes += static_cast<std::uint64_t>(leaf.nodes);
  }
  if (particles == 0) return full_groups_of(places);
  const DeviceArray<LeafPlaces> device_places{std::span<const LeafPlaces>(places)};
  DeviceArray<std::int32_t> sizes(particles + 1);
  sizes.clear();
  mark_groups<<<blocks_of_items(places.size(), nodes), threads>>>(device_places.data(), links, sizes.data());
  const DeviceArray<std::uint32_t> numbers = numbers_of(sizes);
  const auto leaves = static_cast<std::uint32_t>(places.size());
  const DeviceArray<std::uint32_t> device_first(places.size() + 1);
  number_leaves<<<blocks_for(leaves + 1), threads>>>(device_places.data(), leaves, numbers.data(),
                                                     device_first.data());
  launched("Grove::cuda::number_groups", 0, 2 + kernels_of_pass);
  std::vector<std::uint32_t> first(places.size() + 1);
  device_first.download(std::span(first));
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].group = first[i];
    places[i].groups = static_cast<std::int32_t>(first[i + 1] - first[i]);
  }
  LeafGroups result = groups_at(places, first.back());
  list_marked<<<blocks_of_items(places.size(), particles), threads>>>(
      result.places.data(), sizes.data(), numbers.data(), result.runs.data(), result.leaf_of_group.data());
  launched("Grove::cuda::nodes_as_groups");
  return result;
}

}  // namespace grove::cuda
