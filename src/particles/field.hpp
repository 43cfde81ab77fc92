#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/units.hpp"
#include "kernels/math/gas.hpp"

namespace grove {

/// The description of one property of particles, so that reading, migration, checkpoints, GPUs and snapshots
/// need no code per property.
///
/// Only particles of its types have a property. Files neither need nor give it for others: it is not read for
/// these, even where a file has it, nor written. In memory a field is one array for all particles of a rank,
/// on the host, on GPUs, in messages and in checkpoints, and 0 for those that have it not.
struct FieldInfo {
  std::string_view name;  ///< name of its dataset in a snapshot (GADGET-4's name)
  Dimension dimension;    ///< of its values
  std::uint8_t types;     ///< bit t set: particles of type t have it
  bool input;       ///< read from snapshots, which must have it; masses may be in the header, ids missing
  bool migrate;     ///< moves along when a particle changes its rank; else recomputed before use
  bool checkpoint;  ///< stored in a checkpoint
  bool output;      ///< may be written to snapshots
  bool output_by_default;  ///< is written to snapshots unless the user says otherwise
  bool of_gas = false;     ///< is held only where there is gas; files need not give it

  /// True if particles of a type have it.
  constexpr bool is_of(std::size_t type) const { return types >> type & 1; }
};

/// A choice of rows of the table; unset: all.
using FieldChoice = std::function<bool(const FieldInfo&)>;

inline constexpr std::uint8_t all_types = 0x3f, gas_types = 1u << gas_type;

}  // namespace grove
