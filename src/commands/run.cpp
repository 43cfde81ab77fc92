#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "commands/backend_options.hpp"
#include "commands/commands.hpp"
#include "initial_state.hpp"
#include "io/parameters.hpp"
#include "resume.hpp"
#include "simulation.hpp"

namespace grove {

namespace {

void resume(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice,
            const Checkpoint& from) {
  if (is_complete(from, parameters)) {
    if (comm.is_master())
      fmt::print(
          stderr,
          "the run is complete: time.end = {:g} was reached after {} steps; a later time.end goes on\n",
          parameters.time.end, from.run.steps_done);
    return;
  }
  Simulation(comm, parameters, make_backend(comm, choice, Particles{}, parameters.gravity), from).run();
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  struct Options {
    std::string file;
    std::vector<std::string> overrides;
    ResumeChoice resume;
    BackendChoice backend;
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
  command->add_flag("--overwrite", options->resume.overwrite,
                    "Replace the results of an earlier run in the same output folder");
  command
      ->add_option("--resume", options->resume.from,
                   "What to begin with: the last checkpoint in the output folder, if there is one (auto), "
                   "nothing of earlier runs (never), or this checkpoint (its folder)")
      ->type_name("auto|never|PATH")
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  command->callback([options, &action] {
    action = [options](const Communicator& comm) {
      Parameters parameters = read_parameters(comm, options->file, options->overrides);
      BackendChoice choice = options->backend;
      const std::string no_gpu = resolve(comm, choice);
      if (comm.is_master() && !no_gpu.empty()) fmt::print(stderr, "no GPU is used: {}\n", no_gpu);
      // Before the work that a folder without room for the results would waste.
      if (const auto from = find_checkpoint(comm, options->resume, parameters, choice.name))
        return resume(comm, parameters, choice, *from);
      InitialState state = initial_state(comm, parameters);
      // A run that goes on from a snapshot keeps its leaves.
      DecompositionParameters& decomposition = parameters.decomposition;
      if (decomposition.leaf_size == 0 && decomposition.leaves == 0)
        decomposition.leaf_size = state.leaf_size;
      Simulation(comm, parameters, make_backend(comm, choice, std::move(state.particles), parameters.gravity),
                 state.time)
          .run();
    };
  });
}

}  // namespace grove
