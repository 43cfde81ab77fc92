#pragma once

#include <string>

#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"

namespace grove {

/// Checks the files of the set that this one belongs to, and what their headers say. Collective; the same on
/// every rank. In the units of the files, or options.unstated. Throws InputError.
SnapshotHeader open_set(const Communicator& comm, const std::string& path, const ReadOptions& options);

/// InputError unless a file is comoving, with the h and the densities of the run, where options have an h;
/// and physical, unless options take comoving values as they stand, where they have none.
void require_space_of_run(const FileHeader& file, const ReadOptions& options, const std::string& path);

}  // namespace grove
