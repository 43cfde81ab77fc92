#include "run_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "environment.hpp"
#include "initial_conditions.hpp"
#include "io/snapshot.hpp"
#include "particles/models/model.hpp"
#include "time/output_times.hpp"
#include "time/timeline.hpp"

namespace grove {
namespace {

// Of docs/performance.md, "Memory of a run": 201 bytes per particle at the peak on two ranks. The rest,
// before any particles, with libraries and MPI, is 30 MB; drawing a picture takes 60 MB more. Both were
// measured with 4000 particles.
constexpr double host_bytes_per_particle = 201, host_bytes_of_program = 30e6, host_bytes_of_pictures = 60e6;
/// Disk: a picture of 800 x 800 pixels, at most; a checkpoint, of which two are kept while the next is
/// written; lines of logs per longest step.
constexpr double picture_bytes = 0.5e6, checkpoint_bytes_per_particle = 110, log_bytes_per_step = 2000;
constexpr int checkpoints_at_once = 3;
constexpr double megabyte = 1e6;

/// What a run begins with.
struct Start {
  std::array<Count, particle_types> counts{};
  double time = 0;
  Count count() const {
    Count sum = 0;
    for (const Count c : counts) sum += c;
    return sum;
  }
};

Start start_of(const Communicator& comm, const Parameters& parameters) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  Start start;
  if (!from.file.empty()) {
    const SnapshotHeader header = read_snapshot_header(
        comm, from.file, {.unstated = parameters.units, .convert_to = parameters.units, .comoving = false});
    start.counts = header.counts;
    start.time = header.time;
  } else {
    comm.together([&] {
      const Model model = make_model(from.model);
      for (const Component& component : model.components()) start.counts[component.type] += component.count;
    });
  }
  if (parameters.time.begin) start.time = *parameters.time.begin;
  return start;
}

/// Something that a run takes, and what there is of it.
struct Need {
  std::string name;
  double bytes, available;  ///< available: 0 where the system does not tell
  std::string remedy;       ///< what would fit
};

/// Prints needs and keeps what does not fit.
class Verdict {
 public:
  explicit Verdict(const Communicator& comm) : comm_(comm) {}
  void line(const std::string& name, const std::string& text) const {
    if (comm_.is_master()) fmt::print("{:<12} {}\n", name, text);
  }
  void add(const Need& need) {
    const bool fits = need.available == 0 || need.bytes <= need.available;
    const std::string available = need.available == 0
                                      ? "what is available is not known"
                                      : fmt::format("{:.0f} MB are available", need.available / megabyte);
    line(need.name,
         fmt::format("{:.0f} MB, {}{}", need.bytes / megabyte, available, fits ? "" : ": DOES NOT FIT"));
    if (!fits)
      faults_.push_back(fmt::format("{}: {:.0f} MB are needed, {:.0f} MB are available; {}", need.name,
                                    need.bytes / megabyte, need.available / megabyte, need.remedy));
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  const Communicator& comm_;
  std::vector<std::string> faults_;
};

/// Of the host that has least for what its ranks take.
Need host_need(const Communicator& comm, const Environment& where, Count particles, bool pictures) {
  const double of_program = host_bytes_of_program + (pictures ? host_bytes_of_pictures : 0);
  const double of_rank = host_bytes_per_particle * static_cast<double>(particles) / comm.size() + of_program;
  const std::vector<double> room_of_rank = comm.all_gather(available_memory());
  std::vector<double> room(where.hosts.size(), std::numeric_limits<double>::infinity());
  for (std::size_t rank = 0; rank < room_of_rank.size(); ++rank)
    room[where.host_of[rank]] = std::min(room[where.host_of[rank]], room_of_rank[rank]);
  std::size_t worst = 0;
  const auto share = [&](std::size_t host) { return room[host] / where.hosts[host].second; };
  for (std::size_t host = 1; host < room.size(); ++host)
    if (share(host) < share(worst)) worst = host;
  const auto& [name, ranks] = where.hosts[worst];
  return {"memory", of_rank * ranks, room[worst],
          fmt::format("on host {}, and {:.3g} particles fit on {} ranks like its {}; use more hosts", name,
                      std::max(0.0, share(worst) - of_program) * comm.size() / host_bytes_per_particle,
                      comm.size(), ranks)};
}

std::optional<Need> device_need(const Communicator& comm, const Backend& backend, Count particles) {
  const auto own = backend.available_device_memory();
  const double least = comm.min(own ? static_cast<double>(*own) : -1.0);
  if (least < 0) return std::nullopt;
  const double each = device_bytes_per_particle(comm.size());
  return Need{
      "GPU memory", each * static_cast<double>(particles) / comm.size(), least,
      fmt::format("{:.3g} particles fit on {} GPUs, or use more", least * comm.size() / each, comm.size())};
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

Need disk_need(const Communicator& comm, const Parameters& parameters, const Start& start, double snapshots,
               double steps) {
  WriteOptions options;
  options.fields = parameters.output.fields;
  double written = 0;
  for (std::size_t t = 0; t < start.counts.size(); ++t)
    if (parameters.output.types >> t & 1) written += static_cast<double>(start.counts[t]);
  const double snapshot = written * static_cast<double>(bytes_per_particle(options));
  const double bytes =
      snapshots * (snapshot + (parameters.output.render ? picture_bytes : 0)) +
      checkpoints_at_once * checkpoint_bytes_per_particle * static_cast<double>(start.count()) +
      steps * log_bytes_per_step;
  double available = 0;
  comm.together([&] {
    if (!comm.is_master()) return;
    std::error_code error;
    const auto space = std::filesystem::space(existing_part_of(parameters.output.folder), error);
    if (!error) available = static_cast<double>(space.available);
  });
  available = comm.broadcast(available);
  return {
      "disk", bytes, available,
      fmt::format("there is room for {:.0f} snapshots of {:.0f} MB; write fewer, or fewer fields or types",
                  std::max(0.0, snapshots * available / bytes), snapshot / megabyte)};
}

/// Seconds of a second evaluation of all forces, trees included, on the slowest rank.
double measured_pass(const Communicator& comm, Backend& backend, Count particles) {
  DecompositionParameters decomposition;
  decomposition.leaf_size = default_leaf_size(particles);
  DecompositionReport report;
  PhaseTimers timers;
  std::optional<Box> box;
  double seconds = 0;
  for (int pass = 0; pass < 3; ++pass) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    const Domain domain = backend.decompose(decomposition, box, report);
    backend.evaluate(domain, {}, timers);
    box = domain.box;
    seconds = comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

/// Forces on a Plummer sphere of so many particles stand for those of the run: interactions per particle
/// differ by a third from model to model, and grow as the logarithm of their number.
std::unique_ptr<Backend> sample_backend(const Communicator& comm, const Parameters& parameters,
                                        const BackendChoice& choice, Count sample) {
  ModelParameters sphere;
  sphere.model = "plummer";
  sphere.particles = sample;
  GravityParameters gravity = parameters.gravity;
  gravity.gravitational_constant = 1;
  gravity.critical_separation = 0;
  gravity.softening.fill(1 / std::sqrt(static_cast<double>(sample)));
  return make_backend(comm, choice, make_initial_conditions(comm, sphere), gravity);
}

void check_time(const Communicator& comm, const Parameters& parameters, Backend& backend, Count sample,
                Count particles, double steps, const Verdict& verdict) {
  const double measured = measured_pass(comm, backend, sample);
  const auto n = static_cast<double>(particles), few = static_cast<double>(sample);
  const double pass = measured * n / few * std::max(1.0, std::log(n) / std::log(few));
  verdict.line(
      "time",
      fmt::format(
          "{:.3g} s for forces on all particles, trees included, from {} of a Plummer sphere measured "
          "here in {:.3g} s",
          pass, sample, measured));
  verdict.line("", fmt::format("{:.3g} h for {:.0f} longest steps{}", pass * steps / 3600, steps,
                               parameters.time.steps == StepKind::block
                                   ? ", and more for shorter ones, of the particles that need them"
                                   : ""));
}

}  // namespace

void check_run(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice) {
  const Start start = start_of(comm, parameters);
  const Environment where = environment(comm);
  std::optional<Timeline> timeline;
  double snapshots = 0;
  comm.together([&] {
    const TimeParameters& time = parameters.time;
    const OutputParameters& output = parameters.output;
    timeline.emplace(start.time, time.end, time.step);
    const OutputTimes times = output.times.empty()
                                  ? OutputTimes::regular(start.time, time.end, output.every.value_or(0))
                                  : OutputTimes::listed(output.times, start.time, time.end);
    snapshots = static_cast<double>(times.all().size());
    if (parameters.decomposition.leaves > start.count())
      throw InputError(fmt::format("{} leaves are asked for, but there are only {} particles",
                                   parameters.decomposition.leaves, start.count()));
  });
  const auto steps = static_cast<double>(timeline->steps());
  Verdict verdict(comm);
  verdict.line("particles", fmt::format("{}", start.count()));
  verdict.line("ranks", fmt::format("{} on {} {}, backend {}", comm.size(), where.hosts.size(),
                                    where.hosts.size() == 1 ? "host" : "hosts", choice.name));
  verdict.line("steps", fmt::format("{:.0f} longest ones, {:.0f} snapshots", steps, snapshots));
  verdict.add(host_need(comm, where, start.count(), parameters.output.render));
  const Count most = (choice.name == "cuda" ? Count{1} << 20 : Count{20000}) * comm.size();
  const Count sample = std::clamp<Count>(start.count(), 1000, most);
  const auto backend = sample_backend(comm, parameters, choice, sample);
  if (const auto need = device_need(comm, *backend, start.count())) verdict.add(*need);
  verdict.add(disk_need(comm, parameters, start, snapshots, steps));
  check_time(comm, parameters, *backend, sample, start.count(), steps, verdict);
  if (!verdict.faults().empty())
    throw Agreed<InputError>(fmt::format("the run does not fit: {}", fmt::join(verdict.faults(), "; ")));
}

}  // namespace grove
