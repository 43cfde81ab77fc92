#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/migration.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "decomposition/shares.hpp"
#include "kernels/math/cell.hpp"

namespace grove {

/// The frontier of the top cells: those that have not been divided, left to right, each with its owner, which
/// are leaves of the ORB, and cells that are left to one rank to cut. The same on every rank.
class Frontier {
 public:
  Frontier() = default;
  /// top (in): the top cells, root first. domain_cell: CutScheme::domain_cell; one owner has all of a whole
  /// cell (Cell::is_whole()).
  Frontier(std::span<const Cell> top, const Shares& shares, Count domain_cell);
  /// The same with given owners, left to right.
  Frontier(std::span<const Cell> top, std::span<const int> owners);

  std::size_t size() const { return cell_.size(); }
  /// The i-th cell's top-cell number, its owner, and whether it has to be cut further.
  std::int32_t cell(std::size_t i) const { return cell_[i]; }
  int owner(std::size_t i) const { return owner_[i]; }
  bool is_uncut(std::size_t i) const { return uncut_[i]; }
  /// Cell::first of it.
  Count first(std::size_t i) const { return first_[i]; }
  /// The top-cell numbers of those that have to be cut further.
  std::vector<std::int32_t> uncut() const;

  /// Collective. portions: particles of this rank in each cell of the frontier. Returns how many arrive in
  /// its own cells, by source rank, then by own cell, left to right.
  std::vector<Count> arrivals(const Communicator& comm, std::span<const Count> portions) const;

  /// Collective. Makes the records those of this rank's frontier cells after a migration, left to right: in
  /// each those that stay, then those of the arrivals, of which each rank has sent those of one cell after
  /// the other. Cost: grows with what arrives and with what has to move for it.
  ///
  /// own (in/out): the records before, by top cell; its particles are those after the migration.
  void merge_arrivals(const Communicator& comm, RankParticles& own, const Migration& migration,
                      const Box& box) const;

 private:
  std::vector<std::int32_t> cell_;
  std::vector<int> owner_;
  std::vector<bool> uncut_;
  std::vector<Count> first_;
};

}  // namespace grove
