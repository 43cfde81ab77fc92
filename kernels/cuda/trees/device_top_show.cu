// The part of DeviceTop that is about what walks see of cells, in all images of a periodic box.
#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/top_values.cuh"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/leaf_targets.hpp"
#include "kernels/math/top_sum.hpp"
#include "kernels/math/walk_views.hpp"

namespace grove::cuda {
namespace {

/// The cells as walks see them.
struct TopArrays {
  SourceFrame* frames;
  NodeCore* core;
  NodeMoments* moments;
  NodeBox* boxes;  ///< where the criterion needs them, else null
  Ball* balls;     ///< where there are some, else null
};

struct ShowRule {
  WalkUnits units;
  AcceptanceRule acceptance;
  Vec3d reference;
  Images images;
};

/// All that walks see of a cell, but for its links.
struct ShownCell {
  Vec3d centre;
  NodeCore core;
  NodeMoments moments;
  NodeBox box;
  Ball ball;

  __device__ void put(const ShowRule& rule, int image, std::uint32_t number, const TopArrays& out) const {
    out.frames[number] =
        SourceFrame::at(centre + rule.images.shift(image), rule.reference, 1 / rule.units.length, number, 0);
    out.core[number] = core;
    out.moments[number] = moments;
    if (out.boxes) out.boxes[number] = box;
    if (out.balls) out.balls[number] = ball.shifted(rule.images.shift(image));
  }
};

/// Known cells with their sums, or with the values that others have sent.
struct CellValues {
  KnownRoots roots;
  const TopLinks* cells;
  std::int32_t count, summed;  ///< the first ones have sums
  const TopSum* sums;
  const TopCell* values;  ///< of the others

  __device__ ShownCell shown(const ShowRule& rule, std::int32_t c) const {
    if (c >= summed && !cells[c].is_leaf()) {
      const TopCell& value = values[c - summed];
      return {value.place, value.core, value.moments, {value.low, value.high}, value.ball};
    }
    const TopSum sum =
        c < summed ? sums[c] : top_sum_of(roots.root(cells[c].first_leaf), rule.units, rule.acceptance.order);
    return {sum.sum.centre * rule.units.length, shown_core(cells[c], sum, roots, rule.acceptance),
            top_moments(sum, rule.acceptance.order), top_box(sum),
            shown_ball(cells[c], sum, roots, rule.units, rule.images)};
  }
};

/// How many numbers the images of the root take, as a cell and as a leaf.
struct RootNumbers {
  std::uint32_t cells, leaves;
};

constexpr int unite_threads = 256;

/// By all leaves together. One block. numbered (out): of the root.
__global__ void __launch_bounds__(unite_threads)
    unite_wanted(const LeafNotice* notices, std::int32_t leaves, double unit_length, Wanted* wanted,
                 const RootNumbers of_root, std::uint32_t* numbered) {
  __shared__ Wanted of_thread[unite_threads];
  Wanted all = Wanted::nothing();
  for (auto leaf = static_cast<std::int32_t>(threadIdx.x); leaf < leaves; leaf += unite_threads) {
    const LeafNotice& notice = notices[leaf];
    all = Wanted::united_if_any(
        all, LeafTargets{notice.bounds, notice.root.origin, notice.ball}.wanted(unit_length));
  }
  of_thread[threadIdx.x] = all;
  for (unsigned other = unite_threads / 2; other > 0; other /= 2) {
    __syncthreads();
    if (threadIdx.x < other)
      of_thread[threadIdx.x] = Wanted::united_if_any(of_thread[threadIdx.x], of_thread[threadIdx.x + other]);
  }
  if (threadIdx.x == 0) *wanted = of_thread[0];
  if (threadIdx.x < 2) numbered[threadIdx.x] = threadIdx.x == 0 ? of_root.cells : of_root.leaves;
}

/// Bits for images but the first: where walks that want this may open a cell.
__device__ std::uint32_t opened_images(const ShowRule& rule, const Wanted& wanted, const ShownCell& cell) {
  std::uint32_t opened = 0;
  if (wanted.is_nothing()) return opened;
  for (int image = 1; image < rule.images.count(); ++image) {
    const Vec3d shift = rule.images.shift(image);
    if (wanted.may_open(cell.centre + shift, cell.core, cell.ball.shifted(shift), true, rule.units.length,
                        {}))
      opened |= 1U << image;
  }
  return opened;
}

/// Fills the arrays that walks read, of the first image. opened (out): by cell, opened_images(); null: there
/// is one image.
__global__ void __launch_bounds__(top_threads)
    show_cells(const ShowRule rule, const CellValues known, const Wanted* wanted, const TopArrays out,
               std::uint32_t* opened) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (c >= known.count) return;
  const ShownCell cell = known.shown(rule, c);
  cell.put(rule, 0, static_cast<std::uint32_t>(c), out);
  if (opened) opened[c] = known.cells[c].is_leaf() ? 0 : opened_images(rule, *wanted, cell);
}

/// By cell: in which images its children are there, as it may be opened there with all above it.
struct FindImages {
  const TopLinks* cells;
  const std::int32_t* parent;
  std::int32_t count;
  std::int32_t unknown;  ///< the leaf that has no cell; below 0: none
  int images;
  const std::uint32_t* opened;    ///< [cells]
  std::uint32_t *found, *before;  ///< (out) [cells + leaves]
  std::uint32_t* numbered;  ///< (in/out) [2] how many numbers cells and leaves have behind the first image

  __device__ std::uint32_t every() const { return (1U << images) - 2; }
  __device__ std::uint32_t images_below(std::int32_t c) const {
    std::uint32_t all = every();
    for (; c >= 0 && all != 0; c = parent[c]) all &= opened[c];
    return all;
  }
  /// Reserves so many numbers for each lane and returns the first of its own.
  __device__ static std::uint32_t take(int numbers, std::uint32_t* counter) {
    const int end = inclusive_sum(numbers);
    std::uint32_t begin = 0;
    if (lane_index() == 31 && end > 0) begin = atomicAdd(counter, static_cast<std::uint32_t>(end));
    return __shfl_sync(~0U, begin, 31) + static_cast<std::uint32_t>(end - numbers);
  }
  __device__ void set(std::int32_t thing, std::uint32_t in, std::uint32_t first) const {
    found[thing] = in;
    before[thing] = first;
  }
  /// By all lanes.
  __device__ void number_children(std::int32_t c) const {
    const std::int32_t child = c < count ? cells[c].child : -1;
    const std::uint32_t in = child < 0 ? 0 : images_below(c);
    const int number = __popc(in);
    const bool left = child >= 0 && cells[child].is_leaf(), right = child >= 0 && cells[child + 1].is_leaf();
    const std::uint32_t of_cells = take(2 * number, numbered),
                        of_leaves = take((left + right) * number, numbered + 1);
    if (child < 0) return;
    set(child, in, of_cells);
    set(child + 1, in, of_cells + 1);
    if (left) set(count + cells[child].first_leaf, in, of_leaves);
    if (right)
      set(count + cells[child + 1].first_leaf, in,
          of_leaves + (left ? static_cast<std::uint32_t>(number) : 0));
  }
  /// Its images come first: walks begin with them.
  __device__ void number_root() const {
    set(0, every(), 0);
    if (cells[0].is_leaf()) set(count, every(), 0);
    if (unknown >= 0) set(count + unknown, 0, 0);
  }
};
__global__ void __launch_bounds__(top_threads) find_images(const FindImages by) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  by.number_children(c);
  if (c == 0) by.number_root();
}

/// The values of a cell in images but the first, and how these hang together. By lane an image. Below
/// what no walk opens is the trap, which nothing accepts: a walk that came there would fill its stack.
struct ShowImages {
  ShowRule rule;
  CellValues known;
  NodeCodes codes;
  ImageNumbers cells, leaves;
  TopArrays out;
  NodeLinks* links;

  __device__ std::uint32_t trap() const { return cells.room; }
  __device__ bool is_there(std::int32_t c, int image) const {
    const TopLinks& link = known.cells[c];
    return cells.is_in(static_cast<std::uint32_t>(c), image) &&
           (!link.is_leaf() || leaves.is_in(static_cast<std::uint32_t>(link.first_leaf), image));
  }
  __device__ std::int32_t code_of(std::int32_t c, int image) const {
    const TopLinks& link = known.cells[c];
    const auto number = [&](const ImageNumbers& numbers, std::int32_t thing) {
      return static_cast<std::int32_t>(numbers.number(static_cast<std::uint32_t>(thing), image));
    };
    return static_cast<std::int32_t>(link.is_leaf() ? codes.root_of(number(leaves, link.first_leaf))
                                                    : codes.of_cell(number(cells, c)));
  }
  __device__ NodeLinks trap_links() const {
    const auto code = static_cast<std::int32_t>(codes.of_cell(static_cast<std::int32_t>(trap())));
    return {code, code, 0, 0};
  }
  __device__ void put(std::int32_t c, int image) const {
    const std::uint32_t number = cells.number(static_cast<std::uint32_t>(c), image);
    known.shown(rule, c).put(rule, image, number, out);
    const std::int32_t child = known.cells[c].child;
    if (child < 0)
      links[number] = links[c];  // that of a leaf is not read
    else if (is_there(child, image) && is_there(child + 1, image))
      links[number] = {code_of(child, image), code_of(child + 1, image), 0, 0};
    else
      links[number] = trap_links();
  }
  __device__ void put_trap() const {
    ShownCell cell{rule.reference, {}, {}, {}, {rule.reference, infinite_double}};
    cell.core.reach2 = infinite_float;
    cell.put(rule, 0, trap(), out);
    links[trap()] = trap_links();
  }
};
__global__ void __launch_bounds__(top_threads) show_images(const ShowImages to) {
  const std::uint32_t warp = (blockIdx.x * top_threads + threadIdx.x) / 32;
  const int image = lane_index();
  if (warp >= static_cast<std::uint32_t>(to.known.count)) return;
  if (warp == 0 && image == 0) to.put_trap();
  if (image > 0 && image < to.rule.images.count() && to.cells.is_in(warp, image))
    to.put(static_cast<std::int32_t>(warp), image);
}

/// By leaf, or by leaf a warp with a lane for each image.
__global__ void __launch_bounds__(top_threads)
    frame_leaves(const KnownRoots roots, const LeafPlace* places, const Vec3d reference, double per_length,
                 const Images images, const ImageNumbers numbers, SourceFrame* frames, Ball* balls) {
  const std::uint32_t lanes = images.are_open() ? 1 : 32, item = blockIdx.x * top_threads + threadIdx.x,
                      leaf = item / lanes;
  const auto image = static_cast<int>(item % lanes);
  if (leaf >= static_cast<std::uint32_t>(roots.count) || image >= images.count()) return;
  if (numbers.images && !numbers.is_in(leaf, image)) return;
  const LeafRoot& root = roots.root(static_cast<std::int32_t>(leaf));
  const LeafPlace place = places ? places[leaf] : LeafPlace{0, 0};
  const std::size_t frame =
      numbers.images ? numbers.number(leaf, image)
                     : static_cast<std::size_t>(image) * static_cast<std::size_t>(roots.count) + leaf;
  frames[frame] =
      SourceFrame::at(root.origin + images.shift(image), reference, per_length, place.node, place.particle);
  if (balls) balls[frame] = root.ball.shifted(images.shift(image));
}

}  // namespace

/// Fills the arrays that walks read.
void DeviceTop::show(const TopSum* sums, const TopCell* values, const Vec3d& reference) {
  renew(boxes_, rule_.needs_boxes() ? core_.size() : 0);
  const unsigned blocks = blocks_for(known_, top_threads);
  const ShowRule rule{units_, rule_, reference, images_};
  const CellValues known{roots_,
                         cell_links_.data(),
                         static_cast<std::int32_t>(known_),
                         static_cast<std::int32_t>(table_.cells.size()),
                         sums,
                         values};
  const TopArrays out{frames_.data(), core_.data(), moments_.data(), boxes_.data(), balls_.data()};
  if (images_.are_open()) {
    show_cells<<<blocks, top_threads, 0, stream()>>>(rule, known, nullptr, out, nullptr);
    launched("Grove::cuda::show_cells");
    return;
  }
  const DeviceArray<Wanted> wanted(1);
  const auto others = static_cast<std::uint32_t>(images_.count() - 1);
  const RootNumbers of_root{2 * others, table_.cells[0].is_leaf() ? others : 0};
  unite_wanted<<<1, unite_threads, 0, stream()>>>(roots_.own, roots_.own_count, units_.length, wanted.data(),
                                                  of_root, numbered_.data());
  launched("Grove::cuda::unite_wanted");
  renew(opened_images_, known_);
  show_cells<<<blocks, top_threads, 0, stream()>>>(rule, known, wanted.data(), out, opened_images_.data());
  launched("Grove::cuda::show_cells");
  const std::size_t all = known_ + static_cast<std::size_t>(walked_leaves_);
  renew(images_of_, all);
  renew(before_, all);
  find_images<<<blocks, top_threads, 0, stream()>>>(
      {cell_links_.data(), parent_.data(), static_cast<std::int32_t>(known_),
       table_.covers.empty() ? -1 : walked_leaves_ - 1, images_.count(), opened_images_.data(),
       images_of_.data(), before_.data(), numbered_.data()});
  launched("Grove::cuda::find_images");
  show_images<<<blocks_for(32 * known_, top_threads), top_threads, 0, stream()>>>(
      {rule, known, codes_, cell_numbers(), leaf_numbers(), out, links_.data()});
  launched("Grove::cuda::show_images");
}

/// The last number that there is room for is that of the trap.
ImageNumbers DeviceTop::cell_numbers() const {
  return {static_cast<std::uint32_t>(known_), static_cast<std::uint32_t>(room_for(known_)) - 1,
          images_of_.data(), before_.data(), 2};
}

ImageNumbers DeviceTop::leaf_numbers() const {
  return {static_cast<std::uint32_t>(walked_leaves_), static_cast<std::uint32_t>(leaf_room()),
          images_of_.data() + known_, before_.data() + known_, 1};
}

void DeviceTop::check_images() const {
  if (images_.are_open() || roots_.count == 0) return;
  std::uint32_t numbered[2];
  numbered_.download(numbered);
  const auto is_full = [&](const ImageNumbers& numbers, std::uint32_t behind) {
    return std::size_t{numbers.count} + behind > numbers.room;
  };
  if (is_full(cell_numbers(), numbered[0]) || is_full(leaf_numbers(), numbered[1]))
    throw std::length_error(
        "the top tree: too many cells near faces of the periodic box for trees of so many nodes");
}

void make_frames(const KnownRoots& roots, const LeafPlace* places, const Vec3d& reference,
                 const WalkUnits& units, SourceFrame* frames, const Images& images, Ball* balls,
                 const ImageNumbers& numbers) {
  if (roots.count == 0) return;
  const std::uint64_t items =
      std::uint64_t{images.are_open() ? 1U : 32U} * static_cast<std::uint64_t>(roots.count);
  frame_leaves<<<blocks_for(items, top_threads), top_threads, 0, stream()>>>(
      roots, places, reference, 1 / units.length, images, numbers, frames, balls);
  launched("Grove::cuda::make_frames");
}

}  // namespace grove::cuda
