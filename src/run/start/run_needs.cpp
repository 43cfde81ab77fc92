#include "run_needs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "backend/memory_needs.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "base/memory.hpp"
#include "cosmological_model.hpp"
#include "decomposition/decompose.hpp"
#include "earlier_results.hpp"
#include "initial_conditions.hpp"
#include "initial_state.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "particles/models/model.hpp"
#include "particles/particles.hpp"
#include "run/log/environment.hpp"
#include "run_timeline.hpp"
#include "structure/power_table.hpp"
#include "time/timeline.hpp"

namespace grove {
namespace {

constexpr double megabyte = 1e6;
/// On the disk: two are kept while the next is written.
constexpr int checkpoints_at_once = 3;
/// Rows and lines of a longest step, with energies and rungs, and of another.
constexpr double log_bytes_per_longest_step = 2400, log_bytes_per_step = 1100;
/// The deepest rung, if nothing tells how short steps become.
constexpr double guessed_steps_each = 64;

/// At most; measured are 0.44 to 0.52 bytes per pixel of the panels.
double bytes_of_picture(const View& view) {
  const auto side = static_cast<double>(view.panel_pixels());
  return 2e4 + 0.65 * side * side * static_cast<double>(view.axes.size());
}

std::vector<std::size_t> types_of(std::uint8_t mask) {
  std::vector<std::size_t> types;
  for (std::size_t type = 0; type < particle_types; ++type)
    if (mask >> type & 1) types.push_back(type);
  return types;
}

RunAhead afresh(const Parameters& parameters, const Beginning& start) {
  const TimeParameters& time = parameters.time;
  const double begin = time.begin.value_or(start.time);
  const Timeline timeline = timeline_of(parameters, begin);
  RunAhead ahead;
  for (std::size_t t = 0; t < start.counts.size(); ++t) {
    ahead.particles += start.counts[t];
    if (parameters.output.types >> t & 1) ahead.written += static_cast<double>(start.counts[t]);
  }
  ahead.certainly_written = ahead.written;
  ahead.has_gas = start.has_gas;
  if (parameters.decomposition.leaves > ahead.particles)
    throw InputError(fmt::format("{} leaves are asked for, but there {} only {}",
                                 parameters.decomposition.leaves, ahead.particles == 1 ? "is" : "are",
                                 how_many(ahead.particles, "particle")));
  if (const std::string fault = fault_of_types(start.counts, parameters.output); !fault.empty())
    throw InputError(fault);
  const InitialConditionsParameters& from = parameters.initial_conditions;
  require_softening(start.counts, {.source = from.source(), .softened = parameters.softened});
  ahead.steps = static_cast<double>(timeline.steps());
  ahead.snapshots = static_cast<double>(output_times_of(parameters, begin, time.end).all().size());
  if (time.steps == StepKind::block) {
    ahead.is_guess = true;
    ahead.steps_each = guessed_steps_each;
    // A rung halves the steps of the one above it.
    if (time.min_step > 0)
      ahead.steps_each =
          std::min(ahead.steps_each,
                   std::exp2(std::max(0.0, std::floor(std::log2(timeline.length(0) / time.min_step)))));
  }
  return ahead;
}

RunAhead going_on(const Parameters& parameters, const Checkpoint& from) {
  const RunState& run = from.run;
  const Timeline timeline = timeline_of(parameters, run.begin, run.longest_step);
  const OutputTimes times = output_times_of(parameters, run.begin, parameters.time.end);
  RunAhead ahead;
  ahead.particles = from.manifest.particles;
  ahead.has_gas = run.has_gas;
  ahead.written = static_cast<double>(ahead.particles);  // at most: a checkpoint does not tell them by type
  if (parameters.output.types == all_types) ahead.certainly_written = ahead.written;
  ahead.steps = static_cast<double>(timeline.steps() - run.clock.step);
  ahead.snapshots = static_cast<double>(
      times.all().size() - times.count_passed(from.manifest.time, run.last_output, timeline.same()));
  ahead.steps_each = std::ceil(static_cast<double>(run.steps_done) /
                               static_cast<double>(std::max<std::int64_t>(1, run.clock.step)));
  ahead.steps_each = std::max(1.0, ahead.steps_each);
  return ahead;
}

/// The most particles of all ranks of which a rank takes no more than these bytes.
double particles_that_fit(double bytes, int ranks, const HostUse& use) {
  double fits = 0, too_many = bytes;
  for (int halvings = 0; halvings < 64; ++halvings) {
    const double middle = (fits + too_many) / 2;
    (host_bytes_of_rank(middle, ranks, use) <= bytes ? fits : too_many) = middle;
  }
  return fits * ranks;
}

/// The least and the most bytes of a particle in a snapshot, by type.
std::pair<double, double> bytes_written(const WriteOptions& options, bool has_gas) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t t = 0; t < particle_types; ++t) {
    if (!(options.types >> t & 1)) continue;
    const auto bytes = static_cast<double>(bytes_per_particle(options, t, has_gas));
    least = std::min(least, bytes), most = std::max(most, bytes);
  }
  return {std::min(least, most), most};
}

/// The folder itself, or what is there of those above it. InputError if nothing can be written there.
std::string existing_part_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(folder, error);
  while (!path.empty() && path != path.root_path() && !std::filesystem::exists(path, error))
    path = path.parent_path();
  if (!std::filesystem::is_directory(path, error) || ::access(path.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("{}: the output folder cannot be made: nothing can be written to {}", folder,
                                 path.string()));
  return path.string();
}

/// Those of which `is_meant` is true, each with what would fit; empty: there are none.
template <class Meant>
std::string text_of(const std::vector<Need>& needs, const Meant& is_meant) {
  std::vector<std::string> texts;
  for (const Need& need : needs)
    if (is_meant(need)) texts.push_back(fmt::format("{}: {}; {}", need.name, need.text(), need.remedy));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The output folder, as the master finds it; bytes: below 0 if the system does not tell.
struct Folder {
  double available = -1;
  int checkpoints = 0;
};

Folder look_at(const Communicator& comm, const std::string& path, bool replaces) {
  Folder folder;
  comm.together([&] {
    if (!comm.is_master()) return;
    std::error_code error;
    const auto space = std::filesystem::space(existing_part_of(path), error);
    if (!error) folder.available = static_cast<double>(space.available);
    if (!error && replaces) folder.available += EarlierResults(path).bytes();
    folder.checkpoints = static_cast<int>(CheckpointFolder(path).latest_first().size());
  });
  return comm.broadcast(folder);
}

}  // namespace

Beginning beginning_of(const Communicator& comm, const Parameters& parameters) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  Beginning start;
  for (const ComponentParameters& part : from.parts()) {
    const auto add = [&](std::size_t type, Count count) { start.counts[part.placement.type[type]] += count; };
    if (!part.file.empty()) {
      const SnapshotHeader header = read_snapshot_header(comm, part.file, reading_of(parameters));
      for (std::size_t t = 0; t < header.counts.size(); ++t) add(t, header.counts[t]);
      std::ranges::copy(remarks_on(part.file, header), std::back_inserter(start.remarks));
      if (from.components.empty()) start.warnings = warnings_on(parameters, part.file, header);
      start.has_gas = start.has_gas || header.has_gas;
      if (!start.file_units) start.file_units = header.file_units;
      if (from.components.empty()) start.time = time_of(header, parameters);
    } else if (is_cosmological(part.model.model)) {
      const CosmologicalVolume volume = cosmological_volume(comm, parameters);
      add(1, count_of(volume));
      start.time = Expansion(volume.cosmology).time(scale_factor_of(volume.redshift));
    } else {
      comm.together([&] {
        const Model model = make_model(part.model);
        start.has_gas = start.has_gas || model.has_gas();
        for (const Component& component : model.components()) add(component.type, component.count);
      });
    }
  }
  std::ranges::copy(remarks_on_model(parameters), std::back_inserter(start.remarks));
  std::ranges::copy(remarks_on_space(parameters), std::back_inserter(start.remarks));
  start.has_gas = start.has_gas && start.counts[gas_type] > 0;  // else it was given other types
  std::ranges::copy(remarks_on_use_of_gas(parameters, start.has_gas ? start.counts[gas_type] : 0),
                    std::back_inserter(start.remarks));
  return start;
}

std::string fault_of_types(const std::array<Count, particle_types>& counts, const OutputParameters& output) {
  std::uint8_t present = 0;
  for (std::size_t type = 0; type < counts.size(); ++type)
    if (counts[type] > 0) present = static_cast<std::uint8_t>(present | 1U << type);
  const auto fault = [&](const char* name, std::uint8_t asked) {
    return fmt::format("{}: there are no particles of type {}; their types are {}", name,
                       fmt::join(types_of(asked), ", "), fmt::join(types_of(present), ", "));
  };
  if ((output.types & present) == 0) return fault("output.types", output.types);
  const std::uint8_t drawn = output.view.types;
  if (output.render && drawn != 0 && (drawn & present) == 0) return fault("output.render.types", drawn);
  return {};
}

RunAhead run_ahead(const Communicator& comm, const Parameters& parameters, const Beginning& beginning) {
  RunAhead ahead;
  comm.together([&] { ahead = afresh(parameters, beginning); });
  return ahead;
}

RunAhead run_ahead(const Communicator& comm, const Parameters& parameters, const Checkpoint& from) {
  RunAhead ahead;
  comm.together([&] { ahead = going_on(parameters, from); });
  return ahead;
}

double host_bytes_of_rank(double particles, int ranks, const HostUse& use) {
  // The trees of other ranks grow as the surface of a rank's share, and hardly with more than eight ranks.
  // 8 MB of the program are what its libraries need at their start where it is linked to cuFFT.
  constexpr double program = 68e6, drawing = 60e6, per_surface = 2500;
  const double largest_leaf = std::min(particles, static_cast<double>(use.leaf_size));
  return program + (use.pictures ? drawing : 0) + bytes_of_mesh(use.mesh) / ranks +
         host_bytes_per_particle(use.gravity, use.has_gas) * particles +
         host_bytes_of_leaf(largest_leaf, use.gravity) +
         per_surface * std::min(ranks - 1, 7) * std::pow(particles, 2.0 / 3);
}

double log_bytes(const RunAhead& ahead) {
  return ahead.steps * (log_bytes_per_longest_step + (ahead.steps_each - 1) * log_bytes_per_step);
}

double known_log_bytes(const RunAhead& ahead) {
  RunAhead known = ahead;
  if (ahead.is_guess) known.steps_each = 1;
  return log_bytes(known);
}

std::string Need::text() const {
  return fmt::format("{:.0f} MB{}, {}", bytes / megabyte, where,
                     available ? fmt::format("{:.0f} MB are available", *available / megabyte)
                               : "what is available is not known");
}

Need host_need(const Communicator& comm, Count particles, const HostUse& use) {
  const Environment machine = environment(comm);
  const double of_rank = host_bytes_of_rank(static_cast<double>(particles) / comm.size(), comm.size(), use);
  const std::vector<double> room_of_rank = comm.all_gather(available_memory());
  std::vector<double> room(machine.hosts.size(), std::numeric_limits<double>::infinity());
  for (std::size_t rank = 0; rank < room_of_rank.size(); ++rank)
    room[machine.host_of[rank]] = std::min(room[machine.host_of[rank]], room_of_rank[rank]);
  std::size_t worst = 0;
  const auto share = [&](std::size_t host) { return room[host] / machine.hosts[host].second; };
  for (std::size_t host = 1; host < room.size(); ++host)
    if (share(host) < share(worst)) worst = host;
  const auto& [name, ranks] = machine.hosts[worst];
  return {.name = "memory",
          .where = fmt::format(" on host {}, {:.0f} MB on {}", name, of_rank / megabyte,
                               ranks == 1 ? "its rank" : fmt::format("each of its {} ranks", ranks)),
          .bytes = of_rank * ranks,
          .at_least = static_cast<double>(bytes_of_fields(use.has_gas)) * static_cast<double>(particles) /
                      comm.size() * ranks,
          .available = room[worst],
          .remedy = fmt::format("{:.3g} particles fit on {} like its {}; use more hosts",
                                particles_that_fit(share(worst), comm.size(), use),
                                how_many(comm.size(), "rank"), ranks)};
}

std::optional<Need> device_need(const Communicator& comm, const BackendChoice& choice, Count particles,
                                const GravityParameters& gravity, bool has_gas) {
  struct Gpu {
    double available, users;
    double share() const { return available / users; }
  };
  const auto own = device_memory(comm, choice);
  const std::vector<Gpu> gpus = comm.all_gather(
      own ? Gpu{static_cast<double>(own->available), static_cast<double>(own->ranks)} : Gpu{-1, 1});
  const Gpu least = *std::min_element(gpus.begin(), gpus.end(),
                                      [](const Gpu& a, const Gpu& b) { return a.share() < b.share(); });
  if (least.available < 0) return std::nullopt;
  const double each = device_bytes_per_particle(comm.size(), gravity, has_gas);
  const double of_rank = each * static_cast<double>(particles) / comm.size();
  return Need{.name = "GPU memory",
              .where = least.users > 1
                           ? fmt::format(" on a GPU, {:.0f} MB for each of the {:.0f} ranks that share it",
                                         of_rank / megabyte, least.users)
                           : " on each GPU",
              .bytes = of_rank * least.users,
              .at_least = static_cast<double>(bytes_of_fields(has_gas)) * static_cast<double>(particles) /
                          comm.size() * least.users,
              .available = least.available,
              .remedy = fmt::format("{:.3g} particles fit on such GPUs for {}, or use more",
                                    least.share() * comm.size() / each, how_many(comm.size(), "rank"))};
}

Need disk_need(const Communicator& comm, const Parameters& parameters, const RunAhead& ahead, bool replaces) {
  const Folder folder = look_at(comm, parameters.output.folder, replaces);
  WriteOptions options;
  options.fields = parameters.output.fields;
  options.types = parameters.output.types;
  const auto [least, most] = bytes_written(options, ahead.has_gas);
  const double snapshot =
      ahead.written * most + (parameters.output.render ? bytes_of_picture(parameters.output.view) : 0);
  const double checkpoints = std::max(1, checkpoints_at_once - folder.checkpoints) *
                             checkpoint_bytes_per_particle(parameters.gravity, ahead.has_gas) *
                             static_cast<double>(ahead.particles);
  const double beside = checkpoints + known_log_bytes(ahead);
  Need need{.name = "disk",
            .where = "",
            .bytes = ahead.snapshots * snapshot + beside,
            .at_least = ahead.snapshots * ahead.certainly_written * least,
            .available = {},
            .remedy = ""};
  if (folder.available >= 0) {
    need.available = folder.available;
    need.remedy = fmt::format(
        "beside checkpoints and logs, {:.0f} MB, there is room for {:.0f} of {:.0f} "
        "snapshots of {:.0f} MB; write fewer, or fewer fields or types",
        beside / megabyte, std::floor(std::max(0.0, folder.available - beside) / snapshot), ahead.snapshots,
        snapshot / megabyte);
  }
  return need;
}

std::vector<Need> needs_of(const Communicator& comm, const Parameters& parameters,
                           const BackendChoice& choice, const RunAhead& ahead, bool replaces) {
  std::vector<Need> needs{host_need(comm, ahead.particles,
                                    {.pictures = parameters.output.render,
                                     .gravity = parameters.gravity,
                                     .leaf_size = leaf_size_of(parameters.decomposition, ahead.particles),
                                     .mesh = parameters.output.power ? usual_mesh(ahead.particles) : 0,
                                     .has_gas = ahead.has_gas})};
  if (auto need = device_need(comm, choice, ahead.particles, parameters.gravity, ahead.has_gas))
    needs.push_back(*std::move(need));
  needs.push_back(disk_need(comm, parameters, ahead, replaces));
  return needs;
}

void require_room(const Communicator& comm, const std::vector<Need>& needs) {
  const std::string faults = text_of(needs, [](const Need& need) { return !need.may_fit(); });
  if (!faults.empty()) throw Agreed<InputError>("the run does not fit: " + faults);
  const std::string doubts = text_of(needs, [](const Need& need) { return !need.fits(); });
  if (comm.is_master() && !doubts.empty())
    fmt::print(stderr, "warning: there may not be room enough; at most it takes {}\n", doubts);
}

}  // namespace grove
