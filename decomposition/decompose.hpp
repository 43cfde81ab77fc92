#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "base/box.hpp"
#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/math/decomposition_parameters.hpp"
#include "particles/particles.hpp"

namespace grove {

class RankStorage;

/// The default leaf size for so many particles: 4096, for small numbers a 64th of them, but at least 64.
Count default_leaf_size(Count particles);
/// Particles in a full leaf of so many in all.
Count leaf_size_of(const DecompositionParameters& parameters, Count particles);

/// The default size of domain cells: 32 leaves, but at most a 256th of all particles, so that ranks can share
/// them out, and at least a leaf.
Count default_domain_cell(Count particles, Count leaf_size);

/// Measurements of a decomposition on this rank.
struct DecompositionReport {
  std::int64_t rounds = 0;       ///< calls of count-left, gather-keys and select-tie
  std::int64_t collectives = 0;  ///< service calls, gatherings of cells, and exchanges of records or of all
                                 ///< fields, that all ranks took part in
  /// By service name; "set_up", "records" (made), "delegate" (cells that one rank cuts for all), "collect"
  /// (records of the top cells), "migrate", "local" (cells cut alone), "wait" (for slower ranks), "order"
  /// (particles, by leaf), "total".
  PhaseTimers timers;
  /// By level of the tree (level_name): those that all ranks cut together, on the master only; then, on a
  /// GPU, those that the rank cut alone, all its cells at a time, counted from the depth of the shallowest;
  /// levels that are started together, or cut by runs of records, add to the first of them.
  PhaseTimers levels;
  TableBytes tables;  ///< that were there for a while

  /// A rank's own sort, however many ranks there are: records, and cells cut alone.
  PhaseTimers::Cost sort() const {
    PhaseTimers::Cost sum = timers.cost("records");
    return sum += timers.cost("local");
  }
};

/// Divides space among the ranks: cuts the particles' bounding cube into the leaves of one global tree and
/// brings every particle to the rank that owns its leaf. Collective.
///
/// previous: that of the last decomposition, or none: without cells. Its cube is kept while all particles
/// fit.
///
/// 1. Records with integer coordinates in the root cube.
/// 2. Cells that straddle ranks (Schedule) are cut by all ranks together; the master asks, services answer.
/// Small ones are delegated to one rank, which cuts them for all (DelegatedCells).
/// 3. The leaves are shared out: a rank gets a run of them, so that all runs carry equal work
///    (Particles::work; particles without any count 1), or work in the ratio of the ranks' speeds, if they
///    are given. Particles migrate with all their fields.
/// 4. Each rank cuts its own cells alone; the cells, or those that others need to know, are gathered,
/// everywhere.
///
/// Under `domains`, if there is a previous decomposition and all particles are still in its cube, 2 and 3 are
/// one round: particles go to the owners of their places, and the cells above follow from what the ranks then
/// have (KeyRanges, Settling, TopOfSegments).
///
/// The cells depend on the positions, led by parameters.lead, ids and, under `halves`, the work of the
/// particles, and on rule, leaf size and domain cell; not on the number of ranks, the previous cells, method,
/// schedule or transport.
///
/// particles (in/out): afterwards those of own leaf i are leaf_begin[i] .. leaf_begin[i + 1] of the domain;
/// inside a leaf their order is arbitrary. records (out, optional): the particles' records in leaf order;
/// if wanted, the particles themselves may be left in another order, Record::index tells where each one is.
/// InputError: no particles, a position that is not finite, more leaves than particles under `halves`,
/// duplicate ids at a cut that ranks make together or delegate (ids must be unique; validate() finds all that
/// are not), more than 2^32 - 1 particles on a rank. Prints a warning if ranks stay idle and there is no
/// previous cube.
///
/// Cost, straddling: O(2 N/P) per boundary that crosses the rank, O(N/P log(leaves/P)) alone; memory: at most
/// 80 bytes per particle on top of the particles.
Domain decompose(const Communicator& comm, Particles& particles, const DecompositionParameters& parameters,
                 const Domain& previous, DecompositionReport& report, Array<Record>* records = nullptr);

/// The same for particles wherever they are stored: the steps, without what they do to particles.
Domain decompose(const Communicator& comm, RankStorage& own, const DecompositionParameters& parameters,
                 const Domain& previous, DecompositionReport& report);

}  // namespace grove
