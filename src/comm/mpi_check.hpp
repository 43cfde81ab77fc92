#pragma once

#include <mpi.h>

namespace grove {

/// Throws std::runtime_error with MPI's own message and the call's name unless the code is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace grove

/// Calls MPI and checks the result: GROVE_MPI(MPI_Barrier(comm)).
#define GROVE_MPI(call) ::grove::check_mpi(call, #call)
