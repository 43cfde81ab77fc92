#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

/// The excess of each block of leaves over its cost just after cuts, and from that when to cut which block
/// anew.
///
/// The mean cost per step, (cut + excess of the steps since) / steps, is least if a block is cut just before
/// the first step whose own excess is above that mean. That of the coming step is expected from what the
/// block cost at this age after earlier cuts, times its active particles when last the same rungs were
/// active. Blocks of different densities thus each find their own interval. Interactions per active particle
/// count relative to those of the fresh block, by the first active rung, as deep rungs are its dense parts.
class BlockExcess {
 public:
  /// A step of one block: its active particles and their interactions.
  struct Work {
    Count active, interactions;
  };

  /// The state of a block, to be saved: restored from it, this gives the same answers to the bit. Trivially
  /// copyable.
  struct Block {
    static constexpr std::size_t ages = 16;  ///< that are told apart; beyond them the last one holds

    double particles;
    Count age = 0;      ///< steps since it was cut
    double excess = 0;  ///< interactions, of these
    double growth = 1;  ///< interactions per particle over those of the fresh block, when last walked
    std::array<double, ages> growth_at{};  ///< by age; 0: not known
    /// By first active rung: interactions per active particle of the fresh block, and active particles; 0:
    /// not known.
    std::array<double, rung_count> fresh{}, active{};

    void walked(const Work& work, std::size_t rung);
    void cut();
    double fresh_like(std::size_t rung) const;
    double expected_excess(std::size_t rung) const;
    double mean(double cut_rate) const { return (cut_rate * particles + excess) / static_cast<double>(age); }
  };

  BlockExcess() = default;
  explicit BlockExcess(std::vector<Block> state) : blocks_(std::move(state)) {}
  const std::vector<Block>& state() const { return blocks_; }
  /// particles: of each block; all have just been cut.
  explicit BlockExcess(std::span<const Count> particles);
  /// Which block one goes on from, and whether it has been cut since.
  struct Origin {
    std::size_t block;
    bool is_cut;
  };
  /// The same, of blocks of which something is known from others before.
  BlockExcess(std::span<const Count> particles, const BlockExcess& before, std::span<const Origin> origins);

  std::size_t size() const { return blocks_.size(); }

  /// A step was walked. work: by block; first_active: its first active rung.
  void walked(std::span<const Work> work, int first_active);

  /// True if a block should be cut before a step of this first active rung. cut_rate: the price of cuts,
  /// interactions per particle.
  bool is_due(std::size_t block, int first_active, double cut_rate) const;
  /// Sums over all blocks that should be cut: the excess expected of that step; their mean costs per step,
  /// less if they wait; their particles.
  struct Due {
    Count excess = 0, mean = 0, particles = 0;
  };
  Due due(int first_active, double cut_rate) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace grove
