#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/delegated_cells.hpp"
#include "decomposition/frontier.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/segments.hpp"
#include "decomposition/services/service.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/part_work.hpp"
#include "kernels/math/place_sample.hpp"

namespace grove {

/// A storage that can be decomposed in one round (decompose()). The calls come in this order.
class Settling {
 public:
  virtual ~Settling() = default;

  /// Makes the records of this rank's particles in a cube. False: a position is not finite or outside of it.
  virtual bool take_inside(const Box& box) = 0;
  /// After take_inside(): some of the particles, in any order; deepest: the deepest rung of all ranks.
  virtual std::vector<PlaceSample> sample(const SampleRates& rates, int deepest) = 0;
  /// After take_inside() and weigh(): the particles in parts of the cube; begin: of each, in Morton's order,
  /// the first one at 0; deepest: of all particles.
  virtual std::vector<PartWork> weigh_parts(std::span<const IntegerPosition> begin, int deepest) = 0;
  /// Collective, after take_inside(). Brings every particle to the rank that owns its place, and its records
  /// into the order of that rank's cells of the cover. Returns those that hold particles.
  /// all: particles of all ranks.
  virtual std::vector<Segment> settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                                      Count all) = 0;
  /// Says which of these records, in their order, are in which frontier cell. portions: how many.
  virtual void take_portions(const Frontier& frontier, std::span<const Count> portions) = 0;
};

/// The memory of a rank's particles that are decomposed, of the host or of a GPU, and all that is done
/// to them there. The calls come in the order below.
class RankStorage {
 public:
  virtual ~RankStorage() = default;

  /// Particles of this rank.
  virtual std::size_t size() const = 0;

  /// True if any of them has work.
  virtual bool has_work() = 0;
  /// After has_work(). weighted: particles of some rank have work. Then the weight of a particle is its work,
  /// and work 0 becomes 1; else every particle weighs 1. Returns the sum of this rank.
  virtual Count weigh(bool weighted) = 0;

  /// nullptr: the storage cannot be decomposed in one round.
  virtual Settling* settling() { return nullptr; }

  /// Collective. Chooses the root cube, the previous one if all particles are in it, else a new one around
  /// all, lays cells along these axes, and makes the records of this rank's particles in it: top cell 0.
  /// root.low, root.high (out): the tight bounds of all particles. InputError if a position is not finite.
  /// Cost: one pass, two for a new cube.
  virtual Box take_all(const Communicator& comm, const CellAxes& axes, const std::optional<Box>& previous,
                       Cell& root) = 0;

  /// The services that the master can call. They work on this object.
  virtual std::vector<ServiceEntry> services() = 0;
  /// A cell that straddles ranks is delegated (DelegatedCells) if it has at most so many particles. mean:
  /// particles per rank. The same on all ranks.
  virtual Count most_delegated(const CutScheme& scheme, Count mean) const = 0;
  /// Collective. Brings the records of delegated cells to the ranks that cut them. Returns the subtree of
  /// the one that this rank has cut: root first, children counted from it; none: nothing.
  virtual std::vector<Cell> cut_delegated(const Communicator& comm, const CutScheme& scheme,
                                          std::span<const Cell> top, const DelegatedCells& delegated) = 0;
  /// Divides this rank's part of the delegated cells into leaves. top: the top cells with all subtrees.
  virtual void divide_delegated(std::span<const Cell> top, const DelegatedCells& delegated) = 0;
  /// The master has cut the top cells.
  virtual void end_services() = 0;

  /// Particles of this rank in each frontier cell.
  virtual std::vector<Count> portions(const Frontier& frontier) = 0;
  /// Collective. Brings every particle to the owner of its frontier cell.
  virtual void migrate(const Communicator& comm, const Frontier& frontier, const FrontierMoves& moves,
                       const Box& box) = 0;

  /// Cuts those of this rank's frontier cells that are uncut; they are own_cells().
  virtual void cut_alone(const CutScheme& scheme, std::span<const Cell> top, const Frontier& frontier,
                         int rank) = 0;
  /// All cells that cut_alone() made: root first, children counted from it, one subtree after the other.
  virtual std::span<const Cell> own_cells() const = 0;

  /// Brings the particles into the order of the leaves.
  virtual void arrange() = 0;
};

}  // namespace grove
