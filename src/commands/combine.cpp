#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "base/units.hpp"
#include "commands/commands.hpp"
#include "io/file.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "run/start/composition.hpp"
#include "run/start/initial_state.hpp"

namespace grove {
namespace {

struct CombineOptions {
  std::vector<std::string> files, settings;
  std::string output, unstated_units = "galactic";
  bool overwrite = false;
};

void combine(const Communicator& comm, const CombineOptions& options) {
  const Units unstated = options.unstated_units == "none" ? Units::dimensionless() : Units::galactic();
  comm.together([&] {
    if (!comm.is_master()) return;
    for (const std::string& file : options.files) require_output(options.output, {file});
    require_output(options.output, options.overwrite ? Existing::replace : Existing::keep);
  });
  CompositionOptions composition;
  composition.name = "input";
  composition.unstated = unstated;
  composition.units = read_snapshot_header(comm, options.files[0], {unstated, std::nullopt, false}).units;
  composition.tracer = all_types;
  std::vector<ComponentParameters> components;
  comm.together([&] { components = placed_files(options.files, options.settings, composition.units); });
  const Composition all = compose(comm, components, composition);

  WriteOptions write;
  write.fields = initial_fields();
  write.units = composition.units;
  write_snapshot(comm, options.output, all.particles, write);
  if (!comm.is_master()) return;
  Count count = 0;
  std::vector<std::string> parts;
  for (const SnapshotHeader& header : all.headers) {
    count += header.count();
    parts.push_back(fmt::format("{} of {}", header.count(), header.files[0]));
  }
  for (const SnapshotHeader& header : all.headers)
    if (const std::string remark = remark_on_units(header.files[0], header); !remark.empty())
      say("note: {}; --units says which\n", remark);
  fmt::print("{}: {}: {}\n", options.output, how_many(count, "particle"), fmt::join(parts, ", "));
}

}  // namespace

void add_combine(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CombineOptions>();
  CLI::App& command =
      *app.add_subcommand("combine", "Put several snapshots together, each where it is wanted, at time 0");
  command.add_option("FILE", options->files, "Snapshots, of any format that `grove info` knows")->required();
  command
      .add_option("-o,--output", options->output, "The snapshot to write (HDF5), in the units of the first")
      ->required();
  command.add_flag("--overwrite", options->overwrite, "Replace that file if it is there");
  command
      .add_option("-C", options->settings,
                  "Say where the particles of a file go, by its place in the list, from 0: "
                  "-C 1.position='50 kpc, 0, 0' (repeatable); keys: position, velocity, inclination, node, "
                  "type, id_offset, as of initial_conditions.components in docs/parameters.md")
      ->type_name("PLACE.KEY=VALUE")
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--units", options->unstated_units,
                  "Units of files that state none: kpc, 1e10 Msun, km/s, or G = 1")
      ->check(CLI::IsMember({"galactic", "none"}))
      ->capture_default_str();
  command.callback(
      [options, &action] { action = [options](const Communicator& comm) { combine(comm, *options); }; });
}

}  // namespace grove
