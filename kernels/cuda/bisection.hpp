#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/timers.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {

/// What is sorted in place of particles: integer coordinates x, y, z and the index of the particle, as four
/// parallel arrays in device memory.
struct DeviceRecords {
  DeviceRecords() = default;
  explicit DeviceRecords(std::size_t count) {
    for (auto& column : columns) column = DeviceArray<std::uint32_t>(count);
  }
  std::size_t size() const { return columns[0].size(); }

  std::array<DeviceArray<std::uint32_t>, 4> columns;
};

/// Cuts a cell whose particles are all on this GPU down to the leaves of the ORB; the same cells as
/// grove::cut_to_leaves() of the Kokkos backend finds, bit for bit. Every particle weighs 1.
///
/// Breadth-first, all cells of a level at once: search (OrbSearch), partition with the children's bounds
/// (OrbPartition). Only cells, bounds and cuts cross to the host.
///
/// scheme, root: as for grove::cut_to_leaves(). records (in/out): root.count, returned so that the records of
/// every cell are contiguous, in tree order, otherwise in the order given. spare: memory of the same size;
/// may come back exchanged with the records. ids (device, by index): nullptr: the index is the id. InputError
/// if ids are not unique where a cut meets equal coordinates.
///
/// timers (optional): adds to "search" and "partition", which then wait for the device.
///
/// Cost per level: 8 bytes read and, for the partition, 16 bytes read and written per record; a few times 20
/// microseconds.
std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, DeviceRecords& records,
                                DeviceRecords& spare, const ParticleId* ids, PhaseTimers* timers = nullptr);

}  // namespace grove::cuda
