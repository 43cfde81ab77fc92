#include "kernels/cuda/cuts/services/leaf_audit.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace grove::cuda {
namespace {

using Atomic = unsigned long long;

/// The sums over all leaves.
struct Totals {
  Atomic leaves_of_ids, misplaced, least_misplaced;
};

/// The sums over a leaf.
struct LeafTotals {
  CellBounds bounds;
  Atomic weight;
};

/// Blocks along y share a leaf. Dynamic shared memory: a counter for each step of its path.
__global__ void __launch_bounds__(threads)
    follow(const Box box, const CutScheme scheme, const Cell* cells, const AuditedLeaf* leaves,
           const PathStep* steps, const LeafParticles particles, Atomic* left_of_middle, Atomic* first_right,
           LeafTotals* of_leaf, Totals* totals) {
  extern __shared__ std::uint32_t left_at[];
  const AuditedLeaf leaf = leaves[blockIdx.x];
  const PathStep* const path = steps + leaf.path;
  LeafTotals& mine = of_leaf[blockIdx.x];
  for (std::uint32_t s = threadIdx.x; s < leaf.steps; s += threads) left_at[s] = 0;
  __syncthreads();
  const bool is_leader = threadIdx.x % 32 == 0;
  Atomic weight_sum = 0, hash = 0;
  Coordinate low[3] = {~0u, ~0u, ~0u}, high[3] = {0, 0, 0};
  for (std::uint64_t base = std::uint64_t{blockIdx.y} * threads; base < leaf.count;
       base += std::uint64_t{gridDim.y} * threads) {
    const std::uint64_t i = leaf.first + base + threadIdx.x;
    const bool is_particle = base + threadIdx.x < leaf.count;
    IntegerPosition c{0, 0, 0};
    ParticleId id = 0;
    std::uint32_t weight = 0;
    if (is_particle) {
      c = box.coordinates(particles.position(i));
      id = particles.id[i];
      weight = particles.weight ? particles.weight[i] : 1;
      weight_sum += weight;
      hash += mixed(mixed(id) + static_cast<std::uint64_t>(leaf.number));
      for (int axis = 0; axis < 3; ++axis)
        low[axis] = min(low[axis], c[axis]), high[axis] = max(high[axis], c[axis]);
    }
    bool is_right_leaf = true;
    for (std::uint32_t s = 0; s < leaf.steps; ++s) {
      const Cell& cell = cells[path[s].cell];
      const Cut cut = cell.cut;
      const Coordinate x = c[cut.axis];
      const bool is_below =
          is_particle && x < scheme.middle(cell.low[cut.axis], cell.high[cut.axis], cell.count);
      const unsigned votes = __ballot_sync(~0u, is_below);
      if (is_leader && votes) atomicAdd(&left_at[s], static_cast<unsigned>(__popc(votes)));
      if (!is_particle) continue;
      is_right_leaf = is_right_leaf && cut.is_left(x, id) == (path[s].goes_left != 0);
      if (x == cut.coordinate && id == cut.id)
        atomicAdd(&first_right[path[s].cell], static_cast<Atomic>(weight));
    }
    if (!is_right_leaf) {
      atomicAdd(&totals->misplaced, Atomic{1});
      atomicMin(&totals->least_misplaced, static_cast<Atomic>(id));
    }
  }
  weight_sum = warp_sum(weight_sum);
  hash = warp_sum(hash);
  if (is_leader) {
    atomicAdd(&mine.weight, weight_sum);
    atomicAdd(&totals->leaves_of_ids, hash);
  }
  for (int axis = 0; axis < 3; ++axis) {
    const Coordinate least = __reduce_min_sync(~0u, low[axis]), most = __reduce_max_sync(~0u, high[axis]);
    if (!is_leader) continue;
    atomicMin(&mine.bounds.low[axis], least);
    atomicMax(&mine.bounds.high[axis], most);
  }
  __syncthreads();
  for (std::uint32_t s = threadIdx.x; s < leaf.steps; s += threads)
    if (left_at[s] > 0) atomicAdd(&left_of_middle[path[s].cell], static_cast<Atomic>(left_at[s]));
}

}  // namespace

LeafCounts audit_leaves(const Box& box, const CutScheme& scheme, std::span<const Cell> cells,
                        std::span<const AuditedLeaf> leaves, std::span<const PathStep> steps,
                        const LeafParticles& particles) {
  LeafCounts counts;
  counts.left_of_middle.assign(cells.size(), 0);
  counts.first_right.assign(cells.size(), 0);
  if (leaves.empty()) return counts;
  const DeviceArray<Cell> device_cells(cells);
  const DeviceArray<AuditedLeaf> device_leaves(leaves);
  const DeviceArray<PathStep> device_steps(steps);
  DeviceArray<Atomic> left_of_middle(cells.size()), first_right(cells.size());
  left_of_middle.clear();
  first_right.clear();
  std::vector<LeafTotals> of_leaf(leaves.size(), {CellBounds::of_nothing(), 0});
  Totals totals{0, 0, ~Atomic{0}};
  const DeviceArray<LeafTotals> device_of_leaf{std::span<const LeafTotals>(of_leaf)};
  const DeviceArray<Totals> device_totals{std::span<const Totals>(&totals, 1)};
  std::uint32_t most_steps = 0;
  for (const AuditedLeaf& leaf : leaves) most_steps = std::max(most_steps, leaf.steps);
  const dim3 blocks(static_cast<unsigned>(leaves.size()),
                    static_cast<unsigned>(std::max<std::size_t>(1, enough_blocks / leaves.size())));
  follow<<<blocks, threads, most_steps * sizeof(std::uint32_t)>>>(
      box, scheme, device_cells.data(), device_leaves.data(), device_steps.data(), particles,
      left_of_middle.data(), first_right.data(), device_of_leaf.data(), device_totals.data());
  launched("Grove::cuda::follow");
  device_download(counts.left_of_middle.data(), left_of_middle.data(), cells.size() * sizeof(Count));
  device_download(counts.first_right.data(), first_right.data(), cells.size() * sizeof(Count));
  device_of_leaf.download(of_leaf);
  device_totals.download(std::span(&totals, 1));
  for (const LeafTotals& leaf : of_leaf) {
    counts.bounds.push_back(leaf.bounds);
    counts.weight.push_back(static_cast<Count>(leaf.weight));
  }
  counts.leaves_of_ids = totals.leaves_of_ids;
  counts.misplaced = totals.misplaced;
  counts.least_misplaced = totals.least_misplaced;
  return counts;
}

}  // namespace grove::cuda
