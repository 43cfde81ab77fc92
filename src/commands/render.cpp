#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "commands/commands.hpp"
#include "io/render.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"

namespace grove {
namespace {

struct RenderOptions {
  std::string snapshot, output, axis = "z", width;
  std::vector<std::string> centre;
  std::vector<int> types;
  int pixels = 800;
};

/// The snapshot's name with .png for its ending.
std::string default_output(const std::string& snapshot) {
  const auto dot = snapshot.find_last_of('.');
  const bool has_ending = dot != std::string::npos && snapshot.find('/', dot) == std::string::npos;
  return snapshot.substr(0, has_ending ? dot : snapshot.size()) + ".png";
}

View view_of(const RenderOptions& options, const SnapshotHeader& header) {
  View view;
  view.axis = options.axis[0] - 'x';
  view.pixels = options.pixels;
  view.time = header.time;
  view.units = header.units;
  if (!options.width.empty()) view.width = header.units.parse(options.width, dimension::length);
  if (!options.centre.empty()) {
    Vec3d centre;
    for (int k = 0; k < 3; ++k)
      centre[k] = header.units.parse(options.centre[static_cast<std::size_t>(k)], dimension::length);
    view.centre = centre;
  }
  for (const int type : options.types) view.types = static_cast<std::uint8_t>(view.types | 1 << type);
  return view;
}

/// Refuses types of which the snapshot has no particle: the picture would be empty.
void check_types(const RenderOptions& options, const SnapshotHeader& header) {
  std::vector<int> present;
  for (int type = 0; type < particle_types; ++type)
    if (header.counts[static_cast<std::size_t>(type)] > 0) present.push_back(type);
  const auto is_present = [&](int type) {
    return std::find(present.begin(), present.end(), type) != present.end();
  };
  if (!options.types.empty() && std::none_of(options.types.begin(), options.types.end(), is_present))
    throw InputError(fmt::format("{}: has no particles of type {}; its types are {}", options.snapshot,
                                 fmt::join(options.types, ", "), fmt::join(present, ", ")));
}

void render(const Communicator& comm, const RenderOptions& options) {
  const Snapshot snapshot = read_snapshot(comm, options.snapshot, {.comoving = true});
  // Massless or coincident particles can be drawn.
  ValidationOptions sound{.source = options.snapshot, .tracer = all_types, .softening = {}};
  sound.softening.fill(1);
  validate(comm, snapshot.particles, sound);
  View view;
  comm.together([&] {
    check_types(options, snapshot.header);
    view = view_of(options, snapshot.header);
  });
  const std::string output = options.output.empty() ? default_output(options.snapshot) : options.output;
  const View drawn = render_png(comm, snapshot.particles, view, output);
  if (comm.is_master())
    fmt::print("{}: {} x {} pixels, width {:g}, column density from {:.3g} to {:.3g}\n", output, drawn.pixels,
               drawn.pixels, *drawn.width, (*drawn.range)[0], (*drawn.range)[1]);
}

}  // namespace

void add_render(CLI::App& app, Action& action) {
  const auto options = std::make_shared<RenderOptions>();
  CLI::App& command = *app.add_subcommand("render", "Draw the column density of a snapshot");
  command.add_option("snapshot", options->snapshot, "Snapshot, of any format that `grove info` knows")
      ->required();
  command.add_option("-o,--output", options->output, "The PNG file to write [the snapshot's name with .png]");
  command.add_option("--size", options->pixels, "Pixels of a side [800]")->check(CLI::Range(16, 4096));
  command
      .add_option("--width", options->width,
                  "Of the square that is shown [twice what holds 90 % of the particles]")
      ->type_name("LENGTH");
  command.add_option("--centre", options->centre, "Of the square: x y z [the middle of the particles]")
      ->expected(3)
      ->type_name("LENGTH");
  command.add_option("--axis", options->axis, "Line of sight [z]")->check(CLI::IsMember({"x", "y", "z"}));
  command.add_option("--types", options->types, "Particle types to show [2 3 4 if there are any, else all]")
      ->check(CLI::Range(0, particle_types - 1));
  command.callback(
      [options, &action] { action = [options](const Communicator& comm) { render(comm, *options); }; });
}

}  // namespace grove
