#pragma once

#include <cstdint>

#include "base/types.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/cut_rule.hpp"

/// The common data of the kernels of the bisection. All pointers are to device memory.
namespace grove::cuda {

/// Coordinates x, y, z and the particles' indices, parallel.
struct Columns {
  std::uint32_t* at[4];
};

inline Columns columns_of(const DeviceRecords& records) {
  Columns columns;
  for (int c = 0; c < 4; ++c) columns.at[c] = records.columns[static_cast<std::size_t>(c)].data();
  return columns;
}

/// A cell that may have to be cut.
struct OrbCell {
  std::uint64_t first, count;  ///< its records
  CellBounds bounds;           ///< tight
  std::int32_t leaves;
  std::int32_t from;    ///< the set of columns that holds it
  std::int32_t number;  ///< the host's
};

/// A cell that is being cut: a segment of one of the two sets of columns.
struct CellTask {
  std::uint64_t first, count;  ///< its records
  std::int32_t leaves;
  std::int32_t axis;
  Coordinate low, high;  ///< tight bounds on the axis
  Coordinate middle;     ///< CutScheme::middle()
  std::int32_t from;     ///< the set of columns that holds it; its children come into the other one

  // The search: the first key to go right is one of key_first .. key_last, inclusive.
  Coordinate key_first, key_last;
  std::uint64_t below;       ///< records left of these keys
  std::uint64_t inside;      ///< records with these keys
  std::uint64_t left;        ///< how many records go left; known after the first histogram, or
  bool left_is_known;        ///< from the beginning
  std::uint64_t list_begin;  ///< where its gathered keys begin
  const std::uint32_t* via;  ///< nullptr, or what stands in the column of indices are places in this array

  // The result.
  Cut cut;                    ///< of the first record that goes right
  std::int32_t is_ambiguous;  ///< several records have the coordinate and the id of the cut
};

/// Before the search.
GROVE_HOST_DEVICE inline CellTask task_of(const OrbCell& cell, const CutScheme& scheme) {
  CellTask task{};
  task.first = cell.first;
  task.count = task.inside = cell.count;
  task.leaves = cell.leaves;
  task.axis = scheme.axis(cell.bounds.low, cell.bounds.high, static_cast<Count>(cell.count));
  task.low = task.key_first = cell.bounds.low[task.axis];
  task.high = task.key_last = cell.bounds.high[task.axis];
  task.middle = scheme.middle(task.low, task.high, static_cast<Count>(cell.count));
  task.from = cell.from;
  return task;
}

/// Tight bounds of the two children of a cell, both inclusive.
struct ChildBounds {
  Coordinate low[2][3], high[2][3];

  GROVE_HOST_DEVICE static ChildBounds of_nothing() {
    ChildBounds bounds{};
    for (auto& side : bounds.low)
      for (Coordinate& low : side) low = ~0u;
    return bounds;
  }
  GROVE_HOST_DEVICE CellBounds of(int side) const {
    return {{low[side][0], low[side][1], low[side][2]}, {high[side][0], high[side][1], high[side][2]}};
  }
};

/// A piece of a cell that a block works on.
struct Tile {
  std::int32_t task;
  std::uint32_t number;  ///< counted within the cell
};

/// A column of one of two sets, without an index that would take the sets out of constant memory.
__device__ inline std::uint32_t* column_of(const Columns& first, const Columns& second, int set, int column) {
  if (set == 0)
    return column == 0 ? first.at[0] : column == 1 ? first.at[1] : column == 2 ? first.at[2] : first.at[3];
  return column == 0 ? second.at[0] : column == 1 ? second.at[1] : column == 2 ? second.at[2] : second.at[3];
}

/// Id of a record; ids = nullptr: its index.
__device__ inline ParticleId id_of(const ParticleId* ids, std::uint32_t index) {
  return ids ? ids[index] : index;
}

}  // namespace grove::cuda
