#include <fmt/format.h>

#include <memory>

#include "commands/commands.hpp"
#include "io/parameters.hpp"

namespace grove {

void add_info(CLI::App& app, Action& action) {
  CLI::App* info = app.add_subcommand("info", "What a file of particles holds");
  auto parameters = std::make_shared<bool>(false);
  info->add_flag("--parameters", *parameters, "Print the documentation of the parameter file instead")
      ->required();
  info->callback([&action, parameters] {
    action = [](const Communicator& comm) {
      if (comm.is_master()) fmt::print("{}", parameter_documentation());
    };
  });
}

}  // namespace grove
