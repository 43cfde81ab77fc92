#pragma once

#include <vector>

#include "decomposition/decompose.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "decomposition/shares.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// The script of the master: cuts the root cell, with all ranks together, level by level, as far as the
/// schedule asks for. Returns the cells by their top-cell number, children behind their parents, siblings
/// adjacent. Cells without a child that are not leaves of the ORB are left to their owners, or, if they
/// straddle ranks, to those that cut them.
///
/// most_delegated: cells of so many particles or fewer are not cut under Schedule::straddling. root: count,
/// weight, leaves and bounds are given; the ranks' records exist. Cost: per level one call of make-axis and
/// partition, and the rounds of the search.
std::vector<Cell> cut_together(ProcessorSetTree& tree, const DecompositionParameters& parameters,
                               const CutScheme& scheme, const Shares& shares, Count most_delegated,
                               const Cell& root, DecompositionReport& report);

}  // namespace grove
