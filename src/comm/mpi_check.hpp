#pragma once

#include <mpi.h>

#include "base/progress.hpp"

namespace grove {

/// Throws std::runtime_error with MPI's own message and the call's name unless the code is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace grove

/// Calls MPI and checks the result: GROVE_MPI(MPI_Barrier(comm)). progress() tells who is in it.
#define GROVE_MPI(call) (::grove::progress().begin_call(#call), ::grove::check_mpi(call, #call))
