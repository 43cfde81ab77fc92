#pragma once

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Divides all cells of a level at their cuts in one launch, stably, from one set of columns into the other,
/// and finds the children's bounds on the way. Where a tile's records go is known from the search, which has
/// counted what goes left in each tile; a decoupled look-back, which finds it out on the way, took 7 %
/// longer.
///
/// Cost: one reading and one writing of all columns.
class OrbPartition {
 public:
  static constexpr std::uint64_t tile_size = 2048;

  /// tasks: with their cuts; tiles: of this class's size; left_before: by tile, the records that go left in
  /// all tiles before it (modulo 2^32); bounds (out): of each cell's children. All device. Cells with an
  /// ambiguous cut are left alone.
  void run(const Columns (&columns)[2], const ParticleId* ids, const CellTask* tasks, const Tiles& tiles,
           const std::uint32_t* left_before, ChildBounds* bounds);

  /// The same of the first *number tiles (device), at most `most`. bounds (in/out): of nothing before. The
  /// caller knows how many records that are, and adds the bytes to activity().
  void run(const Columns (&columns)[2], const ParticleId* ids, const CellTask* tasks, const Tile* tiles,
           std::uint32_t most, const std::uint32_t* number, const std::uint32_t* left_before,
           ChildBounds* bounds);
};

}  // namespace grove::cuda
