#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "commands/commands.hpp"
#include "commands/other_program.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

struct Options {
  std::string folder, output;
};

/// The first one that has matplotlib: what the user has on the PATH, else the system's.
std::string python() {
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (run_other_program(
            {candidate, "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('matplotlib'))"},
            true) == 0)
      return candidate;
  throw InputError(
      "the report needs python3 with matplotlib, which is not to be found; install it (Debian: "
      "python3-matplotlib; or: pip "
      "install matplotlib)");
}

/// The script that is installed beside this program.
std::string script() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (program.parent_path() / "grove-report").string();
  if (!std::filesystem::exists(path, error))
    throw InputError(
        fmt::format("{}: missing; it belongs beside the program (cmake --install puts it there)", path));
  return path;
}

void report(const Options& options) {
  const std::filesystem::path folder(options.folder);
  std::error_code error;
  if (!std::filesystem::exists(folder / "timing.csv", error))
    throw InputError(fmt::format(
        "{}: no timing.csv there; expected the output folder of a run (output.folder of its parameters)",
        options.folder));
  const std::string output = options.output.empty() ? (folder / "report.html").string() : options.output;
  AtomicFile page(output);
  const std::string interpreter = python();
  if (const int status = run_other_program({interpreter, script(), options.folder, page.temporary()}, false);
      status != 0)
    throw std::runtime_error(fmt::format("{}: the report was not made: {} ended with status {}",
                                         options.folder, interpreter, status));
  page.commit();
  fmt::print("{}\n", output);
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "report", "Make one HTML page of what a run left in its output folder (needs python3, matplotlib)");
  auto options = std::make_shared<Options>();
  command->add_option("FOLDER", options->folder, "The output folder of a run")->required();
  command->add_option("-o,--output", options->output, "The page to write [FOLDER/report.html]");
  command->callback([options, &action] {
    action = [options](const Communicator& comm) {
      comm.together([&] {
        if (comm.is_master()) report(*options);
      });
    };
  });
}

}  // namespace grove
