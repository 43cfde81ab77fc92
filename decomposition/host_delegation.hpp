#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/delegated_record.hpp"

/// The work of ranks on cells that one of them cuts for all (DelegatedCells), in the memory of the host.
namespace grove {

/// Appends this rank's records of a top cell.
void append_delegated(RankParticles& own, std::int32_t cell, Array<DelegatedRecord>& records);

/// Cuts a cell to the leaves as cut_to_leaves() does. records (in): of all its particles, in any order.
/// InputError if ids that are not unique meet a cut. Cost: that of cut_to_leaves(), and a descent of every
/// record; 52 bytes per record.
std::vector<Cell> cut_delegated_cell(const CutScheme& scheme, const Cell& root,
                                     std::span<const DelegatedRecord> records, bool weighted);

/// Brings this rank's records of a top cell into the order of the leaves below it, and makes those leaves top
/// cells. top (in): the top cells with the subtree. Cost: a descent of every record, stably sorted by leaf.
void divide_into_leaves(RankParticles& own, std::span<const Cell> top, std::int32_t cell);

}  // namespace grove
