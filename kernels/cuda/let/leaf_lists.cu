#include "kernels/cuda/let/leaf_lists.hpp"

#include <utility>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

constexpr int list_threads = 128;

__global__ void __launch_bounds__(list_threads)
    assign_balls(const LeafTrees trees, double unit_length, double least, Ball* balls) {
  const std::uint32_t i = blockIdx.x * list_threads + threadIdx.x;
  if (i < trees.count)
    balls[i] = Ball::of_leaf(trees.origin[i], trees.boxes[i].low, trees.boxes[i].high, unit_length, least);
}

__global__ void __launch_bounds__(list_threads)
    collect(const LeafTrees trees, const LeafTargets* told, double unit_length, LeafNotice* notices) {
  const std::uint32_t i = blockIdx.x * list_threads + threadIdx.x;
  if (i >= trees.count) return;
  const TightBox box = trees.boxes[i];
  const std::uint64_t root = trees.leaves[i].node;
  notices[i] = {{trees.core[root], trees.moments[root], box.low, box.high, trees.origin[i], trees.ball_of(i)},
                told ? told[i].about(trees.origin[i], unit_length) : trees.bounds[i],
                told ? told[i].ball : trees.ball_of(i)};
}

__global__ void __launch_bounds__(list_threads)
    collect_some(const LeafTrees trees, const LeafTargets* told, const LeafRanges::Place* ranges,
                 std::uint32_t range_count, std::uint32_t count, LeafTargets* targets) {
  const std::uint32_t i = blockIdx.x * list_threads + threadIdx.x;
  if (i >= count) return;
  std::uint32_t low = 0, high = range_count;  // the last range that begins at i or before
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (ranges[middle].in_list <= i ? low : high) = middle;
  }
  const std::uint32_t leaf = ranges[low].first + (i - ranges[low].in_list);
  targets[i] = told ? told[leaf] : LeafTargets{trees.bounds[leaf], trees.origin[leaf], trees.ball_of(leaf)};
}

__global__ void __launch_bounds__(list_threads)
    place(const LeafRoot* roots, std::uint32_t leaves, NodeCore* core, NodeMoments* moments, NodeLinks* links,
          NodeBox* boxes) {
  const std::uint32_t i = blockIdx.x * list_threads + threadIdx.x;
  if (i >= leaves) return;
  core[i] = roots[i].core;
  moments[i] = roots[i].moments;
  links[i] = {NodeLinks::pruned, -1, 0, 0};
  if (boxes != nullptr) boxes[i] = roots[i].box();
}

}  // namespace

void find_balls(const LeafTrees& trees, double unit_length, double least, Ball* balls) {
  if (trees.count == 0) return;
  assign_balls<<<blocks_for(trees.count, list_threads), list_threads, 0, stream()>>>(trees, unit_length,
                                                                                     least, balls);
  launched("Grove::cuda::find_balls");
}

void collect_notices(const LeafTrees& trees, const LeafTargets* told, double unit_length,
                     LeafNotice* notices) {
  if (trees.count == 0) return;
  collect<<<blocks_for(trees.count, list_threads), list_threads, 0, stream()>>>(trees, told, unit_length,
                                                                                notices);
  launched("Grove::cuda::collect_notices");
}

LeafRanges::LeafRanges(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  std::vector<Place> places;
  for (const Range& range : ranges_) {
    places.push_back({leaves_, range.first});
    leaves_ += range.count;
  }
  places_ = DeviceArray<Place>{std::span<const Place>(places)};
}

void collect_targets(const LeafTrees& trees, const LeafTargets* told, const LeafRanges& leaves,
                     LeafTargets* targets) {
  if (leaves.leaves() == 0) return;
  const std::span<const LeafRanges::Place> ranges = leaves.places();
  collect_some<<<blocks_for(leaves.leaves(), list_threads), list_threads, 0, stream()>>>(
      trees, told, ranges.data(), static_cast<std::uint32_t>(ranges.size()), leaves.leaves(), targets);
  launched("Grove::cuda::collect_targets");
}

void place_roots(const KnownRoots& roots, NodeCore* core, NodeMoments* moments, NodeLinks* links,
                 NodeBox* boxes) {
  const auto leaves = static_cast<std::uint32_t>(roots.count - roots.own_count);
  if (leaves == 0) return;
  place<<<blocks_for(leaves, list_threads), list_threads, 0, stream()>>>(roots.others, leaves, core, moments,
                                                                         links, boxes);
  launched("Grove::cuda::place_roots");
}

}  // namespace grove::cuda
