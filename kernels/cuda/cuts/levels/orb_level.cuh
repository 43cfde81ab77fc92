#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/levels/bracket_pass.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"

/// The cells that OrbDescent cuts in one step, in device memory. They are of two kinds: those with brackets,
/// which come first, and those that one block reads as a whole.
namespace grove::cuda {

/// A cell of more records gets a bracket: reading it takes one block longer than two more launches.
constexpr std::uint64_t most_without_bracket = 1u << 16;

/// How many there are of the cells of a level, of what belongs to them, and of those among them that have
/// brackets.
struct LevelSize {
  std::uint32_t cells, pieces;  ///< pieces: tiles of the partition
  std::uint32_t bracketed_cells, bracketed_pieces;

  GROVE_HOST_DEVICE LevelSize& operator+=(const LevelSize& o) {
    cells += o.cells, pieces += o.pieces;
    bracketed_cells += o.bracketed_cells, bracketed_pieces += o.bracketed_pieces;
    return *this;
  }
  friend GROVE_HOST_DEVICE LevelSize operator+(LevelSize a, const LevelSize& b) { return a += b; }
};

/// The size of one cell; nothing if it is a leaf.
GROVE_HOST_DEVICE inline LevelSize size_of(const OrbCell& cell, const CutScheme& scheme) {
  LevelSize size{};
  if (scheme.is_leaf(static_cast<Count>(cell.count), cell.leaves)) return size;
  size.cells = 1;
  size.pieces =
      static_cast<std::uint32_t>((cell.count + OrbPartition::tile_size - 1) / OrbPartition::tile_size);
  if (cell.count > most_without_bracket) {
    size.bracketed_cells = 1;
    size.bracketed_pieces = size.pieces;
  }
  return size;
}

/// The facts about a level before it is cut.
struct LevelHead {
  LevelSize size;
  std::int32_t most_leaves;               ///< of a cell
  std::uint32_t cuts_before;              ///< found in the levels before
  std::uint64_t records, records_before;  ///< in its cells, and in those of the levels before, together
};

/// The place of a cell that is being cut.
struct TaskPlace {
  std::int32_t cell;  ///< its number on the host
  std::uint32_t first_piece;
};

/// How a cell was cut, for the host.
struct FoundCut {
  Cut cut;
  std::uint64_t left;  ///< records
  ChildBounds bounds;
  std::int32_t cell;
  std::int32_t is_ambiguous;  ///< CellTask::is_ambiguous
};

/// A level; all arrays are device memory.
struct OrbLevel {
  LevelHead* head;
  CellTask* tasks;  ///< by cell, and the next likewise
  TaskPlace* places;
  ChildBounds* bounds;
  Bracket* brackets;  ///< of those cells that have one
  Tile* pieces;
  std::uint32_t* left_in;      ///< by piece: the records that go left,
  std::uint32_t* left_before;  ///< and those in all pieces of its cell before it
  PieceList* lists;            ///< by piece, of cells with brackets
};

}  // namespace grove::cuda
