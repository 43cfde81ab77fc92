#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "base/errors.hpp"
#include "base/pages.hpp"
#include "comm/communicator.hpp"
#include "commands/commands.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "run/guard/stop_requests.hpp"

namespace grove {
namespace {

/// Kokkos may run threads, but only the main one calls MPI. False, with a message, if MPI cannot be had.
bool start_mpi(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    fmt::print(stderr, "grove: MPI cannot be initialised\n");
    return false;
  }
  if (provided >= MPI_THREAD_FUNNELED) return true;
  fmt::print(stderr, "grove: the MPI library does not support threads (MPI_THREAD_FUNNELED)\n");
  MPI_Finalize();
  return false;
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "run") grove::keep_requests();
  grove::keep_freed_memory();
  if (!grove::start_mpi(argc, argv)) return static_cast<int>(grove::ExitStatus::failed);
  int status = 0;
  {
    const grove::KokkosRuntime kokkos;
    const grove::Communicator comm(MPI_COMM_WORLD);
    status = grove::run_program(argc, argv, comm);
  }
  MPI_Finalize();
  return status;
}
