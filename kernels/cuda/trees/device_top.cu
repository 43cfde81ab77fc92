#include "kernels/cuda/trees/device_top.hpp"

#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/math/top_sum.hpp"

namespace grove::cuda {
namespace {

constexpr unsigned top_threads = 128;

/// Numbers of cells and leaves of the image.
struct ImageNumbers {
  std::int32_t first_cell, first_leaf;
};

GROVE_HOST_DEVICE std::uint32_t code_of_cell(const NodeCodes& codes, const TopLinks* links, std::int32_t cell,
                                             const ImageNumbers& image = {0, 0}) {
  const TopLinks& own = links[cell];
  return own.child < 0 ? codes.root_of(image.first_leaf + own.first_leaf)
                       : codes.of_cell(image.first_cell + cell);
}

/// By cell: its place below its parent, and what walks see of it in each image.
__global__ void __launch_bounds__(top_threads)
    link(const NodeCodes codes, const TopLinks* cells, std::int32_t count, int images, std::int32_t* parent,
         std::uint32_t* leaf_cell, NodeLinks* links) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (c >= count) return;
  const TopLinks own = cells[c];
  if (c == 0) parent[0] = -1;
  for (int image = 0; image < images; ++image) links[image * count + c] = {};
  if (own.child < 0) {
    leaf_cell[own.first_leaf] = static_cast<std::uint32_t>(c);
    return;
  }
  parent[own.child] = parent[own.child + 1] = c;
  for (int image = 0; image < images; ++image) {
    const ImageNumbers first{image * count, image * cells[0].leaves};
    links[image * count + c] = {static_cast<std::int32_t>(code_of_cell(codes, cells, own.child, first)),
                                static_cast<std::int32_t>(code_of_cell(codes, cells, own.child + 1, first)),
                                0, 0};
  }
}

/// By leaf: the roots of the other images, and the siblings of the cells on the way from the root.
__global__ void __launch_bounds__(top_threads)
    begin_walks(const NodeCodes codes, const TopLinks* cells, std::int32_t count, int images,
                const std::int32_t* parent, const std::uint32_t* leaf_cell, std::int32_t leaves,
                const std::uint32_t* first, std::uint32_t* beginnings) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (leaf >= leaves) return;
  for (int image = 1; image < images; ++image)
    beginnings[first[leaf] + static_cast<std::uint32_t>(image - 1)] =
        code_of_cell(codes, cells, 0, {image * count, image * leaves});
  std::uint32_t next = first[leaf + 1];
  for (auto c = static_cast<std::int32_t>(leaf_cell[leaf]); parent[c] >= 0; c = parent[c]) {
    const std::int32_t child = cells[parent[c]].child;
    beginnings[--next] = code_of_cell(codes, cells, c == child ? child + 1 : child);
  }
}

/// The cells as walks see them.
struct TopArrays {
  SourceFrame* frames;
  Vec3d* centre;
  NodeCore* core;
  NodeMoments* moments;
  NodeBox* boxes;  ///< where the criterion needs them, else null
};

struct CombineRule {
  WalkUnits units;
  AcceptanceRule acceptance;
  Vec3d reference;
  Images images;
};

/// A thread begins at each leaf; of two that meet the second one goes on with their parent. Most of the way
/// to the root one thread waits for memory alone, so nothing is done on it that could be done elsewhere.
__global__ void __launch_bounds__(top_threads)
    combine_cells(const WalkUnits units, const LeafNotice* notices, const TopLinks* cells,
                  const std::int32_t* parent, const std::uint32_t* leaf_cell, std::int32_t leaves,
                  TopSum* sums, int* arrivals, Wanted* wanted) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (leaf >= leaves) return;
  auto c = static_cast<std::int32_t>(leaf_cell[leaf]);
  const LeafNotice& notice = notices[leaf];
  TopSum sum = top_sum_of(notice.root, units);
  Wanted all = Wanted::of_leaf(notice.bounds, notice.root.origin, units.length);
  for (;;) {
    sums[c] = sum;
    wanted[c] = all;
    const std::int32_t up = parent[c];
    if (up < 0) return;
    const std::int32_t left = cells[up].child, sibling = c == left ? left + 1 : left;
    __threadfence();
    if (atomicAdd(&arrivals[up], 1) == 0) return;
    __threadfence();
    const TopSum other = sums[sibling];
    sum = c == left ? sum + other : other + sum;
    all = c == left ? Wanted::united(all, wanted[sibling]) : Wanted::united(wanted[sibling], all);
    c = up;
  }
}

/// Fills the arrays that walks read.
__global__ void __launch_bounds__(top_threads)
    show_cells(const CombineRule rule, const LeafNotice* notices, const TopLinks* cells, std::int32_t count,
               const TopSum* sums, const TopArrays out) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (c >= count) return;
  const TopSum sum = sums[c];
  const bool is_leaf = cells[c].child < 0;
  NodeCore core = is_leaf ? notices[cells[c].first_leaf].root.core : top_core(sum, rule.acceptance);
  core.centre = {0, 0, 0};
  const Vec3d centre = sum.sum.centre * rule.units.length;
  out.centre[c] = centre;
  for (int image = 0; image < rule.images.count(); ++image) {
    const std::int32_t number = image * count + c;
    out.frames[number] = SourceFrame::at(centre + rule.images.shift(image), rule.reference,
                                         1 / rule.units.length, static_cast<std::uint32_t>(number), 0);
    out.core[number] = core;
    out.moments[number] = node_moments(sum.sum);
    if (out.boxes) out.boxes[number] = top_box(sum);
  }
}

__global__ void __launch_bounds__(top_threads)
    frame_leaves(const LeafNotice* notices, const LeafPlace* places, std::size_t leaves,
                 const Vec3d reference, double per_length, const Images images, SourceFrame* frames) {
  const std::size_t leaf = blockIdx.x * top_threads + threadIdx.x;
  if (leaf >= leaves) return;
  for (int image = 0; image < images.count(); ++image)
    frames[static_cast<std::size_t>(image) * leaves + leaf] =
        SourceFrame::at(notices[leaf].root.origin + images.shift(image), reference, per_length,
                        places[leaf].node, places[leaf].particle);
}

}  // namespace

DeviceTop::DeviceTop(std::span<const Cell> cells, const NodeCodes& codes, const Images& images)
    : codes_(codes), images_(images) {
  if (cells.empty()) return;
  const auto copies = static_cast<std::size_t>(images.count());
  if (cells.size() * copies > codes.most_frames())
    throw std::length_error("the top tree: too many leaves for trees of so many nodes");
  std::vector<TopLinks> links;
  std::vector<std::uint32_t> depth(cells.size(), 0);
  std::vector<std::uint32_t> first(static_cast<std::size_t>(cells[0].leaves) + 1, 0);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    links.push_back({cells[c].child, cells[c].first_leaf, cells[c].leaves});
    const auto child = static_cast<std::size_t>(cells[c].child);
    if (cells[c].is_leaf())
      first[static_cast<std::size_t>(cells[c].first_leaf) + 1] =
          depth[c] + static_cast<std::uint32_t>(copies - 1);
    else
      depth[child] = depth[child + 1] = depth[c] + 1;
  }
  for (std::size_t leaf = 1; leaf < first.size(); ++leaf) first[leaf] += first[leaf - 1];

  cell_links_ = DeviceArray<TopLinks>{std::span<const TopLinks>(links)};
  first_beginning_ = DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(first)};
  parent_ = DeviceArray<std::int32_t>(cells.size());
  leaf_cell_ = DeviceArray<std::uint32_t>(first.size() - 1);
  links_ = DeviceArray<NodeLinks>(cells.size() * copies);
  beginnings_ = DeviceArray<std::uint32_t>(first.back());
  frames_ = DeviceArray<SourceFrame>(cells.size() * copies);
  centre_ = DeviceArray<Vec3d>(cells.size());
  core_ = DeviceArray<NodeCore>(cells.size() * copies);
  moments_ = DeviceArray<NodeMoments>(cells.size() * copies);
  wanted_ = DeviceArray<Wanted>(cells.size());
  link<<<blocks_for(cells.size(), top_threads), top_threads, 0, stream()>>>(
      codes, cell_links_.data(), static_cast<std::int32_t>(cells.size()), images.count(), parent_.data(),
      leaf_cell_.data(), links_.data());
  launched("Grove::cuda::link");
  begin_walks<<<blocks_for(leaf_cell_.size(), top_threads), top_threads, 0, stream()>>>(
      codes, cell_links_.data(), static_cast<std::int32_t>(cells.size()), images.count(), parent_.data(),
      leaf_cell_.data(), static_cast<std::int32_t>(leaf_cell_.size()), first_beginning_.data(),
      beginnings_.data());
  launched("Grove::cuda::begin_walks");
}

void DeviceTop::combine(const LeafNotice* notices, const WalkUnits& units, const AcceptanceRule& rule,
                        const Vec3d& reference) {
  if (leaf_cell_.size() == 0) return;
  if (const std::size_t boxes = rule.needs_boxes() ? core_.size() : 0; boxes_.size() != boxes)
    boxes_ = DeviceArray<NodeBox>(boxes);
  const DeviceArray<TopSum> sums(centre_.size());
  DeviceArray<int> arrivals(centre_.size());
  arrivals.clear();
  combine_cells<<<blocks_for(leaf_cell_.size(), top_threads), top_threads, 0, stream()>>>(
      units, notices, cell_links_.data(), parent_.data(), leaf_cell_.data(),
      static_cast<std::int32_t>(leaf_cell_.size()), sums.data(), arrivals.data(), wanted_.data());
  launched("Grove::cuda::combine_cells");
  show_cells<<<blocks_for(centre_.size(), top_threads), top_threads, 0, stream()>>>(
      CombineRule{units, rule, reference, images_}, notices, cell_links_.data(),
      static_cast<std::int32_t>(centre_.size()), sums.data(),
      TopArrays{frames_.data(), centre_.data(), core_.data(), moments_.data(), boxes_.data()});
  launched("Grove::cuda::show_cells");
}

void make_frames(const LeafNotice* notices, const LeafPlace* places, std::size_t leaves,
                 const Vec3d& reference, const WalkUnits& units, SourceFrame* frames, const Images& images) {
  if (leaves == 0) return;
  frame_leaves<<<blocks_for(leaves, top_threads), top_threads, 0, stream()>>>(
      notices, places, leaves, reference, 1 / units.length, images, frames);
  launched("Grove::cuda::make_frames");
}

}  // namespace grove::cuda
