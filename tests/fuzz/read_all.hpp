#pragma once

#include <string>

#include "base/errors.hpp"
#include "comm/communicator.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"

namespace grove::fuzz {

/// Reads a snapshot as `grove validate` does; it may be refused.
inline void read_all(const Communicator& comm, const std::string& path) {
  try {
    const Snapshot snapshot = read_snapshot(comm, path, {.comoving = true});
    const ValidationOptions options{
        .source = path, .tracer = all_types, .softening = {}, .leaves = 0, .header = &snapshot.header};
    validate_values(comm, snapshot.particles, options);
    validate_ids(comm, snapshot.particles, options);
    validate_box(comm, snapshot.particles, options);
  } catch (const InputError&) {
  }
}

/// This process alone. Never freed: that would come after MPI_Finalize.
inline const Communicator& alone() {
  static const auto* const comm = new Communicator(MPI_COMM_SELF);
  return *comm;
}

/// A path for a file of this process, in memory where the system has such a place.
std::string memory_file(const char* name);

}  // namespace grove::fuzz
