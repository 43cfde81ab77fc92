#pragma once

#include "kernels/cuda/cuts/partition/block_select.cuh"
#include "kernels/cuda/cuts/runs/run_window.cuh"

/// The exact cut of a cell, and the division of its runs.
namespace grove::cuda {

/// More keys in a window take one block too long: very many are equal.
constexpr std::uint32_t most_listed = 1u << 20;

/// How a cell was cut.
struct RunCut {
  static constexpr std::uint32_t none = ~0u;
  std::uint32_t child;  ///< number of the left one; none: all is in vain, or ids are not unique
  RunSpan divisions;    ///< in work.divisions
};

/// Which sides of a cut a run has a part in, perhaps an empty one.
struct Sides {
  bool left, right;

  __device__ Sides(Coordinate low, Coordinate high, Coordinate cut)
      : left(low <= cut), right(high >= cut && low <= high) {}
};

/// Notes the cut of a cell. Returns the number that its left child has, the right one has the next; none:
/// there is no room. By one thread.
__device__ inline std::uint32_t add_cut(const RunWork& work, std::uint32_t number, const SelectedCut& found,
                                        std::uint32_t left) {
  RunCell& cell = work.cells[number];
  cell.cut = {found.cut.id, found.cut.coordinate, cell.axis};
  const std::uint32_t k = atomicAdd(&work.head->cuts, 1u), child = work.first_child + 2 * k;
  if (k >= work.most_cuts) {
    work.head->overflow = 1;
    return RunCut::none;
  }
  work.cuts[k] = {cell.cut, left, {}, static_cast<std::int32_t>(number), found.is_ambiguous};
  work.cells[child] = work.cells[child + 1] = {};
  return child;
}

/// Makes the two children of a cell. Returns the number of the left one, or none. By one thread.
__device__ inline std::uint32_t add_children(const RunWork& work, std::uint32_t number,
                                             const SelectedCut& found, std::uint32_t left,
                                             const RunSpan& left_runs, const RunSpan& right_runs) {
  const std::uint32_t child = add_cut(work, number, found, left);
  if (child == RunCut::none) return child;
  const RunCell& cell = work.cells[number];
  const auto leaves =
      work.scheme.child_leaves(cell.leaves, static_cast<Count>(cell.count), static_cast<Count>(left));
  RunCell &first = work.cells[child], &second = work.cells[child + 1];
  first.first = cell.first, first.count = left;
  first.leaves = static_cast<std::int32_t>(leaves.left);
  first.first_run = left_runs.begin, first.runs = left_runs.count;
  second.first = cell.first + left, second.count = cell.count - left;
  second.leaves = static_cast<std::int32_t>(leaves.right);
  second.first_run = right_runs.begin, second.runs = right_runs.count;
  return child;
}

/// Finds the cut of a cell in the list of its window, makes the children, gives each the runs on its side,
/// and lists the runs that the cut divides. By one block; every thread gets the result. Cost: reads the list
/// about three times, the bounds of the runs twice, and copies the runs.
template <int threads>
__device__ RunCut cut_cell(const RunWork& work, std::uint32_t number) {
  __shared__ std::uint32_t left_place, right_place, division_place, divisions, child;
  const RunCell& cell = work.cells[number];
  if (cell.listed > most_listed) {
    if (threadIdx.x == 0) work.head->overflow = 1;
    return {RunCut::none, {0, 0}};
  }
  const std::uint32_t left = left_of_cut(work, cell, cell.left_of_middle);
  const WindowList list(work, cell);
  const SelectedCut found = select_by_key_and_id<threads>(
      cell.window_first, cell.window_last, left - cell.below, cell.listed,
      [&](std::uint32_t i) { return list.keys[i]; },
      [&](std::uint32_t i) { return id_of(work.ids, work.records.at[3][list.places[i]]); });

  const Coordinate cut = found.cut.coordinate;
  const std::uint32_t first_run = cell.first_run, end = first_run + cell.runs;
  const Coordinate *const low = work.low(cell.axis), *const high = work.high(cell.axis);
  std::uint32_t left_runs = 0, right_runs = 0, divided = 0;
#pragma unroll 4
  for (std::uint32_t r = first_run + threadIdx.x; r < end; r += threads) {
    const Sides sides(low[r], high[r], cut);
    left_runs += sides.left, right_runs += sides.right, divided += sides.left && sides.right;
  }
  left_runs = block_sum<threads>(left_runs);
  right_runs = block_sum<threads>(right_runs);
  divided = block_sum<threads>(divided);
  if (threadIdx.x == 0) {
    child = RunCut::none;
    if (found.is_ambiguous) {
      add_cut(work, number, found, left);
    } else {
      left_place = atomicAdd(&work.head->runs, left_runs + right_runs);
      right_place = left_place + left_runs;
      divisions = division_place = atomicAdd(&work.head->divisions, divided);
      if (right_place + right_runs > work.capacity || divisions + divided > work.task_capacity)
        work.head->overflow = 1;
      else
        child = add_children(work, number, found, left, {left_place, left_runs}, {right_place, right_runs});
    }
  }
  __syncthreads();
  if (child == RunCut::none) return {RunCut::none, {0, 0}};

  const std::uint32_t lane = threadIdx.x % 32;
  for (std::uint32_t base = first_run; base < end; base += threads) {
    const std::uint32_t r = base + threadIdx.x;
    const bool is_run = r < end;
    const Sides sides = is_run ? Sides(low[r], high[r], cut) : Sides(1, 0, 0);
    const auto placed = [&](bool is_wanted, std::uint32_t& place) {
      const unsigned votes = __ballot_sync(~0u, is_wanted);
      std::uint32_t begin = 0;
      if (lane == 0 && votes != 0) begin = atomicAdd(&place, static_cast<std::uint32_t>(__popc(votes)));
      return __shfl_sync(~0u, begin, 0) + __popc(votes & ((1u << lane) - 1));
    };
    const std::uint32_t to_left = placed(sides.left, left_place), to_right = placed(sides.right, right_place);
    const std::uint32_t division = placed(sides.left && sides.right, division_place);
    if (sides.left && sides.right) {
      work.divisions[division] = {number, r, to_left, to_right};
    } else if (sides.left || sides.right) {
      const std::uint32_t to = sides.left ? to_left : to_right;
      work.runs.begin[to] = work.runs.begin[r];
      work.runs.count[to] = work.runs.count[r];
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        work.runs.low[axis][to] = work.runs.low[axis][r];
        work.runs.high[axis][to] = work.runs.high[axis][r];
      }
    }
  }
  __syncthreads();
  return {child, {divisions, divided}};
}

/// Divides the records of a run at the cut of its cell, in place, and makes the two runs. By one warp.
__device__ inline void divide_run(const RunWork& work, const RunTask& task) {
  const Cut cut = work.cells[task.cell].cut;
  const std::uint32_t lane = threadIdx.x % 32, begin = work.runs.begin[task.run],
                      count = work.runs.count[task.run];
  // All is read before anything is written.
  const RunKeys columns[4] = {{work.records.at[0] + begin, count},
                              {work.records.at[1] + begin, count},
                              {work.records.at[2] + begin, count},
                              {work.records.at[3] + begin, count}};
  std::uint32_t is_left = 0;  // by row
  std::uint32_t lefts = 0;    // of the run
#pragma unroll
  for (int r = 0; r < RunKeys::rows; ++r) {
    if (32 * r >= count) break;
    const Coordinate key = cut.axis == 0   ? columns[0].key[r]
                           : cut.axis == 1 ? columns[1].key[r]
                                           : columns[2].key[r];
    bool left = key < cut.coordinate;
    if (key == cut.coordinate) left = id_of(work.ids, columns[3].key[r]) < cut.id;
    left = left && 32 * r + lane < count;
    is_left |= static_cast<std::uint32_t>(left) << r;
    lefts += __popc(__ballot_sync(~0u, left));
  }
  __syncwarp();
  Coordinate low[2][3], high[2][3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) low[0][axis] = low[1][axis] = ~0u, high[0][axis] = high[1][axis] = 0;
  std::uint32_t before = 0;  // what goes left of the rows before
#pragma unroll
  for (int r = 0; r < RunKeys::rows; ++r) {
    if (32 * r >= count) break;
    const std::uint32_t i = 32 * r + lane;
    const bool left = is_left >> r & 1;
    const unsigned votes = __ballot_sync(~0u, left);
    const std::uint32_t own_before = before + __popc(votes & ((1u << lane) - 1));
    before += __popc(votes);
    if (i >= count) continue;
    const std::uint32_t to = begin + (left ? own_before : lefts + (i - own_before));
#pragma unroll
    for (int c = 0; c < 4; ++c) work.records.at[c][to] = columns[c].key[r];
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const Coordinate value = columns[axis].key[r];
      low[0][axis] = min(low[0][axis], left ? value : ~0u);
      high[0][axis] = max(high[0][axis], left ? value : 0u);
      low[1][axis] = min(low[1][axis], left ? ~0u : value);
      high[1][axis] = max(high[1][axis], left ? 0u : value);
    }
  }
  __syncwarp();
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    const std::uint32_t to = side == 0 ? task.left : task.right;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
      const Coordinate least = __reduce_min_sync(~0u, low[side][axis]);
      const Coordinate most = __reduce_max_sync(~0u, high[side][axis]);
      if (lane == 0) work.runs.low[axis][to] = least, work.runs.high[axis][to] = most;
    }
    if (lane > 0) continue;
    work.runs.begin[to] = side == 0 ? begin : begin + lefts;
    work.runs.count[to] = side == 0 ? lefts : count - lefts;
  }
}

}  // namespace grove::cuda
