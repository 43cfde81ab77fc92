#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "base/console.hpp"
#include "commands/backend_options.hpp"
#include "commands/commands.hpp"
#include "commands/fof_report.hpp"
#include "halos/snapshot_halos.hpp"
#include "io/file.hpp"
#include "run/start/initial_state.hpp"

namespace grove {
namespace {

struct FofOptions {
  HaloRequest request;
  BackendChoice backend;
  std::string json;
  bool overwrite = false;
};

void find_friends(const Communicator& comm, const FofOptions& options) {
  HaloRequest request = options.request;
  if (request.output.empty())
    request.output = std::filesystem::path(request.snapshot).replace_extension().string() + "_fof.hdf5";
  comm.together([&] {
    if (!comm.is_master()) return;
    require_output(request.output, {request.snapshot});
    require_output(request.output, options.overwrite ? Existing::replace : Existing::keep);
    require_output(options.json, {request.snapshot, request.output});
  });
  request.before = [&](const SnapshotHeader& header) {
    if (!comm.is_master()) return;
    if (const std::string remark = remark_on_units(request.snapshot, header); !remark.empty())
      say("note: {}\n", remark);
  };
  BackendChoice choice = options.backend;
  const std::string no_gpu = resolve(comm, choice);
  const std::unique_ptr<FriendFinder> finder = make_friend_finder(comm, choice);
  const WrittenHalos halos = write_halos_of(comm, request, *finder);
  const FofReport report = FofReport::of(comm, halos);
  comm.together([&] {
    if (!comm.is_master()) return;
    if (!no_gpu.empty()) fmt::print("no GPU is used: {}\n", no_gpu);
    fmt::print("{}", report.text(request.output, halos));
    if (!options.json.empty()) write_text(options.json, report.json(halos).dump(2) + "\n");
  });
}

}  // namespace

void add_fof(CLI::App& app, Action& action) {
  const auto options = std::make_shared<FofOptions>();
  CLI::App& command = *app.add_subcommand(
      "fof", "Find groups by friends of friends, and write a catalogue of them in GADGET-4's layout");
  command
      .add_option("SNAPSHOT", options->request.snapshot, "A snapshot, of any format that `grove info` knows")
      ->required();
  command.add_option("-o,--output", options->request.output,
                     "The catalogue to write (HDF5) [the snapshot's name with _fof.hdf5]");
  CLI::Option* const length =
      command.add_option("--length", options->request.length, "Linking length")->type_name("LENGTH");
  command
      .add_option("--spacings", options->request.spacings,
                  "Linking length in mean distances of the linked particles [0.2]")
      ->excludes(length);
  command.add_option("--min", options->request.least, "Members of a group, at least [20]")
      ->check(CLI::Range(Count{2}, Count{1} << 40));
  command.add_option("--types", options->request.types, "Particle types to link, together [all]")
      ->delimiter(',')
      ->check(CLI::Range(0, particle_types - 1));
  command
      .add_option("--box-size", options->request.box,
                  "Edge of the periodic box; 0: space is open [the file's]")
      ->type_name("LENGTH");
  command
      .add_option("--critical-density", options->request.critical_density,
                  "200 times as dense are halos within R200 [that of the file's cosmology]")
      ->type_name("DENSITY");
  add_backend_choice(command, options->backend);
  command.add_flag("--overwrite", options->overwrite, "Replace the catalogue if it is there");
  command.add_option("--json", options->json, "Write what was found as JSON, too");
  command.callback(
      [options, &action] { action = [options](const Communicator& comm) { find_friends(comm, *options); }; });
}

}  // namespace grove
