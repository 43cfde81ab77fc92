#include "gravity/block_excess.hpp"

#include <algorithm>

namespace grove {

BlockExcess::BlockExcess(std::span<const Count> particles) {
  for (const Count count : particles) {
    Block block{};
    block.particles = static_cast<double>(count);
    blocks_.push_back(block);
  }
}

BlockExcess::BlockExcess(std::span<const Count> particles, const BlockExcess& before,
                         std::span<const Origin> origins)
    : BlockExcess(particles) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const double count = blocks_[i].particles;
    blocks_[i] = before.blocks_[origins[i].block];
    blocks_[i].particles = count;
    if (origins[i].is_cut) blocks_[i].cut();
  }
}

void BlockExcess::Block::cut() {
  age = 0;
  excess = 0;
  growth = 1;
}

/// A rung that was not the first active one of a fresh block yet counts as the nearest that was.
double BlockExcess::Block::fresh_like(std::size_t rung) const {
  for (std::size_t distance = 0; distance < rung_count; ++distance) {
    if (rung >= distance && fresh[rung - distance] > 0) return fresh[rung - distance];
    if (rung + distance < rung_count && fresh[rung + distance] > 0) return fresh[rung + distance];
  }
  return 0;
}

void BlockExcess::Block::walked(const Work& work, std::size_t rung) {
  const std::size_t at = std::min(static_cast<std::size_t>(age), ages - 1);
  ++age;
  active[rung] = static_cast<double>(work.active);
  if (work.active == 0) return;
  constexpr double weight_of_new = 0.5;
  const double mean = static_cast<double>(work.interactions) / active[rung];
  if (at == 0) fresh[rung] = mean;
  const double like = fresh_like(rung);
  growth = like > 0 ? mean / like : 1;
  growth_at[at] = growth_at[at] == 0 ? growth : growth_at[at] + weight_of_new * (growth - growth_at[at]);
  excess = std::max(0.0, excess + (growth - 1) * like * active[rung]);
}

double BlockExcess::Block::expected_excess(std::size_t rung) const {
  const std::size_t at = std::min(static_cast<std::size_t>(age), ages - 1);
  double expected = growth_at[at];
  if (expected == 0) {  // it goes on as it did
    const double last = at > 0 ? growth_at[at - 1] : 0, before = at > 1 ? growth_at[at - 2] : 1;
    expected = last > 0 && before > 0 ? last * std::max(1.0, last / before) : growth;
  }
  return std::max(0.0, expected - 1) * fresh_like(rung) * active[rung];
}

void BlockExcess::walked(std::span<const Work> work, int first_active) {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].walked(work[i], static_cast<std::size_t>(first_active));
}

bool BlockExcess::is_due(std::size_t block, int first_active, double cut_rate) const {
  const Block& b = blocks_[block];
  return b.age > 0 && b.expected_excess(static_cast<std::size_t>(first_active)) > b.mean(cut_rate);
}

BlockExcess::Due BlockExcess::due(int first_active, double cut_rate) const {
  Due due;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!is_due(i, first_active, cut_rate)) continue;
    due.excess += static_cast<Count>(blocks_[i].expected_excess(static_cast<std::size_t>(first_active)));
    due.mean += static_cast<Count>(blocks_[i].mean(cut_rate));
    due.particles += static_cast<Count>(blocks_[i].particles);
  }
  return due;
}

}  // namespace grove
