#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/gpu_backend.hpp"
#include "base/errors.hpp"
#include "commands/choice.hpp"
#include "commands/commands.hpp"
#include "commands/count.hpp"
#include "commands/decompose_gpu.hpp"
#include "commands/decompose_host.hpp"
#include "commands/decompose_result.hpp"
#include "decomposition/host_rank.hpp"
#include "io/file.hpp"
#include "io/words.hpp"

namespace grove {
namespace {

const std::map<std::string, CutRule> rules = values_by_word<CutRule>();
const std::map<std::string, CutMethod> methods = values_by_word<CutMethod>();
const std::map<std::string, Schedule> schedules = values_by_word<Schedule>();
const std::map<std::string, Transport> transports = values_by_word<Transport>();
const std::map<std::string, PayloadPath> payloads = values_by_word<PayloadPath>();
const std::map<std::string, GpuSchedule> gpu_schedules = values_by_word<GpuSchedule>();

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

/// Refuses options that do not go together, and all that can fail before the work does.
void check(const Communicator& comm, const DecomposeOptions& options) {
  if (options.file.empty() && options.uniform == 0)
    throw InputError("nothing to decompose: give a snapshot or --uniform N");
  if (!options.file.empty() && options.uniform > 0)
    throw InputError("give either a snapshot to decompose or --uniform N, not both");
  if (options.candidates && options.parameters.method == CutMethod::histogram)
    throw InputError(
        "--candidates is for --method bisection and --schedule-gpu d; here cuts are searched by histogram");
  if (options.backend == "kokkos" && !options.counts_on_gpu() && (options.payload || options.share_gpu))
    throw InputError("--payload and --share-gpu are for GPUs, and here the host does it all: leave them out");
  if (options.payload && options.counts_on_gpu())
    throw InputError("--payload: in schedules b and c particles are on the host; it is for --backend cuda");
  if (comm.is_master()) require_output(options.json, {options.file});
}

/// The backend on GPUs, if it is wanted, or else why not.
std::unique_ptr<GpuDecompose> gpu_backend(const Communicator& comm, DecomposeOptions& options) {
  if (options.backend == "auto") {
    options.no_gpu = fault_of_gpus(comm, options.share_gpu);
    options.backend = options.no_gpu.empty() ? "cuda" : "kokkos";
  }
  if (options.backend == "kokkos" && !options.counts_on_gpu()) return {};
  return make_gpu_decompose(comm, options);
}

void run_decompose(const Communicator& comm, DecomposeOptions options) {
  apply_gpu_schedule(options);
  comm.together([&] { check(comm, options); });
  const std::unique_ptr<GpuDecompose> gpu = gpu_backend(comm, options);
  std::optional<MachineRates> rates;
  if (options.calibrate) {
    rates.emplace();
    rates->host_bytes = host_rate(comm);
    if (comm.size() > 1) {
      constexpr Count bytes = Count{16} << 20;
      const std::vector<std::byte> send(bytes);
      std::vector<std::byte> receive(bytes);
      rates->sent = ring_rate(comm, bytes, [&](const ExchangePlan& plan) {
        plan.apply(std::span<const std::byte>(send), std::span<std::byte>(receive));
      });
    }
    if (gpu) gpu->calibrate(*rates);
  }
  const HostStorage on_host = [](Particles& particles, DecompositionReport& report) {
    return std::make_unique<HostRank>(particles, report);
  };
  std::vector<DecomposeResult> runs;
  const int warm_up = options.repeat > 1 ? 1 : 0;
  for (int i = 0; i < warm_up + options.repeat; ++i) {
    const bool is_last = i + 1 == warm_up + options.repeat;
    if (gpu)
      gpu->run(is_last, runs);
    else
      decompose_on_host(comm, host_particles(comm, options), options.parameters, on_host, is_last, runs);
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

void add_decompose(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "decompose", "The domain decomposition alone: cut space into leaves, share them out, migrate");
  auto options = std::make_shared<DecomposeOptions>();
  DecompositionParameters& parameters = options->parameters;
  parameters.rule = CutRule::middle;  // what is measured is the search for exact cuts
  command->add_option("file", options->file, "Snapshot, of any format that `grove info` knows");
  auto* uniform = add_count(*command, "--uniform", options->uniform, Count{1},
                            "Instead of a snapshot: so many points in the unit cube");
  add_count(*command, "--seed", options->seed, std::uint64_t{0}, "Of the points of --uniform; default: 1")
      ->needs(uniform);
  add_choice(*command, "--rule", parameters.rule, rules, "Where to cut");
  auto* leaves = add_count(*command, "-d,--leaves", parameters.leaves, Count{1},
                           "Number of leaves; exact under `halves`, else the leaf size follows from it");
  add_count(*command, "--leaf", parameters.leaf_size, Count{1},
            "Particles in a full leaf; default: 4096, fewer below 262144 particles")
      ->excludes(leaves);
  add_count(
      *command, "--domain-cell", parameters.domain_cell, Count{1},
      "Under `domains`: particles in a domain cell; default: 32 leaves, at most a 256th of all particles");
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
                       "rank has one of its own")
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
                      "How particles travel between GPUs: over NCCL, handed to MPI in GPU memory, or staged "
                      "in the host's; default: the first of nccl, mpi, staged that works");
  command->add_flag("--share-gpu", options->share_gpu,
                    "Let several ranks use the same GPU; several processes share it, slower than one");
  command->add_flag("--calibrate", options->calibrate,
                    "Measure what memory, bus and links do, and print what each phase should take");
  add_count(*command, "--repeat", options->repeat, 1,
            "Report the median of so many runs, if more than one after another one; default: 1");
  command->add_option("--json", options->json, "Write the results to this file");
  command->callback([options, &action] {
    action = [options](const Communicator& comm) { run_decompose(comm, *options); };
  });
}

}  // namespace grove
