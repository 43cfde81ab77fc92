#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/timers.hpp"
#include "kernels/cuda/cuts/levels/orb_level.cuh"
#include "kernels/cuda/device/device.hpp"

namespace grove::cuda {

/// Cuts cells down to the leaves without asking the host: the device lays out each level (orb_plan.cuh),
/// brackets the cuts of its larger cells and lists their brackets (bracket_pass.cuh), finds all cuts
/// (orb_cuts.cuh) and divides the cells (OrbPartition). The host starts as many levels at once as the cell
/// with the most leaves must have, and then looks what is left.
///
/// Cost per level: five launches, three where no cell has a bracket; 8 bytes read and, for the partition, 16
/// bytes read and written per record. Once in several levels, a transfer.
class OrbDescent {
 public:
  /// More records in a cell make lists that take one block too long.
  static constexpr std::uint64_t most_records = 1u << 24;

  /// As for OrbSearch.
  OrbDescent(const Columns (&columns)[2], const ParticleId* ids, const CutScheme& scheme)
      : columns_{columns[0], columns[1]}, ids_(ids), scheme_(scheme) {}

  using TakeCut = std::function<void(const FoundCut&)>;

  /// cells (host): no leaves, each at most most_records. first_child: the number of the first new cell;
  /// the children of the k-th cut have the numbers first_child + 2 k and the next. take: called with the cuts
  /// in the order in which they are found, those of parents before those of their children; cells with an
  /// ambiguous cut have none. levels (optional): levels that are started together add to the phase of the
  /// first of them, of this depth at the beginning.
  void run(std::span<const OrbCell> cells, std::int32_t first_child, const TakeCut& take, PhaseTimers* levels,
           std::size_t depth);

 private:
  void reserve(const LevelSize& size, std::uint64_t most_cells);
  /// For so many cuts; those found stay.
  void make_room(std::uint64_t cuts);
  OrbLevel level(int parity) const;
  void cut(const OrbLevel& level, const LevelSize& bound);

  Columns columns_[2];
  const ParticleId* ids_;
  CutScheme scheme_;
  DeviceArray<LevelHead> head_[2];
  DeviceArray<CellTask> tasks_[2];
  DeviceArray<TaskPlace> places_[2];
  DeviceArray<ChildBounds> bounds_;
  DeviceArray<Bracket> brackets_;
  DeviceArray<Tile> pieces_;
  DeviceArray<PieceList> piece_lists_;
  DeviceArray<std::uint32_t> left_in_, left_before_;
  DeviceArray<FoundCut> cuts_;
};

}  // namespace grove::cuda
