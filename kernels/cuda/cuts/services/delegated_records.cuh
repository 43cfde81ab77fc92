#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/cuts/partition/orb_cell.cuh"
#include "kernels/math/cell.hpp"
#include "kernels/math/delegated_record.hpp"

/// The work of a rank on its part of cells that another one cuts. Spans are the host's, pointers the
/// device's.
namespace grove::cuda {

/// The records of a cell.
struct DelegatedSegment {
  std::uint64_t first, count;
  std::uint64_t place;  ///< its first record among those of all segments, one segment after the other
  std::int32_t set;     ///< of columns, that holds it
  std::int32_t cell;    ///< its number
};

/// Writes the records of all segments one after the other. Cost: one pass.
void pack_delegated(const Columns (&columns)[2], std::span<const DelegatedSegment> segments,
                    const ParticleId* ids, const std::uint32_t* weights, DelegatedRecord* to);

/// Brings the records of each segment, in its place in the other set, into the order of the leaves below its
/// cell, stably. cells: with all these subtrees; the segments come from left to right. leaves: the cells of
/// all leaves below them, left to right. Returns for each how many of the records lie left of it. Cost: a
/// descent of every record, a sort by leaf, a reading and a writing of all columns; 16 bytes per record.
std::vector<std::uint32_t> sort_by_leaf(const Columns (&columns)[2],
                                        std::span<const DelegatedSegment> segments, const ParticleId* ids,
                                        std::span<const Cell> cells, std::span<const std::int32_t> leaves);

}  // namespace grove::cuda
