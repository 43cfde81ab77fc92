#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/cosmological_model.hpp"
#include "io/cosmology_parameters.hpp"

namespace CLI {
class App;
}

namespace grove {

/// Options of `grove ic` for the models of a universe.
struct CosmologicalOptions {
  CosmologicalModelParameters model;  ///< without lengths, which have units
  std::string box_size, radius;
  std::string cut_sphere;  ///< file of a box that another program has made
  CosmologyParameters cosmology;
  bool zeldovich = false;
  std::vector<std::string> given;  ///< names of those of these options that were given
  bool has_seed = false;           ///< --seed was given
};

/// Adds its options to the command.
void add_cosmological_options(CLI::App& command, CosmologicalOptions& options);

/// The names of these options that were given to the command.
std::vector<std::string> cosmological_options_of(const CLI::App& command);

/// Makes such a model and writes it to a file, with the units that these lengths are in: kpc, 1e10 Msun,
/// km/s. The output can be written. Collective.
void make_cosmological_file(const Communicator& comm, const std::string& model, std::uint64_t seed,
                            const CosmologicalOptions& options, const std::string& output);

}  // namespace grove
