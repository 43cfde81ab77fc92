#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "base/build_info.hpp"
#include "base/errors.hpp"
#include "base/instruction_set.hpp"
#include "base/units.hpp"
#include "commands/commands.hpp"
#include "commands/outcome.hpp"
#include "kernels/kokkos/runtime.hpp"

namespace grove {
namespace {

std::string version() {
  const std::string extensions = compiled_instruction_set();
  return fmt::format("Grove {} (commit {}, {} build, compiler {}, instruction set: {}, backend: Kokkos {})",
                     build_info().version, build_info().commit, build_info().build_type,
                     build_info().compiler, extensions.empty() ? "baseline" : extensions, host_space_name());
}

void add_commands(CLI::App& app, Action& action) {
  add_ic(app, action);
  add_combine(app, action);
  add_run(app, action);
  add_force(app, action);
  add_decompose(app, action);
  add_doctor(app, action);
  add_info(app, action);
  add_movie(app, action);
  add_power(app, action);
  add_fof(app, action);
  add_render(app, action);
  add_report(app, action);
  add_selftest(app, action);
  add_validate(app, action);
}

/// Says how to quote a value that the shell has parted from its unit.
std::string hint_on(int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (named_unit(argv[i]))
      return fmt::format(" (a value with a unit is one word: write \"{} {}\" in quotes)", argv[i - 1],
                         argv[i]);
  return "";
}

}  // namespace

int run_program(int argc, char** argv, const Communicator& comm) {
  CLI::App app("Grove: gravitational N-body simulation on clusters");
  app.name("grove");
  app.require_subcommand(1);
  app.set_version_flag("--version", version());
  Action action;
  add_commands(app, action);

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
        is_no_command ? fmt::format("'{}' is not a command", argv[1]) : error.what() + hint_on(argc, argv);
    return report(comm, ExitStatus::input_error, fmt::format("{}; see grove{} --help", fault, command));
  }

  return outcome_of(comm, action);
}

void run_command(std::vector<std::string> words, const Communicator& comm) {
  CLI::App app;
  Action action;
  add_commands(app, action);
  std::reverse(words.begin(), words.end());  // as CLI wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw Agreed<InputError>(error.what());
  }
  action(comm);
}

}  // namespace grove
