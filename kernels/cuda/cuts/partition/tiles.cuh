#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Division of cells into tiles of at most `tile_size` records, each of one cell; the tiles of a cell follow
/// each other. A block of a kernel works on one tile, so one launch serves cells of any size.
class Tiles {
 public:
  explicit Tiles(std::uint64_t tile_size) : tile_size_(tile_size) {}
  /// Made, of pieces with a count of records each.
  template <class Piece>
  Tiles(std::uint64_t tile_size, std::span<const Piece> pieces) : Tiles(tile_size) {
    std::vector<std::uint64_t> counts;
    for (const Piece& piece : pieces) counts.push_back(piece.count);
    make(counts);
  }

  /// counts: records of each cell. Cost: a tile table in device memory, written there.
  void make(std::span<const std::uint64_t> counts);

  std::uint64_t tile_size() const { return tile_size_; }
  std::uint32_t tasks() const { return tasks_; }
  std::uint32_t size() const { return size_; }
  /// In all cells together.
  std::uint64_t records() const { return records_; }
  const Tile* data() const { return tiles_.data(); }
  /// The first tile of each cell, and their number: device, length tasks() + 1.
  const std::uint32_t* begin() const { return device_begin_.data(); }

 private:
  std::uint64_t tile_size_;
  std::uint32_t tasks_ = 0, size_ = 0;
  std::uint64_t records_ = 0;
  std::vector<std::uint32_t> begin_;
  DeviceArray<std::uint32_t> device_begin_;
  DeviceArray<Tile> tiles_;
};

}  // namespace grove::cuda
