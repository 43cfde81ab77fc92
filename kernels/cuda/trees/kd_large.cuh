#pragma once

#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/kd_view.cuh"

/// Large nodes of kd-trees, all of a level at once.
namespace grove::cuda {
namespace {

/// Gives a node to those who will cut it. By all lanes of a warp.
__device__ void hand_on(const KdView& v, int level, const KdNode& node) {
  const int lane = lane_index();
  if (node.count < kd_large) {
    if (lane != 0) return;
    const std::uint32_t at = atomicAdd(&v.sizes->small, 1U);
    if (at < v.most_small) v.small[at] = node;  // else there will be another try
    return;
  }
  if (node.tight_low == node.tight_high) {
    if (lane == 0) v.coincident[atomicAdd(&v.sizes->coincident, 1U)] = node;
    return;
  }
  const std::uint32_t pieces = (node.count + kd_piece - 1) / kd_piece;
  std::uint32_t number = 0, piece = 0;
  if (lane == 0) {
    number = atomicAdd(&v.sizes->nodes[level], 1U);
    piece = atomicAdd(&v.sizes->pieces[level], pieces);
    v.node[level % 2][number] = node;
    v.partition[level % 2][number] = {{0, 0}, {{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}}, {{0, 0, 0}, {0, 0, 0}}};
  }
  number = __shfl_sync(~0U, number, 0);
  piece = __shfl_sync(~0U, piece, 0);
  for (std::uint32_t p = static_cast<std::uint32_t>(lane); p < pieces; p += 32)
    v.piece[level % 2][piece + p] = {number, node.first + p * kd_piece};
}

__device__ void warp_box(IntegerPosition& low, IntegerPosition& high) {
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = __reduce_min_sync(~0U, low[axis]);
    high[axis] = __reduce_max_sync(~0U, high[axis]);
  }
}

/// The tight boxes of leaves. Blocks along y share a leaf. partition: low[0] and high[0] of each, made empty.
__global__ void __launch_bounds__(threads) bound_leaves(const KdView v, KdPartition* boxes) {
  const std::uint32_t leaf = blockIdx.x, end = v.from.begin[leaf + 1];
  IntegerPosition low{~0U, ~0U, ~0U}, high{0, 0, 0};
  for (std::uint32_t i = v.from.begin[leaf] + blockIdx.y * threads + threadIdx.x; i < end;
       i += gridDim.y * threads)
    for (int axis = 0; axis < 3; ++axis) {
      const Coordinate x = v.from.columns.at[axis][i];
      low[axis] = min(low[axis], x);
      high[axis] = max(high[axis], x);
    }
  warp_box(low, high);
  __shared__ IntegerPosition lows[warps], highs[warps];
  if (lane_index() == 0) lows[threadIdx.x / 32] = low, highs[threadIdx.x / 32] = high;
  __syncthreads();
  // Many blocks meet at the box of a leaf: one thread for each of its sides goes there.
  if (threadIdx.x >= 6) return;
  const int axis = static_cast<int>(threadIdx.x % 3);
  Coordinate side = threadIdx.x < 3 ? low[axis] : high[axis];  // the first warp's
  for (int w = 1; w < warps; ++w)
    side = threadIdx.x < 3 ? min(side, lows[w][axis]) : max(side, highs[w][axis]);
  if (threadIdx.x < 3)
    atomicMin(&boxes[leaf].low[0][axis], side);
  else
    atomicMax(&boxes[leaf].high[0][axis], side);
}

__global__ void empty_boxes(std::uint32_t leaves, KdPartition* boxes) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf < leaves) boxes[leaf].low[0] = {~0U, ~0U, ~0U}, boxes[leaf].high[0] = {0, 0, 0};
}

/// The roots of leaves. A warp each.
__global__ void __launch_bounds__(threads) start(const KdView v, const KdPartition* boxes) {
  const std::uint32_t leaf = (blockIdx.x * threads + threadIdx.x) / 32;
  if (leaf >= v.from.leaves) return;
  const std::uint32_t first = v.from.begin[leaf], count = v.from.begin[leaf + 1] - first;
  if (count == 0) return;
  if (lane_index() == 0) v.cut[first].end = 0;
  const IntegerPosition low = boxes[leaf].low[0], high = boxes[leaf].high[0];
  hand_on(v, 0, {first, count, leaf, 0, 0, low, high, low, high});
}

/// A block's particles of a piece, by side: the first of their places, and their boxes.
struct PieceMemory {
  std::uint32_t taken[2];
  IntegerPosition low[2], high[2];
};

/// Parts the particles of a piece of a large node: the left ones go to the front of the node in the other
/// columns, the others to its end, in any order. By all threads of a block.
class PieceParting {
 public:
  __device__ PieceParting(const KdNode& node, KdPartition& partition, PieceMemory& memory)
      : node_(node),
        partition_(partition),
        m_(memory),
        axis_(longest_axis(node.tight_low, node.tight_high)),
        middle_(kd_middle(node.tight_low[axis_], node.tight_high[axis_])) {}

  __device__ void run(const Columns& from, const Columns& to, std::uint32_t first) {
    if (threadIdx.x < 2) {
      m_.taken[threadIdx.x] = 0;
      m_.low[threadIdx.x] = {~0U, ~0U, ~0U};
      m_.high[threadIdx.x] = {0, 0, 0};
    }
    __syncthreads();
    load(from, first, min(first + kd_piece, node_.end()));
    left_base_ = rank(0);
    right_base_ = rank(1);
    __syncthreads();
    tell();
    __syncthreads();
    write(to);
    __syncthreads();
  }

 private:
  static constexpr int records_of_thread = kd_piece / threads;
  struct Moving {
    IntegerPosition at;
    std::uint32_t index, rank;
    bool exists, is_right;
  };

  __device__ void load(const Columns& from, std::uint32_t first, std::uint32_t end) {
#pragma unroll
    for (int k = 0; k < records_of_thread; ++k) {
      const std::uint32_t i = first + static_cast<std::uint32_t>(k) * threads + threadIdx.x;
      const std::uint32_t place = min(i, end - 1);
      Moving& r = record_[k];
      r.at = {from.at[0][place], from.at[1][place], from.at[2][place]};
      r.index = from.at[3][place];
      r.exists = i < end;
      r.is_right = r.at[axis_] >= middle_;
    }
  }

  /// Ranks among the warp's particles of a side, and its box. Returns how many of that side warps before
  /// this one have.
  __device__ std::uint32_t rank(int side) {
    IntegerPosition low{~0U, ~0U, ~0U}, high{0, 0, 0};
    std::uint32_t of_warp = 0;
#pragma unroll
    for (int k = 0; k < records_of_thread; ++k) {
      Moving& r = record_[k];
      const bool is_here = r.exists && r.is_right == (side == 1);
      const unsigned votes = __ballot_sync(~0U, is_here);
      if (is_here) {
        r.rank = of_warp + static_cast<std::uint32_t>(__popc(votes & lanes_before()));
        for (int a = 0; a < 3; ++a) low[a] = min(low[a], r.at[a]), high[a] = max(high[a], r.at[a]);
      }
      of_warp += static_cast<std::uint32_t>(__popc(votes));
    }
    warp_box(low, high);
    if (lane_index() < 3) {
      atomicMin(&m_.low[side][lane_index()], low[lane_index()]);
      atomicMax(&m_.high[side][lane_index()], high[lane_index()]);
    }
    const std::uint32_t before = lane_index() == 0 ? atomicAdd(&m_.taken[side], of_warp) : 0;
    return __shfl_sync(~0U, before, 0);
  }

  /// Takes places for the block's particles of both sides: a thread each, and one for each plane of both
  /// boxes. All blocks of a node meet here, and few of them have a particle that makes a box larger.
  __device__ void tell() {
    const int t = static_cast<int>(threadIdx.x);
    if (t < 2) m_.taken[t] = atomicAdd(&partition_.taken[t], m_.taken[t]);
    if (t < 32 || t >= 32 + 12) return;
    const int side = (t - 32) / 6, axis = (t - 32) % 3;
    if ((t - 32) / 3 % 2 == 0) {
      const Coordinate low = m_.low[side][axis];
      if (low < __ldcg(&partition_.low[side][axis])) atomicMin(&partition_.low[side][axis], low);
    } else {
      const Coordinate high = m_.high[side][axis];
      if (high > __ldcg(&partition_.high[side][axis])) atomicMax(&partition_.high[side][axis], high);
    }
  }

  __device__ void write(const Columns& to) const {
#pragma unroll
    for (int k = 0; k < records_of_thread; ++k) {
      const Moving& r = record_[k];
      if (!r.exists) continue;
      const std::uint32_t i = r.is_right ? node_.end() - 1 - (m_.taken[1] + right_base_ + r.rank)
                                         : node_.first + m_.taken[0] + left_base_ + r.rank;
      for (int a = 0; a < 3; ++a) to.at[a][i] = r.at[a];
      to.at[3][i] = r.index;
    }
  }

  const KdNode& node_;
  KdPartition& partition_;
  PieceMemory& m_;
  const int axis_;
  const Coordinate middle_;
  Moving record_[records_of_thread];
  /// Particles of a side that warps before this one have. No array: an index that the compiler does not know
  /// would keep the records in memory, not in registers.
  std::uint32_t left_base_, right_base_;
};

/// The pieces of a level, a block each.
__global__ void __launch_bounds__(threads) part_large(const KdView v, int level) {
  __shared__ PieceMemory memory;
  const std::uint32_t pieces = v.sizes->pieces[level];
  for (std::uint32_t p = blockIdx.x; p < pieces; p += gridDim.x) {
    const KdPiece piece = v.piece[level % 2][p];
    PieceParting(v.node[level % 2][piece.node], v.partition[level % 2][piece.node], memory)
        .run(v.columns[KdView::columns_of_level(level)], v.columns[KdView::columns_of_level(level + 1)],
             piece.first);
  }
}

/// Both parts of a level's nodes. A warp per node.
__global__ void __launch_bounds__(threads) plan_next(const KdView v, int level) {
  const std::uint32_t nodes = v.sizes->nodes[level];
  for (std::uint32_t n = (blockIdx.x * threads + threadIdx.x) / 32; n < nodes; n += gridDim.x * warps) {
    const KdNode node = v.node[level % 2][n];
    const KdPartition parts = v.partition[level % 2][n];
    const int axis = longest_axis(node.tight_low, node.tight_high);
    const Coordinate middle = kd_middle(node.tight_low[axis], node.tight_high[axis]);
    const std::uint32_t left = parts.taken[0], to = KdView::columns_of_level(level + 1);
    if (lane_index() == 0) v.cut[node.first + left] = {node.first, node.end(), node.leaf, node.before};
    KdNode of_left{node.first,   left,          node.leaf,    node.before + 1, to,
                   parts.low[0], parts.high[0], node.cut_low, node.cut_high};
    KdNode of_right{node.first + left, node.count - left, node.leaf,    0, to, parts.low[1],
                    parts.high[1],     node.cut_low,      node.cut_high};
    of_left.cut_high[axis] = of_right.cut_low[axis] = middle;
    hand_on(v, level + 1, of_left);
    hand_on(v, level + 1, of_right);
  }
}

}  // namespace
}  // namespace grove::cuda
