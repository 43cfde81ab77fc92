#pragma once

#include <cstdint>

#include "kernels/cuda/cuts/levels/orb_level.cuh"
#include "kernels/cuda/cuts/partition/orb_cell.cuh"

/// Runs of neighbouring records. Where records come in the order of an earlier tree, as in every step of a
/// simulation but the first, those of a run are close together in space. Then most runs lie as a whole on one
/// side of a cut, which their bounds tell: only the few that a cut meets are read and divided, in place, and
/// all others change hands without being touched. All pointers are to device memory.
namespace grove::cuda {

/// Records of a run, at most: a warp divides it in registers.
constexpr std::uint32_t run_size = 512;

/// Runs, as parallel arrays. An empty run has bounds of nothing.
struct Runs {
  std::uint32_t *begin, *count;  ///< records
  Coordinate *low[3], *high[3];  ///< their tight bounds, both inclusive
};

/// A cell that is a list of runs.
struct RunCell {
  std::uint32_t first, count;  ///< its records: where they come to in the end, how many
  std::int32_t leaves;
  std::uint32_t first_run, runs;
  CellBounds bounds;  ///< tight; known once a window is sought

  // The search of its cut.
  std::int32_t axis;
  Coordinate middle;                     ///< CutScheme::middle()
  Coordinate window_first, window_last;  ///< the first key to go right is one of these, both inclusive
  std::uint32_t below;                   ///< records left of the window,
  std::uint32_t left_of_middle;          ///< and left of the middle
  std::uint32_t listed;                  ///< records in the window

  Cut cut;  ///< once it is found
};

/// A run of which some keys have to be looked at, or, of a cell that is cut, one that the cut divides.
struct RunTask {
  std::uint32_t cell, run;
  std::uint32_t left, right;  ///< a divided run: where its parts come to
};

/// Elements of an array.
struct RunSpan {
  std::uint32_t begin, count;
};

/// Keys of a cell are counted in so many bins, each of a power of two of coordinates.
constexpr int run_bin_bits = 10;
constexpr std::uint32_t run_bins = 1u << run_bin_bits;

/// By how many bits a coordinate of first .. last is shifted to tell its bin, counted from the first.
__device__ inline int bin_shift(Coordinate first, Coordinate last) {
  return max(0, 32 - __clz(static_cast<int>(last - first)) - run_bin_bits);
}

/// The parts given out of arrays that blocks share, and the cells of a level.
struct RunHead {
  std::uint32_t level_begin, level_end;  ///< numbers of cells
  std::uint32_t cuts_before;             ///< cuts there were when this level began
  std::uint32_t most_count;              ///< records of one of them that is not small; 0: there is none
  std::uint32_t cuts, runs, listings, divisions, small_cells;
  std::uint32_t overflow;  ///< not 0: some array was too short, nothing that follows is of use
};

/// The bounds and the weight of a cell.
struct RunContent {
  CellBounds bounds;          ///< tight
  unsigned long long weight;  ///< of a leaf, if there are weights
};

/// All that the kernels work on.
struct RunWork {
  Columns records;  ///< divided in place
  Columns sorted;   ///< where records of leaves come to; until then, in the place of a cell, lists of keys
  const ParticleId* ids;
  CutScheme scheme;
  std::uint32_t first_child;  ///< cells have the numbers of the host: roots first, then children by cuts
  std::uint32_t capacity, task_capacity;  ///< of runs; of listings and of divisions
  std::uint32_t most_cuts;                ///< likewise of cuts, and of cells without the roots twice that
  std::uint32_t small_count;              ///< cells of at most so many records are left to one block
  RunHead* head;
  RunCell* cells;  ///< by number
  Runs runs;
  RunTask *listings, *divisions;
  std::uint32_t* bins;           ///< run_bins by cell of a level
  std::uint32_t* small_cells;    ///< numbers
  FoundCut* cuts;                ///< without bounds of children, which come later
  RunContent* contents;          ///< by number of a cell
  const std::uint32_t* weights;  ///< by index; null: they are not wanted

  __device__ bool is_leaf(const RunCell& cell) const {
    return scheme.is_leaf(static_cast<Count>(cell.count), cell.leaves);
  }
  __device__ bool is_small(const RunCell& cell) const { return cell.count <= small_count || is_leaf(cell); }
  const __device__ std::uint32_t* keys(int axis) const {
    return axis == 0 ? records.at[0] : axis == 1 ? records.at[1] : records.at[2];
  }
  const __device__ Coordinate* low(int axis) const {
    return axis == 0 ? runs.low[0] : axis == 1 ? runs.low[1] : runs.low[2];
  }
  const __device__ Coordinate* high(int axis) const {
    return axis == 0 ? runs.high[0] : axis == 1 ? runs.high[1] : runs.high[2];
  }
};

/// The keys of a cell in its window and the places of their records, in no order.
struct WindowList {
  std::uint32_t *keys, *places;

  __device__ WindowList(const RunWork& work, const RunCell& cell)
      : keys(work.sorted.at[0] + cell.first), places(work.sorted.at[3] + cell.first) {}
};

}  // namespace grove::cuda
