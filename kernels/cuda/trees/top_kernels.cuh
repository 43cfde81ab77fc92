#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/node_code.hpp"
#include "kernels/cuda/trees/top_values.cuh"
#include "kernels/math/walk_views.hpp"

/// How the cells that a rank knows hang together, as walks see them: the kernels of DeviceTop that depend on
/// the shape of the tree alone.
namespace grove::cuda {

/// How many cells and leaves there are.
struct TopNumbers {
  std::int32_t cells, leaves;
};

GROVE_HOST_DEVICE inline std::uint32_t code_of_cell(const NodeCodes& codes, const TopLinks* links,
                                                    std::int32_t cell) {
  const TopLinks& own = links[cell];
  return own.is_leaf() ? codes.root_of(own.first_leaf) : codes.of_cell(cell);
}

/// By cell: those of the table, and behind them those that others have sent. The last leaf has no cell.
__global__ void __launch_bounds__(top_threads)
    adopt_cells(const TopLinks* table, std::int32_t of_table, const TopLinks* imported, const TopNumbers all,
                TopLinks* cells, std::uint32_t* leaf_cell) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (c == 0) leaf_cell[all.leaves - 1] = 0;
  if (c < all.cells) cells[c] = c < of_table ? table[c] : imported[c - of_table];
}

/// By cover of another rank: what lies below it in this walk.
__global__ void __launch_bounds__(top_threads)
    hang_cells(const ImportedTop::Hung* hung, std::uint32_t count, TopLinks* cells) {
  const std::uint32_t i = blockIdx.x * top_threads + threadIdx.x;
  if (i < count) cells[hung[i].cover].child = hung[i].child;
}

/// By cell: its place below its parent, and what walks see of it in the first image.
__global__ void __launch_bounds__(top_threads)
    link_cells(const NodeCodes codes, const TopLinks* cells, const TopNumbers all, std::int32_t* parent,
               std::uint32_t* leaf_cell, NodeLinks* links) {
  const auto c = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (c >= all.cells) return;
  const TopLinks own = cells[c];
  if (c == 0) parent[0] = -1;
  if (own.is_leaf()) {
    leaf_cell[own.first_leaf] = static_cast<std::uint32_t>(c);
    links[c] = {};
    return;
  }
  if (own.child < 0) {  // the last leaf, which is not known either
    const auto nothing = static_cast<std::int32_t>(codes.root_of(all.leaves - 1));
    links[c] = {nothing, nothing, 0, 0};
    return;
  }
  parent[own.child] = parent[own.child + 1] = c;
  links[c] = {static_cast<std::int32_t>(code_of_cell(codes, cells, own.child)),
              static_cast<std::int32_t>(code_of_cell(codes, cells, own.child + 1)), 0, 0};
}

/// By own leaf: the roots of the other images, and the siblings of the cells on the way from the root.
__global__ void __launch_bounds__(top_threads)
    list_beginnings(const NodeCodes codes, const TopLinks* cells, const TopNumbers all, int images,
                    const std::int32_t* parent, const std::uint32_t* leaf_cell, std::int32_t own_leaves,
                    const std::uint32_t* first, std::uint32_t* beginnings) {
  const auto leaf = static_cast<std::int32_t>(blockIdx.x * top_threads + threadIdx.x);
  if (leaf >= own_leaves) return;
  // Images of the root, which are all there, come first behind the first image (ImageNumbers).
  for (int image = 1; image < images; ++image)
    beginnings[first[leaf] + static_cast<std::uint32_t>(image - 1)] =
        cells[0].is_leaf() ? codes.root_of(all.leaves + image - 1)
                           : codes.of_cell(all.cells + 2 * (image - 1));
  std::uint32_t next = first[leaf + 1];
  for (auto c = static_cast<std::int32_t>(leaf_cell[leaf]); parent[c] >= 0; c = parent[c]) {
    const std::int32_t child = cells[parent[c]].child;
    beginnings[--next] = code_of_cell(codes, cells, c == child ? child + 1 : child);
  }
}

}  // namespace grove::cuda
