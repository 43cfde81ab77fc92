#include "kernels/cuda/neighbours/friend_linking.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/neighbours/warp_in_step.cuh"
#include "kernels/cuda/particles/fields.hpp"

namespace grove::cuda {
namespace {

__device__ std::uint64_t friend_index() { return blockIdx.x * std::uint64_t{threads} + threadIdx.x; }

__global__ void __launch_bounds__(threads)
    make_cell_keys(const FriendGrid grid, const Vec3d* position, std::uint32_t count, std::uint64_t* keys,
                   std::uint32_t* order) {
  const std::uint64_t i = friend_index();
  if (i >= count) return;
  keys[i] = grid.key(grid.cell(position[i]));
  order[i] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(threads)
    gather_positions(const Vec3d* position, const std::uint32_t* order, std::uint32_t count, Vec3d* sorted) {
  const std::uint64_t i = friend_index();
  if (i < count) sorted[i] = position[order[i]];
}

/// 1 where a particle is in another cell than the one before it.
__global__ void __launch_bounds__(threads)
    mark_cells(const FriendGrid grid, const Vec3d* position, std::uint32_t count, std::uint32_t* marks) {
  const std::uint64_t i = friend_index();
  if (i < count) marks[i] = i > 0 && !(grid.cell(position[i]) == grid.cell(position[i - 1])) ? 1 : 0;
}

/// The arrays of cells that begin with what their first particles say.
struct CellStarts {
  std::uint64_t* key;
  std::uint32_t *begin, *parent, *least;
};

__global__ void __launch_bounds__(threads)
    start_cells(const std::uint32_t* cell_of, const std::uint64_t* keys, const std::uint32_t* order,
                std::uint32_t count, const CellStarts cells) {
  const std::uint64_t i = friend_index();
  if (i >= count) return;
  const std::uint32_t cell = cell_of[i];
  if (i == count - 1) cells.begin[cell + 1] = count;
  if (i > 0 && cell_of[i - 1] == cell) return;
  cells.key[cell] = keys[i];
  cells.begin[cell] = static_cast<std::uint32_t>(i);
  cells.parent[cell] = cell;
  cells.least[cell] = order[i];  // the sort was stable
}

__global__ void __launch_bounds__(threads) link_sparse_cells(const FriendCells cells) {
  const std::uint64_t i = friend_index();
  if (i < cells.count) link_sparse_cell(cells, static_cast<std::uint32_t>(i));
}

struct IsCrowded {
  const std::uint32_t* begin;
  __device__ bool operator()(std::uint32_t cell) const {
    return begin[cell + 1] - begin[cell] >= FriendCells::crowd;
  }
};

__global__ void __launch_bounds__(threads) box_crowds(const FriendCells cells, const std::uint32_t* crowded,
                                                      std::uint32_t count, NeighbourTarget* box) {
  const std::uint64_t k = friend_index() / 32;
  if (k >= count) return;
  const NeighbourTarget found = box_of_cell(cells, crowded[k], WarpInStep{});
  if (lane_index() == 0) box[k] = found;
}

__global__ void __launch_bounds__(threads)
    link_crowded_cells(const FriendCells cells, const CrowdedCells crowds) {
  const std::uint64_t k = friend_index() / 32;
  if (k < crowds.count) link_crowded_cell(cells, crowds, static_cast<std::uint32_t>(k), WarpInStep{});
}

/// Roots get the least of what the cells of their sets have. Most find it there already.
__global__ void __launch_bounds__(threads)
    find_least(const DisjointSetsView sets, std::uint32_t count, std::uint32_t* least) {
  const std::uint64_t i = friend_index();
  if (i >= count) return;
  const auto cell = static_cast<std::uint32_t>(i);
  const std::uint32_t root = sets.root(cell), own = least[cell];
  if (root != cell && own < __ldcg(&least[root])) atomicMin(&least[root], own);
}

__global__ void __launch_bounds__(threads)
    label_particles(const DisjointSetsView sets, const std::uint32_t* least, const std::uint32_t* cell_of,
                    const std::uint32_t* order, std::uint32_t count, std::uint32_t* labels) {
  const std::uint64_t i = friend_index();
  if (i < count) labels[order[i]] = least[sets.root(cell_of[i])];
}

}  // namespace

FriendLinking::FriendLinking(const Vec3d* position, std::size_t count, const FriendGrid& grid, double length,
                             const NearestImage& nearest)
    : count_(static_cast<std::uint32_t>(count)), grid_(grid), length_(length), nearest_(nearest) {
  if (count == 0) return;
  sort(position);
  part(position);
}

void FriendLinking::sort(const Vec3d* position) {
  DeviceArray<std::uint64_t> keys(count_), other_keys(count_);
  DeviceArray<std::uint32_t> order(count_), other_order(count_);
  make_cell_keys<<<blocks_for(count_), threads>>>(grid_, position, count_, keys.data(), order.data());
  launched("Grove::cuda::make_cell_keys", std::uint64_t{36} * count_);
  cub::DoubleBuffer<std::uint64_t> of_keys(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> of_order(order.data(), other_order.data());
  const int bits = grid_.key_bits();
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, of_keys, of_order, count_, 0, bits));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, of_keys, of_order, count_, 0, bits));
  launched("Grove::cuda::sort_by_cells",
           std::uint64_t{24} * static_cast<std::uint64_t>((bits + 7) / 8) * count_, kernels_of_sort(bits));
  keys_ = std::move(of_keys.Current() == keys.data() ? keys : other_keys);
  order_ = std::move(of_order.Current() == order.data() ? order : other_order);
}

/// Parts the particles in order into cells.
void FriendLinking::part(const Vec3d* position) {
  const unsigned blocks = blocks_for(count_);
  position_ = DeviceArray<Vec3d>(count_);
  cell_of_ = DeviceArray<std::uint32_t>(count_);
  gather_positions<<<blocks, threads>>>(position, order_.data(), count_, position_.data());
  mark_cells<<<blocks, threads>>>(grid_, position_.data(), count_, cell_of_.data());
  launched("Grove::cuda::mark_cells", std::uint64_t{80} * count_, 2);
  {
    std::size_t bytes = 0;
    GROVE_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, cell_of_.data(), cell_of_.data(), count_));
    const DeviceArray<std::byte> scratch(bytes);
    GROVE_CUDA(
        cub::DeviceScan::InclusiveSum(scratch.data(), bytes, cell_of_.data(), cell_of_.data(), count_));
    launched("Grove::cuda::number_cells", std::uint64_t{8} * count_, kernels_of_pass);
  }
  std::uint32_t last = 0;
  device_download(&last, cell_of_.data() + (count_ - 1), sizeof(last));
  cell_count_ = last + 1;
  cell_key_ = DeviceArray<std::uint64_t>(cell_count_);
  begin_ = DeviceArray<std::uint32_t>(std::size_t{cell_count_} + 1);
  parent_ = DeviceArray<std::uint32_t>(cell_count_);
  least_ = DeviceArray<std::uint32_t>(cell_count_);
  start_cells<<<blocks, threads>>>(cell_of_.data(), keys_.data(), order_.data(), count_,
                                   {cell_key_.data(), begin_.data(), parent_.data(), least_.data()});
  launched("Grove::cuda::start_cells", std::uint64_t{4} * count_ + std::uint64_t{36} * cell_count_);
  keys_ = {};
}

FriendCells FriendLinking::view() const {
  return {cell_key_.data(), begin_.data(), cell_count_,     position_.data(), grid_,
          nearest_,         length_,       {parent_.data()}};
}

void FriendLinking::link_sparse() {
  if (count_ == 0) return;
  link_sparse_cells<<<blocks_for(cell_count_), threads>>>(view());
  launched("Grove::cuda::link_sparse_cells", std::uint64_t{40} * cell_count_);
}

void FriendLinking::link_crowded() {
  if (count_ == 0) return;
  const DeviceArray<std::uint32_t> crowded(count_ / FriendCells::crowd), found(1);
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  const IsCrowded is_crowded{begin_.data()};
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceSelect::If(nullptr, bytes, numbers, crowded.data(), found.data(),
                                   std::int64_t{cell_count_}, is_crowded));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceSelect::If(scratch.data(), bytes, numbers, crowded.data(), found.data(),
                                   std::int64_t{cell_count_}, is_crowded));
  launched("Grove::cuda::select_crowded_cells", std::uint64_t{8} * cell_count_, kernels_of_pass);
  std::uint32_t count = 0;
  found.download(std::span(&count, 1));
  if (count == 0) return;
  const DeviceArray<NeighbourTarget> box(count);
  const unsigned blocks = blocks_for(count, warps);
  box_crowds<<<blocks, threads>>>(view(), crowded.data(), count, box.data());
  link_crowded_cells<<<blocks, threads>>>(view(), {crowded.data(), box.data(), count});
  launched("Grove::cuda::link_crowded_cells", 0, 2);
}

void FriendLinking::label(std::uint32_t* least) {
  if (count_ == 0) return;
  const DisjointSetsView sets{parent_.data()};
  find_least<<<blocks_for(cell_count_), threads>>>(sets, cell_count_, least_.data());
  label_particles<<<blocks_for(count_), threads>>>(sets, least_.data(), cell_of_.data(), order_.data(),
                                                   count_, least);
  launched("Grove::cuda::label_friends", std::uint64_t{12} * count_ + std::uint64_t{8} * cell_count_, 2);
}

bool link_friends(const Vec3d* position, std::size_t count, double length, const NearestImage& nearest,
                  std::uint32_t* least) {
  if (count == 0) return true;
  const Arriving<Extent> arriving = find_extent(position, count);
  const Extent& extent = arriving.get();
  const Vec3d sides = extent.high - extent.low;
  const double largest = std::max({sides.x, sides.y, sides.z, nearest.edge});
  if (!FriendGrid::resolves(largest, length)) return false;
  FriendLinking linking(position, count, FriendGrid(extent.low, extent.high, length, nearest), length,
                        nearest);
  linking.link_sparse();
  linking.link_crowded();
  linking.label(least);
  return true;
}

}  // namespace grove::cuda
