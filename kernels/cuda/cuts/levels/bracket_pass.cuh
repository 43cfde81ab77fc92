#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/math/cut_rule.hpp"

/// The two steps with which an exact cut of a large cell is found by one pass over its coordinates: a sample
/// brackets it between two coordinates, and the pass counts what lies left of the bracket, in each tile of
/// the partition, and lists the few per cent that lie inside. A bracket that turns out not to hold its cut,
/// or to hold too much, is no harm: the counts say so. (Sampling before selection: Floyd and Rivest 1975,
/// "Expected time bounds for selection".) All pointers are to device memory.
namespace grove::cuda {

/// The keys of a cell that the pass may list, and counts.
struct Bracket {
  std::uint64_t room;
  unsigned long long below, inside, left_of_middle;

  /// True if the first record to go right, of this rank in the cell, is in the list.
  __device__ bool holds(std::uint64_t rank) const {
    return rank >= below && rank - below < inside && inside <= room;
  }
};

/// The place of a piece's keys of the bracket in the list of its cell.
struct PieceList {
  std::uint32_t begin, count;
};

/// The keys of a cell in its bracket and their places in the cell, in no order, but those of a piece are
/// neighbours. They are in the set of columns that the cell's records will come to.
struct BracketList {
  std::uint32_t *keys, *places;

  __device__ BracketList(const Columns& columns0, const Columns& columns1, const CellTask& task)
      : keys(column_of(columns0, columns1, 1 - task.from, key_column) + task.first),
        places(column_of(columns0, columns1, 1 - task.from, place_column) + task.first) {}

  static constexpr int key_column = 0, place_column = 3;  ///< as of records: OrbSearch reads them, too
};

/// Sets task.key_first and key_last of the first *number tasks, at most `most`. Cost: reads one coordinate
/// of 64, at most 32768 of a cell.
void find_brackets(const Columns (&columns)[2], const CutScheme& scheme, CellTask* tasks, std::uint32_t most,
                   const std::uint32_t* number);

/// The share of a cell of so many records that its bracket is expected to hold, but for what the quantum
/// adds.
double bracket_share(std::uint64_t count);

/// The pass over the first *number pieces, at most `most`, all of cells with brackets. left_in (out): by
/// piece, what lies left of the bracket; lists (out): by piece. Cost: reads one coordinate of each record,
/// writes 8 bytes for each in a bracket; the caller, who knows how many that are, adds them to activity().
void split_at_brackets(const Columns (&columns)[2], const CutScheme& scheme, const CellTask* tasks,
                       const Tile* pieces, std::uint32_t most, const std::uint32_t* number, Bracket* brackets,
                       PieceList* lists, std::uint32_t* left_in);

}  // namespace grove::cuda
