#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/units.hpp"

namespace grove {

/// The description of one property of particles, so that migration, checkpoints and snapshots need no code
/// per property.
struct FieldInfo {
  std::string_view name;   ///< name of its dataset in a snapshot (GADGET-4's name)
  Dimension dimension;     ///< of its values
  std::uint8_t types;      ///< bit t set: particles of type t have it
  bool migrate;            ///< moves along when a particle changes its rank; else recomputed before use
  bool checkpoint;         ///< stored in a checkpoint
  bool output;             ///< may be written to snapshots
  bool output_by_default;  ///< is written to snapshots unless the user says otherwise
};

/// A choice of rows of the table; unset: all.
using FieldChoice = std::function<bool(const FieldInfo&)>;

inline constexpr std::uint8_t all_types = 0x3f;

}  // namespace grove
