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

/// Particles that arrive in one of a rank's own frontier cells.
struct Arrival {
  std::size_t cell;  ///< among the own ones, left to right
  int rank;          ///< that they come from
  Count count;
};

/// The moves that bring every particle to the owner of its frontier cell, as one rank has to know them.
struct FrontierMoves {
  std::vector<Count> send{};        ///< by rank: particles that leave for it, 0 for this one
  std::vector<Arrival> arriving{};  ///< by own cell, then by rank
  Count most = 0;                   ///< that leave any rank; the same on all
  Count all = 0;                    ///< particles of all ranks

  /// The plan of their exchange. Not collective.
  ExchangePlan plan(const Communicator& comm) const;
};

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
  /// The top-cell numbers of those that have to be cut further, rank by rank, left to right within.
  std::vector<std::int32_t> uncut() const;

  /// Collective: one, and messages of a count for each cell of another rank where anything moves. portions:
  /// particles of this rank in each cell of the frontier; all: of all ranks.
  FrontierMoves moves(const Communicator& comm, std::span<const Count> portions, Count all) const;

  /// Makes the records those of this rank's frontier cells after a migration, left to right: in
  /// each those that stay, then those of the arrivals, of which each rank has sent those of one cell after
  /// the other. Cost: grows with what arrives and with what has to move for it.
  ///
  /// own (in/out): the records before, by top cell; its particles are those after the migration.
  void merge_arrivals(RankParticles& own, const Migration& migration, std::span<const Arrival> arriving,
                      int rank, const Box& box) const;

 private:
  std::vector<std::int32_t> cell_;
  std::vector<int> owner_;
  std::vector<bool> uncut_;
  std::vector<Count> first_;
};

}  // namespace grove
