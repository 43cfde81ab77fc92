#pragma once

#include <string>

namespace grove {

/// The name of this rank's host, as MPI has it.
std::string host_name();

/// MPI's library and its version: the first line of what it says, or what stands before a comma.
std::string mpi_library();

/// MPI's own statement that it takes memory of GPUs.
bool mpi_claims_device_memory();

}  // namespace grove
