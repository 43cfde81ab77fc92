#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/build_info.hpp"
#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "base/pages.hpp"
#include "comm/communicator.hpp"
#include "commands/commands.hpp"
#include "commands/outcome.hpp"
#include "kernels/kokkos/loops/runtime.hpp"

namespace grove {
namespace {

std::string version() {
  const std::string extensions = compiled_instruction_set();
  return fmt::format("Grove {} (commit {}, {} build, compiler {}, instruction set: {}, backend: Kokkos {})",
                     build_info().version, build_info().commit, build_info().build_type,
                     build_info().compiler, extensions.empty() ? "baseline" : extensions, host_space_name());
}

int run_program(int argc, char** argv, const Communicator& comm) {
  CLI::App app("Grove: gravitational N-body simulation on clusters");
  app.name("grove");
  app.require_subcommand(1);
  app.set_version_flag("--version", version());
  Action action;
  add_ic(app, action);
  add_run(app, action);
  add_force(app, action);
  add_decompose(app, action);
  add_doctor(app, action);
  add_info(app, action);
  add_render(app, action);
  add_report(app, action);
  add_selftest(app, action);
  add_validate(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      if (comm.is_master()) app.exit(error);
      return static_cast<int>(ExitStatus::done);
    }
    const std::vector<CLI::App*> commands = app.get_subcommands();
    const std::string command = commands.empty() ? "" : " " + commands[0]->get_name();
    const bool is_no_command = commands.empty() && argc > 1 && argv[1][0] != '-';
    const std::string fault =
        is_no_command ? fmt::format("'{}' is not a command", argv[1]) : std::string(error.what());
    return report(comm, ExitStatus::input_error, fmt::format("{}; see grove{} --help", fault, command));
  }

  return outcome_of(comm, action);
}

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
