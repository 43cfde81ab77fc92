#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

/// What blocks of leaves cost beyond what they would if they had just been cut, and so when to cut which
/// anew.
///
/// A block is due when the excess since it was cut has come up to the cost of a cut. Where the cost of a step
/// grows with the age like a + b t, the excess up to t is b t^2 / 2, and the mean cost per step is least when
/// that is the cost of a cut; blocks of different densities thus each find their own interval. Excess is
/// relative to the interactions per active particle when the block was cut, by the first level that was
/// active: deep levels are the dense parts of a block.
class BlockExcess {
 public:
  /// A step of one block: its active particles and their interactions.
  struct Work {
    Count active, interactions;
  };

  BlockExcess() = default;
  /// particles: of each block; all have just been cut.
  explicit BlockExcess(std::vector<Count> particles);

  std::size_t size() const { return blocks_.size(); }

  /// A step was walked. work: by block; first_active: its first active level.
  void walked(std::span<const Work> work, int first_active);
  /// A block is cut anew before the next step.
  void cut(std::size_t block);

  /// cut_rate: interactions per particle that a cut costs.
  bool is_due(std::size_t block, double cut_rate) const;
  /// Of all that are due: their excess, and what cutting them costs; interactions.
  struct Due {
    Count excess = 0, cost = 0;
  };
  Due due(double cut_rate) const;

 private:
  struct Block {
    Count particles;
    bool is_fresh = true;  ///< not walked since it was cut
    double excess = 0;     ///< interactions, since then
    double growth = 1;     ///< interactions per particle over those of a fresh block, when last walked
    /// Interactions per active particle of a fresh block, by first active level; 0: not known.
    double fresh[time_levels] = {};
  };
  std::vector<Block> blocks_;
};

}  // namespace grove
