#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "initial_state.hpp"
#include "io/parameters.hpp"
#include "simulation.hpp"

namespace grove {

void add_run(CLI::App& app, Action& action) {
  struct Options {
    std::string file;
    std::vector<std::string> overrides;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Run a simulation");
  command->add_option("parameters", options->file, "Parameter file (YAML); see docs/parameters.md")
      ->required();
  command
      ->add_option("-P", options->overrides,
                   "Set a parameter, overriding the file: -P section.key=value (repeatable)")
      ->allow_extra_args(false)
      ->take_all();
  command->callback([options, &action] {
    action = [options](const Communicator& comm) {
      const Parameters parameters = read_parameters(comm, options->file, options->overrides);
      InitialState state = initial_state(comm, parameters);
      Simulation(comm, parameters, std::move(state.particles), state.time).run();
    };
  });
}

}  // namespace grove
