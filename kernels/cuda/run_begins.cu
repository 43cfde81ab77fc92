#include "kernels/cuda/run_begins.cuh"

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/left_counts.cuh"
#include "kernels/cuda/runs.cuh"
#include "kernels/cuda/tiles.cuh"

namespace grove::cuda {
namespace {

constexpr int threads = 256;
constexpr std::uint64_t tile_size = 4096;

/// Of the record of this thread in each row of a tile: whether a run begins there.
class BeginsOfTile {
 public:
  static constexpr int rows = tile_size / threads;

  __device__ BeginsOfTile(const std::uint32_t* numbers, const OrbCell* cells, const Tile& tile) {
    const OrbCell& cell = cells[tile.task];
    const std::uint64_t from = tile.number * tile_size;
    begin_ = cell.first + from;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const std::uint64_t i = from + static_cast<std::uint64_t>(row) * threads + threadIdx.x,
                          at = cell.first + i;
      if (i >= cell.count) continue;
      const bool is = i == 0 || numbers[at] / run_size != numbers[at - 1] / run_size;
      is_begin_ |= static_cast<unsigned>(is) << row;
    }
  }

  __device__ bool is_begin(int row) const { return is_begin_ >> row & 1; }
  __device__ std::uint32_t record(int row) const {
    return static_cast<std::uint32_t>(begin_) + static_cast<std::uint32_t>(row * threads) + threadIdx.x;
  }

 private:
  std::uint64_t begin_;
  unsigned is_begin_ = 0;
};

__global__ void __launch_bounds__(threads)
    count(const std::uint32_t* numbers, const OrbCell* cells, const Tile* tiles, std::uint32_t* counts) {
  const BeginsOfTile begins(numbers, cells, tiles[blockIdx.x]);
  int all = 0;
#pragma unroll
  for (int row = 0; row < BeginsOfTile::rows; ++row) all += __syncthreads_count(begins.is_begin(row));
  if (threadIdx.x == 0) counts[blockIdx.x] = static_cast<std::uint32_t>(all);
}

__global__ void __launch_bounds__(threads)
    write(const std::uint32_t* numbers, const OrbCell* cells, const Tile* tiles, const std::uint32_t* before,
          std::uint32_t* to) {
  constexpr int warps = threads / 32;
  __shared__ std::uint32_t of_warp[warps];
  const BeginsOfTile begins(numbers, cells, tiles[blockIdx.x]);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t place = before[blockIdx.x];
#pragma unroll
  for (int row = 0; row < BeginsOfTile::rows; ++row) {
    const unsigned votes = __ballot_sync(~0u, begins.is_begin(row));
    if (lane == 0) of_warp[warp] = static_cast<std::uint32_t>(__popc(votes));
    __syncthreads();
    std::uint32_t own = place + static_cast<std::uint32_t>(__popc(votes & ((1u << lane) - 1)));
    for (unsigned w = 0; w < warps; ++w) {
      own += w < warp ? of_warp[w] : 0;
      place += of_warp[w];
    }
    if (begins.is_begin(row)) to[own] = begins.record(row);
    __syncthreads();
  }
}

}  // namespace

RunBegins find_run_begins(const Columns& records, std::span<const OrbCell> cells) {
  std::vector<std::uint64_t> counts;
  for (const OrbCell& cell : cells) counts.push_back(cell.count);
  Tiles tiles(tile_size);
  tiles.make(counts);
  const DeviceArray<OrbCell> device_cells(cells);
  LeftCounts number;
  number.reserve(tiles.size() + 1);
  device_clear(number.in() + tiles.size(), sizeof(std::uint32_t));
  const std::uint32_t* const numbers = records.at[3];
  count<<<tiles.size(), threads>>>(numbers, device_cells.data(), tiles.data(), number.in());
  number.scan(tiles.size() + 1);
  std::vector<std::uint32_t> before(tiles.size() + 1);
  device_download(before.data(), number.before(), before.size() * sizeof(std::uint32_t));

  RunBegins begins;
  std::uint64_t tile = 0;
  for (const std::uint64_t of_cell : counts) {
    begins.first.push_back(before[tile]);
    tile += (of_cell + tile_size - 1) / tile_size;
  }
  begins.first.push_back(before.back());
  const auto end = static_cast<std::uint32_t>(cells.back().first + cells.back().count);
  begins.begin = DeviceArray<std::uint32_t>(begins.size() + std::size_t{1});
  device_upload(begins.begin.data() + begins.size(), &end, sizeof(end));
  write<<<tiles.size(), threads>>>(numbers, device_cells.data(), tiles.data(), number.before(),
                                   begins.begin.data());
  launched("Grove::cuda::find_run_begins", 8 * tiles.records());
  return begins;
}

}  // namespace grove::cuda
