#pragma once

#include <array>
#include <string>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "io/hdf5.hpp"
#include "io/snapshot.hpp"

namespace grove {

/// The attributes of a file of a snapshot (docs/formats.md).
struct SnapshotDescription {
  std::array<Count, particle_types> here{}, total{};  ///< particles by type, in this file and in the set
  Vec3d low{}, high{};                                ///< bounds of all positions of the set
};

/// Writes the groups Header, Units, Parameters, Grove and, where yt needs it, Config.
void write_description(hid_t file, const SnapshotDescription& description, const WriteOptions& options,
                       const std::string& path);

}  // namespace grove
