#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace CLI {
class App;
}

namespace grove {

/// The work that the command line asked for; called with all ranks together.
using Action = std::function<void(const Communicator&)>;

/// Each adds one subcommand to the program and, when the user names it, stores what to do. One file a
/// subcommand. Human-readable results go to standard output (from the master), errors and progress to
/// standard error.
void add_combine(CLI::App& app, Action& action);
void add_decompose(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_force(CLI::App& app, Action& action);
void add_fof(CLI::App& app, Action& action);
void add_ic(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_movie(CLI::App& app, Action& action);
void add_power(CLI::App& app, Action& action);
void add_render(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_selftest(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);

/// The program from its command line to its exit status. Collective.
int run_program(int argc, char** argv, const Communicator& comm);

/// The command of these words, as run_program() runs it, but errors come through; words that are none are an
/// InputError. Collective.
void run_command(std::vector<std::string> words, const Communicator& comm);

}  // namespace grove
