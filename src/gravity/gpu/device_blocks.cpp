#include "gravity/gpu/device_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "gravity/gpu/device_recut.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/trees/block_work.hpp"

namespace grove {

bool DeviceBlocks::can_recut(const Domain& domain) const {
  return domain.block_leaves > 1 && follows_from_counts(tree_);
}

void DeviceBlocks::begin(const Domain& domain) {
  list(domain, std::vector<bool>(static_cast<std::size_t>(domain.leaves()), true));
}

/// After the leaves for which is_new is true have been cut anew. A block of these goes on from what is known
/// of the one that had its middle leaf before.
void DeviceBlocks::list(const Domain& domain, const std::vector<bool>& is_new) {
  const std::vector<Block> before = std::exchange(blocks_, blocks_of(domain));
  std::vector<Count> particles;
  std::vector<BlockExcess::Origin> origins;
  for (const Block& block : blocks_) {
    particles.push_back(domain.cells[static_cast<std::size_t>(block.cell)].count);
    const std::int32_t middle = block.first_leaf + block.leaves / 2;
    const auto behind = std::partition_point(before.begin(), before.end(),
                                             [&](const Block& b) { return b.first_leaf <= middle; });
    origins.push_back({static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, behind - before.begin() - 1)),
                       is_new[static_cast<std::size_t>(block.first_leaf)]});
  }
  excess_ = before.empty() ? BlockExcess(particles) : BlockExcess(particles, excess_, origins);
  give_out(domain);
}

void DeviceBlocks::give_out(const Domain& domain) {
  const auto rank = static_cast<std::size_t>(comm_.rank());
  std::vector<std::uint32_t> block_of_leaf;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const std::int32_t first = std::max(blocks_[b].first_leaf, domain.first_leaf[rank]),
                       last =
                           std::min(blocks_[b].first_leaf + blocks_[b].leaves, domain.first_leaf[rank + 1]);
    if (first < last)
      block_of_leaf.insert(block_of_leaf.end(), static_cast<std::size_t>(last - first),
                           static_cast<std::uint32_t>(b));
  }
  block_of_leaf_ = cuda::DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(block_of_leaf)};
}

void DeviceBlocks::restore(const Domain& domain, std::vector<BlockExcess::Block> state) {
  blocks_ = blocks_of(domain);
  excess_ = BlockExcess(std::move(state));
  give_out(domain);
}

void DeviceBlocks::count(const DeviceForest& forest, const DeviceParticles& particles, int first_active) {
  std::vector<BlockExcess::Work> work(blocks_.size());
  std::vector<cuda::BlockWork> own(blocks_.size());
  cuda::sum_block_work(forest.trees(), forest.leaf_of_group(), forest.groups(),
                       particles.values(fields::work), block_of_leaf_.data(), own);
  std::vector<Count> sums;
  for (const cuda::BlockWork& sum : own) sums.insert(sums.end(), {sum.active, sum.interactions});
  comm_.sum(std::span<Count>(sums));
  for (std::size_t b = 0; b < work.size(); ++b) work[b] = {sums[2 * b], sums[2 * b + 1]};
  excess_.walked(work, first_active);
}

void DeviceBlocks::recut(DeviceParticles& particles, DeviceForest& forest, Domain& domain, int first_active,
                         double cut_rate, std::int32_t targets_per_warp) {
  std::vector<bool> is_due;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    is_due.push_back(excess_.is_due(b, first_active, cut_rate));
  const std::vector<std::int32_t> cells = mostly_due(domain, blocks_, is_due);
  std::vector<bool> is_new(static_cast<std::size_t>(domain.leaves()), false);
  for (const std::int32_t index : cells) {
    const Cell& cell = domain.cells[static_cast<std::size_t>(index)];
    std::fill_n(is_new.begin() + cell.first_leaf, cell.leaves, true);
  }
  const std::vector<std::vector<Cell>> subtrees =
      grove::recut(comm_, exchange_, particles, forest, domain, cells, targets_per_warp);
  replace_subtrees(domain, cells, subtrees);
  list(domain, is_new);
}

}  // namespace grove
