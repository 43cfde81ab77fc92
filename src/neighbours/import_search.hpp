#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "decomposition/domain.hpp"
#include "kernels/math/neighbour_tree.hpp"
#include "neighbours/neighbour_nodes.hpp"

namespace grove {

/// A bucket of another rank that is imported.
struct ImportedBucket {
  LeafNumber leaf;     ///< number in the ORB
  std::int32_t count;  ///< its particles
};

/// Which particles of other ranks come here, and which go to them.
struct Imports {
  Array<ImportedBucket> buckets;          ///< rank by rank, in the order of its leaves
  Array<std::uint32_t> sent;              ///< own particles that others import, rank by rank
  std::optional<ExchangePlan> particles;  ///< brings values of `sent` to those that import them
};

/// True if a search around a target may come upon a particle of a box. Groups on GPUs look for candidates in
/// single precision, up to 2^-20 of the separation beyond their radii (SweepFrame::slack), and the order of
/// their sums depends on how many there are. So all of these have to be imported: sums would else depend on
/// the number of ranks.
bool may_have_candidates(const NeighbourNode& node, NeighbourTarget target, const NearestImage& nearest);

/// Finds what ranks have to import, so that all neighbours of their targets are there.
class ImportSearch {
 public:
  /// Covers of the ranks (KnownCells). The domain is kept by the caller.
  ImportSearch(const Communicator& comm, const Domain& domain, const NearestImage& nearest);

  /// Collective. own (in): nodes of the own leaves, one piece each, fitted. leaf_boxes (in): the targets of
  /// each own leaf; their reach may be larger than what nodes have. If nodes have a reach, sources are
  /// wanted within theirs, too.
  ///
  /// Cost: boxes of covers go to all ranks, those of leaves to ranks with a cover in reach of them, and
  /// numbers of buckets back. On a rank: own leaves times log of all covers; boxes that ask times the buckets
  /// that they reach.
  Imports find(const NeighbourNodesView& own, std::span<const NeighbourTarget> leaf_boxes) const;

 private:
  std::vector<NeighbourTarget> source_boxes(const NeighbourNodesView& own) const;
  std::vector<std::vector<NeighbourTarget>> requests(std::span<const NeighbourTarget> leaf_boxes,
                                                     std::span<const NeighbourTarget> sources) const;
  void select(const NeighbourNodesView& own, std::span<const NeighbourTarget> asked,
              std::vector<ImportedBucket>& buckets, Array<std::uint32_t>& particles) const;

  const Communicator& comm_;
  NearestImage nearest_;
  OwnLeaves own_;
  std::vector<std::int32_t> first_cover_;  ///< of each rank, length P + 1
  std::vector<std::int32_t> cover_begin_;  ///< number of the first own leaf of each own cover
};

}  // namespace grove
