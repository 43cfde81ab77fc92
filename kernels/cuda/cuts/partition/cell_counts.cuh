#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/tiles.cuh"
#include "kernels/cuda/device/parcel.hpp"
#include "kernels/math/cell_questions.hpp"

/// The passes of the services over the axes of many cells, each one launch. Spans are the host's, pointers
/// the device's. tiles: of the segments; weights, ids: by record index, weights = nullptr: all weigh 1.
namespace grove::cuda {

/// The coordinates of a cell on the axis that it is to be cut on: the column itself.
struct AxisSegment {
  const Coordinate* keys;
  const std::uint32_t* indices;
  std::uint64_t first, count;  ///< in both
};

/// The memory of the passes, kept from one to the next.
struct PassMemory {
  Parcel parcel;
  DeviceArray<std::byte> answers;
};

/// ResidentCells::make_axis().
void count_near_middle(PassMemory& memory, std::span<const AxisSegment> axes,
                       std::span<const AxisChoice> choices, const Tiles& tiles, std::span<Count> answer);

/// ResidentCells::count_left().
void count_candidates(PassMemory& memory, std::span<const AxisSegment> axes,
                      std::span<const CandidateCuts> cuts, const Tiles& tiles, const std::uint32_t* weights,
                      std::span<Tally> answer);

/// ResidentCells::gather_keys().
std::vector<GatheredKey> gather_intervals(PassMemory& memory, std::span<const AxisSegment> axes,
                                          std::span<const KeyInterval> intervals, const Tiles& tiles,
                                          const std::uint32_t* weights);

/// ResidentCells::select_tie().
void count_tied(PassMemory& memory, std::span<const AxisSegment> axes, std::span<const TiedCuts> cuts,
                const Tiles& tiles, const ParticleId* ids, const std::uint32_t* weights,
                std::span<Tally> answer);

/// The two sides into which a cut divides a cell.
struct SideTally {
  std::uint64_t left;         ///< records that go left,
  std::uint64_t weight_left;  ///< and their weight, if there are weights
  ParticleId first_right;     ///< the least id of those that go right with the coordinate of the cut
};
/// Counts what the cuts of the tasks divide, for each cell and, in left_in, for each tile of the partition;
/// writes CellTask::left, too. axes, answers (in: 0, 0 and the greatest id there is): device.
void count_sides(const AxisSegment* axes, const Tiles& tiles, const Tiles& partition_tiles,
                 const ParticleId* ids, const std::uint32_t* weights, CellTask* tasks, std::uint32_t* left_in,
                 SideTally* answers);

}  // namespace grove::cuda
