#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {
namespace {

__global__ void fill_tiles(const std::uint32_t* begin, Tile* tiles) {
  const std::uint32_t task = blockIdx.x, first = begin[task], end = begin[task + 1];
  for (std::uint32_t i = first + threadIdx.x; i < end; i += blockDim.x)
    tiles[i] = {static_cast<std::int32_t>(task), i - first};
}

}  // namespace

void Tiles::make(std::span<const std::uint64_t> counts) {
  begin_.assign(1, 0);
  records_ = 0;
  for (const std::uint64_t count : counts) {
    records_ += count;
    begin_.push_back(begin_.back() + static_cast<std::uint32_t>((count + tile_size_ - 1) / tile_size_));
  }
  tasks_ = static_cast<std::uint32_t>(counts.size());
  size_ = begin_.back();
  device_begin_.reserve(begin_.size());
  device_begin_.upload(begin_);
  tiles_.reserve(size_);
  if (tasks_ == 0) return;
  fill_tiles<<<tasks_, 128>>>(device_begin_.data(), tiles_.data());
  launched("Grove::cuda::fill_tiles");
}

}  // namespace grove::cuda
