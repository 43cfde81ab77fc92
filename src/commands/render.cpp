#include "io/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/console.hpp"
#include "base/errors.hpp"
#include "commands/commands.hpp"
#include "io/file.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "io/words.hpp"
#include "run/start/initial_state.hpp"

namespace grove {
namespace {

struct RenderOptions {
  std::vector<std::string> snapshots, axes{"z", "y", "x"}, centre, limits;
  std::string output, width, box, centre_on = word_of(CentreOn::middle);
  std::vector<int> types;
  int pixels = 0;
  bool overwrite = false;
};

/// The path of each picture: beside its snapshot or into a folder, with .png for the ending of the snapshot's
/// name; or to the file that is named. InputError if two would be one.
std::vector<std::string> outputs(const RenderOptions& options) {
  std::error_code error;
  const bool is_file = options.snapshots.size() == 1 && !options.output.empty() &&
                       !std::filesystem::is_directory(options.output, error);
  if (is_file) return {options.output};
  std::vector<std::string> paths;
  for (const std::string& snapshot : options.snapshots) {
    std::filesystem::path path = std::filesystem::path(snapshot).replace_extension(".png");
    if (!options.output.empty()) path = std::filesystem::path(options.output) / path.filename();
    if (std::find(paths.begin(), paths.end(), path.string()) != paths.end())
      throw InputError(
          fmt::format("{}: would be the picture of two snapshots; draw them one by one, each with its -o",
                      path.string()));
    paths.push_back(path.string());
  }
  return paths;
}

View view_of(const RenderOptions& options, const Units& units) {
  View view;
  view.axes.clear();
  for (const std::string& axis : options.axes) view.axes.push_back(axis[0] - 'x');
  view.pixels = options.pixels;
  if (!options.width.empty()) view.width = units.parse(options.width, dimension::length);
  for (const std::string& limit : options.limits)
    view.limits.push_back(units.parse(limit, dimension::surface_density));
  view.centre_on = values_by_word<CentreOn>().at(options.centre_on);
  if (!options.centre.empty()) {
    view.centre_on = CentreOn::fixed;
    for (int k = 0; k < 3; ++k)
      view.centre[k] = units.parse(options.centre[static_cast<std::size_t>(k)], dimension::length);
  }
  for (const int type : options.types) view.types = static_cast<std::uint8_t>(view.types | 1 << type);
  return view;
}

/// True if a snapshot has particles of the types that are asked for.
bool has_types(const RenderOptions& options, const SnapshotHeader& header) {
  return options.types.empty() || std::any_of(options.types.begin(), options.types.end(), [&](int type) {
           return header.counts[static_cast<std::size_t>(type)] > 0;
         });
}

/// Refuses types of which no snapshot has a particle: the pictures would be empty.
void check_types(const RenderOptions& options, const std::vector<SnapshotHeader>& headers) {
  if (std::any_of(headers.begin(), headers.end(), [&](const auto& h) { return has_types(options, h); }))
    return;
  std::vector<int> present;
  for (int type = 0; type < particle_types; ++type)
    if (headers[0].counts[static_cast<std::size_t>(type)] > 0) present.push_back(type);
  throw InputError(fmt::format("{}: has no particles of type {}; its types are {}", options.snapshots[0],
                               fmt::join(options.types, ", "), fmt::join(present, ", ")));
}

/// In units of the first snapshot, so that the scale is common to all. Lengths of comoving ones are comoving,
/// without h, as in pictures of runs.
Snapshot read_to_draw(const Communicator& comm, const std::string& path, const SnapshotHeader& header,
                      const Units& units) {
  ReadOptions reading{.convert_to = units, .comoving = true};
  const bool has_h = !header.comoving.empty() && header.h > 0 && !units.is_dimensionless();
  if (const double h = comm.broadcast(has_h ? header.h : 0.0); h > 0) reading.comoving = false, reading.h = h;
  Snapshot snapshot = read_snapshot(comm, path, reading);
  // Massless or coincident particles can be drawn.
  ValidationOptions sound{.source = path, .tracer = all_types, .softening = {}};
  sound.softening.fill(1);
  validate(comm, snapshot.particles, sound);
  return snapshot;
}

/// The box that the user or the file say to be periodic. One that is no cube is drawn as open space.
Images images_of(const RenderOptions& options, const SnapshotHeader& header) {
  if (!options.box.empty()) {
    const double edge = header.units.parse(options.box, dimension::length);
    if (!(edge >= 0))
      throw InputError(fmt::format("--box-size: {} must be a length, or 0 for open space", options.box));
    return {edge};
  }
  const Vec3d& box = header.box_size;
  return header.is_periodic && box.x == box.y && box.x == box.z ? Images{box.x} : Images{};
}

/// The view of a snapshot, which may have a box.
View view_in_box(const Communicator& comm, const RenderOptions& options, const SnapshotHeader& header,
                 View view) {
  comm.together([&] { view.images = images_of(options, header); });
  return view;
}

/// Width and limits of the colours that suit all snapshots with something to show: the greatest width, and
/// the brightest limits.
View common_scale(const Communicator& comm, const RenderOptions& options,
                  const std::vector<SnapshotHeader>& headers, View view) {
  double width = 0;
  std::array<double, 2> limits{};
  const auto measure_all = [&](auto&& take) {
    for (std::size_t i = 0; i < headers.size(); ++i)
      if (has_types(options, headers[i])) {
        const Snapshot snapshot = read_to_draw(comm, options.snapshots[i], headers[i], headers[0].units);
        take(measure(comm, snapshot.particles, view_in_box(comm, options, snapshot.header, view)));
      }
  };
  if (!view.width) {
    measure_all([&](const Frame& frame) { width = std::max(width, frame.width); });
    view.width = width;
  }
  if (view.limits.empty()) {
    measure_all([&](const Frame& frame) {
      if (frame.limits[1] > limits[1]) limits = frame.limits;
    });
    view.limits = {limits[0], limits[1]};
  }
  return view;
}

/// The one that was typed, or another one than the file's where axes would have thousandths or thousands of
/// that; empty: the file's.
std::string unit_of_length(const std::string& typed, const Units& units, double width) {
  if (units.is_dimensionless()) return "";
  if (const auto unit = unit_of_value(typed)) return std::string(unit->name);
  const double kpc = width * units.length_cm / named_unit("kpc")->cgs;
  const double own = DisplayUnits(units).shown(width, dimension::length);
  if (own >= 0.3 && own < 1e4) return "";
  return kpc < 0.3 ? "pc" : kpc < 1e4 ? "kpc" : "Mpc";
}

/// Says it once, as the files of a movie are alike.
void say_units_of(const std::vector<std::string>& snapshots, const std::vector<SnapshotHeader>& headers) {
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (const std::string remark = remark_on_units(snapshots[i], headers[i]); !remark.empty())
      return say("note: {}\n", remark);
}

void render(const Communicator& comm, const RenderOptions& options) {
  std::vector<std::string> paths;
  comm.together([&] {
    paths = outputs(options);
    if (comm.is_master())
      for (const std::string& path : paths) {
        for (const std::string& snapshot : options.snapshots) require_output(path, {snapshot});
        require_output(path, options.overwrite ? Existing::replace : Existing::keep);
      }
  });
  std::vector<SnapshotHeader> headers;
  for (const std::string& path : options.snapshots)
    headers.push_back(read_snapshot_header(comm, path, {.comoving = true}));
  if (comm.is_master()) say_units_of(options.snapshots, headers);
  const Units& units = headers[0].units;
  View view;
  comm.together([&] {
    view = view_of(options, units);
    check_types(options, headers);
  });
  if (options.snapshots.size() > 1) view = common_scale(comm, options, headers, view);
  std::optional<DisplayUnits> shown;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Snapshot snapshot = read_to_draw(comm, options.snapshots[i], headers[i], units);
    view = view_in_box(comm, options, snapshot.header, view);
    if (!shown) {
      const double width = view.width ? *view.width : measure(comm, snapshot.particles, view).width;
      shown = DisplayUnits(units, {.length = unit_of_length(options.width, units, width)});
    }
    Caption caption{snapshot.header.time, *shown};
    if (!snapshot.header.comoving.empty())
      caption.redshift = snapshot.header.redshift;  // on the master, which draws
    const Frame drawn = render_png(comm, snapshot.particles, view, caption, paths[i]);
    if (comm.is_master())
      fmt::print("{}: {}, width {}, column density from {} to {}\n", paths[i],
                 caption.redshift ? fmt::format("redshift {:.6g}", *caption.redshift)
                                  : shown->text(snapshot.header.time, dimension::time),
                 shown->text(drawn.width, dimension::length),
                 shown->text(drawn.limits[0], dimension::surface_density, 3),
                 shown->text(drawn.limits[1], dimension::surface_density, 3));
  }
}

}  // namespace

void add_render(CLI::App& app, Action& action) {
  const auto options = std::make_shared<RenderOptions>();
  CLI::App& command =
      *app.add_subcommand("render", "Draw the column density of snapshots, of several on one common scale");
  command.add_option("snapshots", options->snapshots, "Snapshots, of any format that `grove info` knows")
      ->required();
  command.add_option("-o,--output", options->output,
                     "The PNG file to write, or the folder for them [the snapshot's name with .png]");
  command.add_flag("--overwrite", options->overwrite, "Replace pictures that are there, as those of a run");
  command
      .add_option("--size", options->pixels,
                  fmt::format("Pixels of a panel's side [{} of one panel, {} of several]",
                              View::single_panel_pixels, View::several_panels_pixels))
      ->check(CLI::Range(View::fewest_pixels, View::most_pixels));
  command
      .add_option(
          "--width", options->width,
          "Of the square that is shown [the edge of a periodic box, else twice what holds 90 % of the "
          "particles]")
      ->type_name("LENGTH");
  command
      .add_option(
          "--box-size", options->box,
          "Edge of the periodic box; 0: space is open [the file's, if it says that its box is periodic]")
      ->type_name("LENGTH");
  const auto words = values_by_word<CentreOn>();
  CLI::Option* centre_on =
      command
          .add_option("--centre-on", options->centre_on,
                      "Middle of the picture: of the particles, their centre of mass, or where "
                      "they are densest [middle]")
          ->check(CLI::IsMember(words));
  command.add_option("--centre", options->centre, "Or a place: x y z")
      ->expected(3)
      ->type_name("LENGTH")
      ->excludes(centre_on);
  command.add_option("--axis", options->axes, "Lines of sight, a panel for each: z, or x,y [z,y,x]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"x", "y", "z"}));
  command.add_option("--types", options->types, "Particle types to show [2 3 4 if there are any, else all]")
      ->check(CLI::Range(0, particle_types - 1));
  command
      .add_option("--limits", options->limits,
                  "Column densities of the dark and the bright end of the colours [what suits the snapshots]")
      ->expected(2)
      ->type_name("DENSITY");
  command.callback(
      [options, &action] { action = [options](const Communicator& comm) { render(comm, *options); }; });
}

}  // namespace grove
