#include "time/block_excess.hpp"

#include <algorithm>
#include <utility>

namespace grove {

BlockExcess::BlockExcess(std::vector<Count> particles) {
  for (const Count count : particles) blocks_.push_back({.particles = count});
}

void BlockExcess::walked(std::span<const Work> work, int first_active) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (work[i].active == 0) continue;
    Block& block = blocks_[i];
    const double mean = static_cast<double>(work[i].interactions) / static_cast<double>(work[i].active);
    double& fresh = block.fresh[first_active];
    if (block.is_fresh)
      fresh = mean;
    else if (fresh == 0)
      fresh = mean / block.growth;
    block.is_fresh = false;
    block.growth = fresh > 0 ? std::max(1.0, mean / fresh) : 1;
    block.excess = std::max(0.0, block.excess + (mean - fresh) * static_cast<double>(work[i].active));
  }
}

void BlockExcess::cut(std::size_t block) {
  blocks_[block].is_fresh = true;
  blocks_[block].excess = 0;
  blocks_[block].growth = 1;
}

bool BlockExcess::is_due(std::size_t block, double cut_rate) const {
  const Block& b = blocks_[block];
  return b.excess > 0 && b.excess >= cut_rate * static_cast<double>(b.particles);
}

BlockExcess::Due BlockExcess::due(double cut_rate) const {
  Due due;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!is_due(i, cut_rate)) continue;
    due.excess += static_cast<Count>(blocks_[i].excess);
    due.cost += static_cast<Count>(cut_rate * static_cast<double>(blocks_[i].particles));
  }
  return due;
}

}  // namespace grove
