#pragma once

#include <string>

#include "io/snapshot.hpp"

namespace grove {

/// Checks the files of the set that this one belongs to, and what their headers say. Collective; the same on
/// every rank. In the units of the files, or options.unstated. Throws InputError.
SnapshotHeader open_set(const Communicator& comm, const std::string& path, const ReadOptions& options);

}  // namespace grove
