#include "kernels/cuda/cuts/levels/orb_plan.cuh"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {
namespace {

constexpr int plan_threads = 512;

/// Writes a cell's part of the level. before: what belongs to cells before it; bracketed: in the level.
__device__ void place(const CutScheme& scheme, const OrbLevel& level, const OrbCell& cell,
                      const LevelSize& size, const LevelSize& before, std::uint32_t bracketed_cells,
                      std::uint32_t bracketed_pieces) {
  const bool has_bracket = size.bracketed_cells > 0;
  const std::uint32_t c =
      has_bracket ? before.bracketed_cells : bracketed_cells + (before.cells - before.bracketed_cells);
  const std::uint32_t first_piece =
      has_bracket ? before.bracketed_pieces : bracketed_pieces + (before.pieces - before.bracketed_pieces);
  level.tasks[c] = task_of(cell, scheme);
  level.places[c] = {cell.number, first_piece};
  if (has_bracket) level.brackets[c] = {cell.count, 0, 0, 0};
}

/// The table of the pieces of cells with brackets, a warp per cell; other cells write their own.
__device__ void list_pieces(const OrbLevel& level, std::uint32_t cells) {
  for (std::uint32_t c = threadIdx.x / 32; c < cells; c += plan_threads / 32) {
    const std::uint32_t first = level.places[c].first_piece;
    const auto pieces = static_cast<std::uint32_t>((level.tasks[c].count + OrbPartition::tile_size - 1) /
                                                   OrbPartition::tile_size);
    for (std::uint32_t i = threadIdx.x % 32; i < pieces; i += 32)
      level.pieces[first + i] = {static_cast<std::int32_t>(c), i};
  }
}

/// By one block. cell_of(0 .. count - 1): cells, perhaps leaves. head: all of it but the level's own.
template <class CellOf>
__device__ void plan(const CutScheme& scheme, std::uint32_t count, const CellOf& cell_of, LevelHead head,
                     const OrbLevel& level) {
  using Scan = cub::BlockScan<LevelSize, plan_threads>;
  using Reduce = cub::BlockReduce<std::uint64_t, plan_threads>;
  __shared__ typename Scan::TempStorage storage;
  __shared__ typename Reduce::TempStorage reduce_storage;
  __shared__ std::int32_t most_leaves;
  __shared__ std::uint32_t bracketed_cells, bracketed_pieces;
  if (threadIdx.x == 0) most_leaves = 0, bracketed_cells = bracketed_pieces = 0;
  __syncthreads();
  std::uint64_t records = 0;
  for (std::uint32_t j = threadIdx.x; j < count; j += plan_threads) {
    const OrbCell cell = cell_of(j);
    const LevelSize size = size_of(cell, scheme);
    if (size.cells == 0) continue;
    records += cell.count;
    atomicMax(&most_leaves, cell.leaves);
    if (size.bracketed_cells > 0) {
      atomicAdd(&bracketed_cells, 1u);
      atomicAdd(&bracketed_pieces, size.bracketed_pieces);
    }
  }
  records = Reduce(reduce_storage).Sum(records);  // for the first thread
  __syncthreads();
  LevelSize before{}, begin{};
  for (std::uint32_t base = 0; base < count; base += plan_threads) {
    const std::uint32_t j = base + threadIdx.x;
    OrbCell cell{};
    LevelSize size{}, sum{};
    if (j < count) cell = cell_of(j), size = size_of(cell, scheme);
    Scan(storage).ExclusiveSum(size, before, sum);
    if (size.cells > 0) place(scheme, level, cell, size, begin + before, bracketed_cells, bracketed_pieces);
    begin += sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    head.size = begin;
    head.most_leaves = most_leaves;
    head.records = records;
    *level.head = head;
  }
  list_pieces(level, bracketed_cells);
}

__global__ void __launch_bounds__(plan_threads)
    plan_first(const CutScheme scheme, const OrbCell* cells, std::uint32_t count, const OrbLevel level) {
  plan(
      scheme, count, [&](std::uint32_t j) { return cells[j]; }, LevelHead{}, level);
}

/// One of the two children of a cell that has been cut; a leaf of nothing if it has not.
__device__ OrbCell child_of(const CutScheme& scheme, const CellTask& parent, const ChildBounds& bounds,
                            int side, std::int32_t number) {
  if (parent.is_ambiguous) return {};
  const auto leaves =
      scheme.child_leaves(parent.leaves, static_cast<Count>(parent.count), static_cast<Count>(parent.left));
  OrbCell child{};
  child.first = side == 0 ? parent.first : parent.first + parent.left;
  child.count = side == 0 ? parent.left : parent.count - parent.left;
  child.bounds = bounds.of(side);
  child.leaves = static_cast<std::int32_t>(side == 0 ? leaves.left : leaves.right);
  child.from = 1 - parent.from;
  child.number = number;
  return child;
}

__global__ void __launch_bounds__(plan_threads)
    plan_next(const CutScheme scheme, const OrbLevel above, std::int32_t first_child, FoundCut* cuts,
              const OrbLevel level) {
  const LevelHead head = *above.head;
  const std::uint32_t cells = head.size.cells;
  for (std::uint32_t c = threadIdx.x; c < cells; c += plan_threads) {
    const CellTask& task = above.tasks[c];
    cuts[head.cuts_before + c] = {task.cut, task.left, above.bounds[c], above.places[c].cell,
                                  task.is_ambiguous};
  }
  const auto first = first_child + static_cast<std::int32_t>(2 * head.cuts_before);
  LevelHead next{};
  next.cuts_before = head.cuts_before + cells;
  next.records_before = head.records_before + head.records;
  plan(
      scheme, 2 * cells,
      [&](std::uint32_t j) {
        return child_of(scheme, above.tasks[j / 2], above.bounds[j / 2], static_cast<int>(j % 2),
                        first + static_cast<std::int32_t>(j));
      },
      next, level);
}

}  // namespace

void plan_first_level(const CutScheme& scheme, const OrbCell* cells, std::uint32_t count,
                      const OrbLevel& level) {
  plan_first<<<1, plan_threads>>>(scheme, cells, count, level);
  launched("Grove::cuda::plan_first");
}

void plan_next_level(const CutScheme& scheme, const OrbLevel& above, std::int32_t first_child, FoundCut* cuts,
                     const OrbLevel& level) {
  plan_next<<<1, plan_threads>>>(scheme, above, first_child, cuts, level);
  launched("Grove::cuda::plan_next");
}

}  // namespace grove::cuda
