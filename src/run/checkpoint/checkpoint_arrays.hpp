#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"

/// Arrays in the files of a checkpoint, besides the fields of particles under their names.
namespace grove {

/// The members of a Domain besides its arrays.
struct DomainHead {
  Box box;
  Count leaf_size, domain_cell;
};

namespace arrays {
// state.hdf5
inline constexpr const char* run = "Run";             // RunState
inline constexpr const char* gravity = "Gravity";     // GravityState
inline constexpr const char* above = "RebuildAbove";  // RebuildAbove::State; only where that is the rule
inline constexpr const char* domain = "Domain";       // DomainHead
inline constexpr const char* cells = "Cells";         // [cells] Cell: Holdings::cells of the parts; in a
                                                      // part cells_below()
// part_NNNN.hdf5
inline constexpr const char* leaf_work = "LeafWork";    // [leaves] interactions per longest step
inline constexpr const char* leaf_begin = "LeafBegin";  // [leaves + 1] first particle of each in the part
inline constexpr const char* node_begin = "NodeBegin";  // [leaves + 1] of the part
inline constexpr const char* links = "NodeLinks";       // [nodes] NodeLinks
inline constexpr const char* levels = "NodeLevels";     // [nodes], where TreeShapes have them
inline constexpr const char* origins = "LeafOrigins";   // [leaves], from the host alone
}  // namespace arrays
}  // namespace grove
