#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "decomposition/frontier.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// The particles of a geometric cell that lies within the part of one rank (KeyRanges::cover()).
struct Segment {
  IntegerPosition low, high;  ///< tight bounds, both inclusive
  Count count, weight;
  ParticleId first[3];  ///< by axis: the least id of those with the least coordinate
  int rank;             ///< that has them
};

/// Segments of one rank together.
Segment joined(std::span<const Segment> segments);

/// The top of the tree, down to the segments, and to domain cells that reach over several of them. The same
/// on all ranks.
struct TopOfSegments {
  std::vector<Cell> cells;      ///< root first, children behind their parents, siblings adjacent
  Frontier frontier;            ///< its cells; one that several ranks have parts of goes to the one with most
  std::vector<Count> portions;  ///< of each frontier cell: particles that one of the ranks has, see top_of()
  FrontierMoves moves;          ///< of that rank, as some of the cells have particles on several ones
};

/// Puts the segments of all ranks together under CutRule::domains. segments: all that hold particles, in any
/// order. own_rank: whose portions and moves are wanted, of so many. Cost: O(S log S) for S segments.
TopOfSegments top_of(std::vector<Segment> segments, const CutScheme& scheme, int own_rank, int ranks);

}  // namespace grove
