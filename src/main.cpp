#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "base/pages.hpp"
#include "comm/communicator.hpp"
#include "comm/process.hpp"
#include "commands/commands.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "run/guard/stop_requests.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "run") grove::keep_requests();
  grove::keep_freed_memory();
  if (const std::string fault = grove::start_mpi(&argc, &argv); !fault.empty()) {
    fmt::print(stderr, "grove: {}\n", fault);
    return static_cast<int>(grove::ExitStatus::failed);
  }
  int status = 0;
  {
    const grove::KokkosRuntime kokkos;
    const grove::Communicator comm(MPI_COMM_WORLD);
    status = grove::run_program(argc, argv, comm);
  }
  grove::end_mpi();
  return status;
}
