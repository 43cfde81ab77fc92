#include "gravity/gpu/device_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "comm/exchange_plan.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/known_cells.hpp"
#include "gravity/gpu/device_recut.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/math/cell_walk.hpp"

namespace grove {

bool DeviceBlocks::can_recut(const Domain& domain) const {
  return domain.block_leaves > 1 && follows_from_counts(tree_);
}

void DeviceBlocks::begin(const Domain& domain) {
  list(domain, std::vector<bool>(domain.leaf_cell.size(), true));
}

void DeviceBlocks::give_out(const Domain& domain) {
  if (can_recut(domain)) list(domain, std::vector<bool>(domain.leaf_cell.size(), false));
}

/// After the leaves for which is_new is true, of those whose cells are known, have been cut anew. A block of
/// these goes on from what is known of the one that had its middle leaf before.
void DeviceBlocks::list(const Domain& domain, const std::vector<bool>& is_new) {
  const Known before =
      have_shared_blocks(domain) ? Known{std::move(blocks_), std::move(excess_)} : fetch(domain);
  blocks_ = blocks_of(domain);
  std::vector<Count> particles;
  std::vector<BlockExcess::Origin> origins;
  for (const Block& block : blocks_) {
    particles.push_back(domain.cells[static_cast<std::size_t>(block.cell)].count);
    const std::int32_t middle = block.first_leaf + block.leaves / 2;
    const auto behind = std::partition_point(before.blocks.begin(), before.blocks.end(),
                                             [&](const Block& b) { return b.first_leaf <= middle; });
    origins.push_back(
        {static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, behind - before.blocks.begin() - 1)),
         is_new[static_cast<std::size_t>(block.first_leaf - domain.known_leaf)]});
  }
  excess_ = before.blocks.empty() ? BlockExcess(particles) : BlockExcess(particles, before.excess, origins);
  list_leaves(domain);
}

/// The blocks that this rank's blocks may go on from, left to right, from the ranks that had them. A block is
/// known of for all leaves from its first one up to that of the next block.
DeviceBlocks::Known DeviceBlocks::fetch(const Domain& domain) const {
  struct Moved {
    Block block;
    BlockExcess::Block excess;
  };
  if (domain.first_leaf == first_leaf_) return {blocks_, excess_};
  const auto rank = static_cast<std::size_t>(comm_.rank());
  std::vector<std::pair<int, Moved>> moved;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    std::int32_t end = b + 1 < blocks_.size() ? blocks_[b + 1].first_leaf : first_leaf_[rank + 1];
    if (end == first_leaf_.back()) end = std::numeric_limits<std::int32_t>::max();
    const std::int32_t last = std::min(end, domain.leaves()) - 1;
    if (blocks_[b].first_leaf > last) continue;
    for (int to = domain.owner(blocks_[b].first_leaf); to <= domain.owner(last); ++to)
      moved.push_back({to, {blocks_[b], excess_.state()[b]}});
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
  std::vector<Moved> sent;
  for (const auto& [to, block] : moved) {
    ++counts[static_cast<std::size_t>(to)];
    sent.push_back(block);
  }
  const ExchangePlan plan(comm_, counts);
  std::vector<Moved> received(static_cast<std::size_t>(plan.receive_total()));
  plan.apply(std::span<const Moved>(sent), std::span<Moved>(received));
  Known known;
  std::vector<BlockExcess::Block> state;
  for (const Moved& block : received) {
    known.blocks.push_back(block.block);
    state.push_back(block.excess);
  }
  known.excess = BlockExcess(std::move(state));
  return known;
}

void DeviceBlocks::list_leaves(const Domain& domain) {
  first_leaf_ = domain.first_leaf;
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

std::vector<BlockExcess::Block> DeviceBlocks::state(const Domain& domain) const {
  if (have_shared_blocks(domain) && !comm_.is_master()) return {};
  return excess_.state();
}

void DeviceBlocks::restore(const Domain& domain, std::vector<BlockExcess::Block> state) {
  blocks_ = blocks_of(domain);
  if (!have_shared_blocks(domain)) {
    const auto own = static_cast<std::ptrdiff_t>(blocks_.size());
    const auto first = state.begin() + comm_.exclusive_scan(static_cast<Count>(own));
    state = {first, first + own};
  }
  excess_ = BlockExcess(std::move(state));
  list_leaves(domain);
}

cuda::DeviceArray<cuda::BlockWork> DeviceBlocks::work(const DeviceForest& forest,
                                                      const DeviceParticles& particles) const {
  return cuda::sum_block_work(forest.trees(), forest.leaf_of_group(), forest.groups(),
                              particles.values(fields::work), block_of_leaf_.data(), blocks_.size());
}

void DeviceBlocks::join(const Domain& domain, JointReduction& joint) {
  if (!have_shared_blocks(domain)) return;
  for (cuda::BlockWork& sum : work_) joint.sum(sum.active).sum(sum.interactions);
}

void DeviceBlocks::walked(int first_active) {
  std::vector<BlockExcess::Work> work;
  for (const cuda::BlockWork& sum : work_) work.push_back({sum.active, sum.interactions});
  excess_.walked(work, first_active);
}

BlockExcess::Due DeviceBlocks::due(const Domain& domain, int first_active, double cut_rate) const {
  BlockExcess::Due due = excess_.due(first_active, cut_rate);
  if (have_shared_blocks(domain)) return due;
  std::array<Count, 3> sums{due.excess, due.mean, due.particles};
  comm_.sum(std::span<Count>(sums));
  return {sums[0], sums[1], sums[2]};
}

namespace {

/// The number of the cell that has just these leaves.
std::int32_t find_cell(std::span<const Cell> cells, const Cell& wanted) {
  std::int32_t c = 0;
  while (cells[static_cast<std::size_t>(c)].leaves != wanted.leaves) {
    c = cells[static_cast<std::size_t>(c)].child;
    if (wanted.first_leaf >= cells[static_cast<std::size_t>(c) + 1].first_leaf) ++c;
  }
  return c;
}

}  // namespace

/// Where domain cells are larger than covers, ranks know something of what lies in those of others: after new
/// cuts they tell each other.
void DeviceBlocks::hear_of_others(Domain& domain) const {
  const Count most = most_in_cover(domain.cells[0].count, static_cast<std::size_t>(comm_.size()));
  if (comm_.size() == 1 || domain.domain_cell <= most) return;
  std::vector<Cell> own;
  walk_cells(domain.cells, 0, [&](std::int32_t index, const Cell& cell) {
    if (cell.is_leaf() || cell.count <= most) return false;
    if (!cell.is_whole(domain.domain_cell)) return true;
    if (domain.owner(cell.first_leaf) == comm_.rank()) {
      const std::vector<Cell> above = above_covers(domain.cells, most, index);
      own.insert(own.end(), above.begin(), above.end());
    }
    return false;
  });
  const std::vector<Cell> all = comm_.all_gather_arrays(std::span<const Cell>(own));
  std::vector<std::int32_t> roots;
  std::vector<std::vector<Cell>> subtrees;
  for (std::size_t begin = 0, size; begin < all.size(); begin += size) {
    size = subtree_size(all, begin);
    if (domain.owner(all[begin].first_leaf) == comm_.rank()) continue;
    roots.push_back(find_cell(domain.cells, all[begin]));
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    subtrees.emplace_back(first, first + static_cast<std::ptrdiff_t>(size));
  }
  replace_subtrees(domain, roots, subtrees);
}

void DeviceBlocks::recut(DeviceParticles& particles, DeviceForest& forest, Domain& domain, int first_active,
                         double cut_rate, std::int32_t targets_per_warp) {
  std::vector<bool> is_due;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    is_due.push_back(excess_.is_due(b, first_active, cut_rate));
  const std::vector<std::int32_t> cells = mostly_due(domain, blocks_, is_due);
  std::vector<bool> is_new(domain.leaf_cell.size(), false);
  for (const std::int32_t index : cells) {
    const Cell& cell = domain.cells[static_cast<std::size_t>(index)];
    std::fill_n(is_new.begin() + (cell.first_leaf - domain.known_leaf), cell.leaves, true);
  }
  std::vector<std::vector<Cell>> subtrees =
      grove::recut(comm_, exchange_, particles, forest, domain, cells, targets_per_warp);
  for (std::size_t i = 0; i < cells.size(); ++i)  // by which ranks share the work; new cuts know none
    subtrees[i][0].weight = domain.cells[static_cast<std::size_t>(cells[i])].weight;
  replace_subtrees(domain, cells, subtrees);
  if (!have_shared_blocks(domain)) hear_of_others(domain);
  list(domain, is_new);
}

}  // namespace grove
