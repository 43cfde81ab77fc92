#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.hpp"

namespace grove {

/// Starts MPI for this process, of which the main thread alone calls it; there may be others. Returns why it
/// cannot be had; empty: it has started. argc, argv: of main(), if it is there.
std::string start_mpi(int* argc = nullptr, char*** argv = nullptr);
/// After the last Communicator has gone.
void end_mpi();
bool mpi_has_started();
bool mpi_has_ended();

/// Ends all ranks with this exit status.
void abort_mpi(const Communicator& comm, int status);

/// True if all ranks come here with the same value within so many seconds. comm: for nothing else, as the
/// others may be in any call of other communicators.
bool agree_within(const Communicator& comm, std::uint64_t value, double seconds);

}  // namespace grove
