#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// A top cell that is being cut.
struct CutQuestion {
  std::int32_t cell;
  std::int32_t axis;
  Coordinate low, high;        ///< tight bounds on the axis
  CutTarget target;            ///< which prefix goes left
  Tally all;                   ///< the cell's particles
  Coordinate middle;           ///< CutScheme::middle(),
  Count left_of_middle;        ///< and how many particles lie left of it
  MiddleBins bins;             ///< around it,
  std::vector<Count> in_bins;  ///< and how many are in each; empty: not known

  Cut cut;  ///< found: divides the particles as the cut that is asked for does. Its id is 0 if all particles
            ///< of the cut's coordinate go right
  Count left;  ///< found: how many go left
};

/// How to search.
struct SearchOptions {
  CutMethod method;
  std::int32_t candidates;  ///< of `bisection`
};

/// Bits of the digits by which `histogram` searches for the cuts of so many cells at once: so long that three
/// digits make a coordinate, unless very many cells are cut; so short that no message exceeds 2 GiB.
int digit_bits(std::size_t cells);

/// Finds the cuts of many cells at once, exactly: each round is one call for all of them (make-axis has been
/// called before). In each round the interval that holds the cut is divided at candidates, what lies left of
/// each is counted, and the part in which the prefix stops being acceptable is the next interval; `histogram`
/// gathers the coordinates once few are left. First on coordinates, then, where particles of one coordinate
/// go to both sides, on their ids.
///
/// greatest_id (in/out): of all particles, once it is known; ids are looked at only where there are ties.
/// Cost: at most 32 rounds by bisection; 4 by histogram, mostly 1 under `middle` (up to 65,535 cells at once;
/// more cells take more rounds); for ties up to as many as the greatest id has digits of 8 bits (histogram)
/// or 1 bit (bisection).
void find_cuts(ProcessorSetTree& tree, const SearchOptions& options, std::span<CutQuestion> questions,
               std::optional<ParticleId>& greatest_id, DecompositionReport& report);

}  // namespace grove
