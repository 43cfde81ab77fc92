#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <string>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/pages.hpp"
#include "commands/choice.hpp"
#include "commands/commands.hpp"
#include "commands/count.hpp"
#include "commands/decompose_gpu.hpp"
#include "commands/decompose_result.hpp"
#include "decomposition/check.hpp"
#include "decomposition/decompose.hpp"
#include "io/file.hpp"
#include "io/shares.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "io/words.hpp"
#include "kernels/math/uniform_point.hpp"

namespace grove {
namespace {

const std::map<std::string, CutRule> rules = values_by_word<CutRule>();
const std::map<std::string, CutMethod> methods = values_by_word<CutMethod>();
const std::map<std::string, Schedule> schedules = values_by_word<Schedule>();
const std::map<std::string, Transport> transports = values_by_word<Transport>();
const std::map<std::string, PayloadPath> payloads = values_by_word<PayloadPath>();
const std::map<std::string, GpuSchedule> gpu_schedules = values_by_word<GpuSchedule>();

/// Points in the unit cube, each made from its number alone, so the set does not depend on the ranks.
Particles uniform_particles(const Communicator& comm, const DecomposeOptions& options) {
  const Count count = options.uniform;
  const Count begin = share_begin(count, comm.rank(), comm.size());
  const Count end = share_begin(count, comm.rank() + 1, comm.size());
  const std::uint64_t stream = stream_of(options);
  Particles particles;
  particles.resize(static_cast<std::size_t>(end - begin));
  for (Count i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - begin);
    const auto number = static_cast<std::uint64_t>(i);
    particles.position[at] = uniform_point(stream, number);
    particles.velocity[at] = {0, 0, 0};
    particles.mass[at] = 1.0 / static_cast<double>(count);
    particles.id[at] = number + 1;
    particles.type[at] = 1;
    particles.acceleration[at] = {0, 0, 0};
    particles.potential[at] = particles.old_acceleration[at] = 0;
    particles.work[at] = 0;
  }
  return particles;
}

/// Those of the file; massless and coincident ones can be shared out.
Particles read_particles(const Communicator& comm, const DecomposeOptions& options) {
  Particles particles = read_snapshot(comm, options.file).particles;
  ValidationOptions sound{
      .source = options.file, .tracer = all_types, .softening = {}, .leaves = options.parameters.leaves};
  sound.softening.fill(1);
  validate(comm, particles, sound);
  return particles;
}

void decompose_on_host(const Communicator& comm, Particles particles,
                       const DecompositionParameters& parameters, bool is_last,
                       std::vector<DecomposeResult>& runs) {
  DecompositionReport report;
  release_pages();
  reset_peak_memory();
  const double before = memory_use().now;
  comm.barrier();
  const Domain domain = decompose(comm, particles, parameters, std::nullopt, report);
  add_run(comm, report, domain, runs);
  if (!is_last) return;
  DecomposeResult& result = runs.back();
  result.bytes_per_particle =
      static_cast<double>(comm.sum(static_cast<std::int64_t>(memory_use().peak - before))) /
      static_cast<double>(result.particles);
  result.fault = check_domain(comm, particles, parameters, domain);
  result.tree_hash = tree_hash(comm, particles, domain);
}

/// Reading speed of the host's memory, while all ranks read.
double host_rate(const Communicator& comm) {
  const std::vector<std::uint64_t> numbers(std::size_t{1} << 25, 1);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    const volatile std::uint64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
    static_cast<void>(sum);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(8 * numbers.size()) / comm.max(time.count()));
  }
  return best;
}

/// The backend, method and schedule that --schedule-gpu stands for. A pass over memory takes as long for
/// three candidates as for one on a GPU, so (d) tries three.
void apply_gpu_schedule(DecomposeOptions& options) {
  options.parameters.candidates = options.candidates.value_or(options.schedule == GpuSchedule::d ? 3 : 1);
  if (!options.schedule) return;
  const GpuSchedule schedule = *options.schedule;
  const bool is_ours = schedule == GpuSchedule::e;
  options.backend = schedule < GpuSchedule::d ? "kokkos" : "cuda";
  options.parameters.method = is_ours ? CutMethod::histogram : CutMethod::bisection;
  options.parameters.schedule = is_ours ? Schedule::straddling : Schedule::master;
}

void run_decompose(const Communicator& comm, DecomposeOptions options) {
  comm.together([&] {
    if (options.file.empty() == (options.uniform == 0))
      throw InputError("give either a snapshot to decompose or --uniform N");
  });
  apply_gpu_schedule(options);
  const bool counts_on_gpu = options.schedule == GpuSchedule::b || options.schedule == GpuSchedule::c;
  const bool has_gpus =
      counts_on_gpu || options.backend == "cuda" ||
      (options.backend == "auto" && gpus_are_there(comm) && options.schedule != GpuSchedule::a);
  std::unique_ptr<GpuDecompose> gpu;
  if (has_gpus) gpu = make_gpu_decompose(comm, options);

  std::optional<MachineRates> rates;
  if (options.calibrate) {
    rates.emplace();
    rates->host_bytes = host_rate(comm);
    if (gpu) gpu->calibrate(*rates);
  }
  const auto particles = [&] {
    return options.uniform > 0 ? uniform_particles(comm, options) : read_particles(comm, options);
  };
  std::vector<DecomposeResult> runs;
  const int warm_up = options.repeat > 1 ? 1 : 0;
  for (int i = 0; i < warm_up + options.repeat; ++i) {
    const bool is_last = i + 1 == warm_up + options.repeat;
    if (gpu)
      gpu->run(particles, is_last, runs);
    else
      decompose_on_host(comm, particles(), options.parameters, is_last, runs);
  }
  runs.erase(runs.begin(), runs.begin() + warm_up);
  DecomposeResult result = median_of(std::move(runs));
  result.rates = rates;
  if (gpu) gpu->describe(result);
  comm.together([&] {
    if (!comm.is_master()) return;
    fmt::print("{}", table_of(comm, options, result));
    if (!options.json.empty()) write_text(options.json, json_of(comm, options, result));
  });
  comm.together([&] {
    if (!result.fault.empty()) throw std::runtime_error("the decomposition is wrong: " + result.fault);
  });
}

}  // namespace

std::uint64_t stream_of(const DecomposeOptions& options) { return mixed(options.seed); }

void add_decompose(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "decompose", "The domain decomposition alone: cut space into leaves, share them out, migrate");
  auto options = std::make_shared<DecomposeOptions>();
  DecompositionParameters& parameters = options->parameters;
  command->add_option("file", options->file, "Snapshot, of any format that `grove info` knows");
  add_count(*command, "--uniform", options->uniform, Count{1},
            "Instead of a snapshot: so many points in the unit cube");
  command->add_option("--seed", options->seed, "Of the points of --uniform")->capture_default_str();
  add_choice(*command, "--rule", parameters.rule, rules, "Where to cut");
  auto* leaves = add_count(*command, "-d,--leaves", parameters.leaves, Count{1},
                           "Number of leaves; exact under `halves`, else the leaf size follows from it");
  add_count(*command, "--leaf", parameters.leaf_size, Count{1},
            "Particles in a full leaf; default: 4096, fewer below 262144 particles")
      ->excludes(leaves);
  auto* method = add_choice(*command, "--method", parameters.method, methods,
                            "How the search for a cut narrows its interval");
  command
      ->add_option(
          "--candidates", options->candidates,
          "Cuts that `bisection` tries at once per cell and round; default: 1, in --schedule-gpu d 3")
      ->check(CLI::Range(1, 16));
  auto* schedule =
      add_choice(*command, "--schedule", parameters.schedule, schedules,
                 "What all ranks cut together: cells that straddle ranks, or every cell (master)");
  add_choice(*command, "--transport", parameters.transport, transports, "How service calls travel");
  auto* backend =
      command
          ->add_option("--backend", options->backend,
                       "Where particles are kept and cut: host (kokkos), GPU (cuda), or GPU if every "
                       "rank has one")
          ->check(CLI::IsMember({"auto", "kokkos", "cuda"}))
          ->capture_default_str();
  add_optional_choice(
      *command, "--schedule-gpu", options->schedule, gpu_schedules,
      "Ways to use a GPU, to compare: a: host alone; b, c: the host divides, the GPU counts, one "
      "launch per cell or level; d: GPU alone, bisection; e: GPU alone, histogram")
      ->excludes(method)
      ->excludes(schedule)
      ->excludes(backend);
  add_optional_choice(*command, "--payload", options->payload, payloads,
                      "How particles travel between GPUs; default: the first of these that works");
  command->add_flag("--share-gpu", options->share_gpu, "Let several ranks use the same GPU");
  command->add_flag("--calibrate", options->calibrate,
                    "Measure what memory, bus and links do, and print what each phase should take");
  command->add_option("--repeat", options->repeat, "Report the median of so many runs, after one more")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options->json, "Write the results to this file");
  command->callback([options, &action] {
    action = [options](const Communicator& comm) { run_decompose(comm, *options); };
  });
}

}  // namespace grove
