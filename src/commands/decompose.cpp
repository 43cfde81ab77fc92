#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/pages.hpp"
#include "commands/choice.hpp"
#include "commands/commands.hpp"
#include "commands/count.hpp"
#include "decomposition/check.hpp"
#include "decomposition/decompose.hpp"
#include "io/file.hpp"
#include "io/shares.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "io/words.hpp"

namespace grove {
namespace {

const std::map<std::string, CutRule> rules = values_by_word<CutRule>();
const std::map<std::string, CutMethod> methods = values_by_word<CutMethod>();
const std::map<std::string, Schedule> schedules = values_by_word<Schedule>();
const std::map<std::string, Transport> transports = values_by_word<Transport>();

/// The timed phases by their keys in JSON, and what a reader of the table needs to know of each.
struct Phase {
  const char *key, *label;
};
constexpr Phase phases[] = {{"set_up", "add up particles and work"},
                            {"records", "find cube, integer coordinates"},
                            {"init", "set up the services"},
                            {"bounds", "find bounds of cells"},
                            {"count", "count particles of cells"},
                            {"make_axis", "line up coordinates on axes"},
                            {"count_left", "search cuts"},
                            {"gather_keys", "gather the last few coordinates"},
                            {"greatest_id", "find the greatest id"},
                            {"select_tie", "break ties by id"},
                            {"partition", "divide particles at cuts"},
                            {"migrate", "migrate and order particles"},
                            {"local", "cut own cells"},
                            {"wait", "wait for other ranks"},
                            {"gather_cells", "gather the cells of all ranks"},
                            {"total", "total"}};

struct DecomposeOptions {
  std::string file, json;
  Count uniform = 0;
  std::uint64_t seed = 1;
  DecompositionParameters parameters;
};

/// What the command has to say; times are those of the slowest rank.
struct DecomposeResult {
  Count particles = 0;
  std::int32_t leaves = 0;
  std::int64_t rounds = 0, collectives = 0;
  std::map<std::string, double> seconds;
  double imbalance = 0;
  AspectRatios aspect{};
  std::string fault;  ///< what a count from scratch found wrong; empty: every cut is exact
  std::uint64_t tree_hash = 0;
  double bytes_per_particle = 0;  ///< at the peak, on top of the particles, all ranks together
};

/// Points in the unit cube, each made from its number alone, so the set does not depend on the ranks.
Particles uniform_particles(const Communicator& comm, Count count, std::uint64_t seed) {
  const Count begin = share_begin(count, comm.rank(), comm.size());
  const Count end = share_begin(count, comm.rank() + 1, comm.size());
  const std::uint64_t stream = mixed(seed);
  Particles particles;
  particles.resize(static_cast<std::size_t>(end - begin));
  for (Count i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - begin);
    const auto number = static_cast<std::uint64_t>(i);
    const auto coordinate = [&](std::uint64_t axis) {
      return static_cast<double>(mixed(stream + 3 * number + axis) >> 11) * 0x1p-53;
    };
    particles.position[at] = {coordinate(0), coordinate(1), coordinate(2)};
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

DecomposeResult measure(const Communicator& comm, Particles& particles,
                        const DecompositionParameters& parameters) {
  DecompositionReport report;
  release_pages();
  reset_peak_memory();
  const double before = memory_use().now;
  comm.barrier();
  const Domain domain = decompose(comm, particles, parameters, std::nullopt, report);

  DecomposeResult result;
  result.particles = domain.cells[0].count;
  result.bytes_per_particle =
      static_cast<double>(comm.sum(static_cast<std::int64_t>(memory_use().peak - before))) /
      static_cast<double>(result.particles);
  result.leaves = domain.leaves();
  result.rounds = comm.max(report.rounds);
  result.collectives = report.collectives;
  for (const auto& [phase, label] : phases) result.seconds[phase] = comm.max(report.timers.seconds(phase));
  result.imbalance = imbalance(domain);
  result.aspect = aspect_ratios(domain);
  result.fault = check_domain(comm, particles, parameters, domain);
  result.tree_hash = tree_hash(comm, particles, domain);
  return result;
}

std::string table_of(const Communicator& comm, const DecompositionParameters& p, const DecomposeResult& r) {
  std::string text = fmt::format(
      "{} particles in {} {} on {} {}\n"
      "rule {}, method {}, schedule {}, transport {}\n\n"
      "  {:<33}   seconds (slowest rank)\n",
      r.particles, r.leaves, r.leaves == 1 ? "leaf" : "leaves", comm.size(),
      comm.size() == 1 ? "rank" : "ranks", word_of(p.rule), word_of(p.method), word_of(p.schedule),
      word_of(p.transport), "phase");
  for (const auto& [phase, label] : phases)
    if (const double seconds = r.seconds.at(phase); seconds > 0)
      text += fmt::format("  {:<33} {:9.4f}\n", label, seconds);
  text += fmt::format(
      "\nrounds of the cut search  {}\ncollectives               {}\nimbalance of the work     {:.3f}\n"
      "aspect ratio of leaves    {:.2f} median, {:.2f} 99th percentile\n"
      "peak memory               {:.1f} bytes per particle\n"
      "cuts                      {}\ntree hash                 {:016x}\n",
      r.rounds, r.collectives, r.imbalance, r.aspect.median, r.aspect.p99, r.bytes_per_particle,
      r.fault.empty() ? "exact, counted again" : "WRONG: " + r.fault, r.tree_hash);
  return text;
}

std::string json_of(const Communicator& comm, const DecompositionParameters& p, const DecomposeResult& r) {
  const nlohmann::ordered_json json = {{"n", r.particles},
                                       {"leaves", r.leaves},
                                       {"ranks", comm.size()},
                                       {"backend", "kokkos"},
                                       {"rule", word_of(p.rule)},
                                       {"method", word_of(p.method)},
                                       {"schedule", word_of(p.schedule)},
                                       {"transport", word_of(p.transport)},
                                       {"rounds", r.rounds},
                                       {"collectives", r.collectives},
                                       {"timing", r.seconds},
                                       {"imbalance", r.imbalance},
                                       {"aspect", {{"median", r.aspect.median}, {"p99", r.aspect.p99}}},
                                       {"exact", r.fault.empty()},
                                       {"peak_bytes_per_particle", r.bytes_per_particle},
                                       {"tree_hash", fmt::format("{:016x}", r.tree_hash)}};
  return json.dump(2) + "\n";
}

void run_decompose(const Communicator& comm, const DecomposeOptions& options) {
  comm.together([&] {
    if (options.file.empty() == (options.uniform == 0))
      throw InputError("give either a snapshot to decompose or --uniform N");
  });
  Particles particles = options.uniform > 0 ? uniform_particles(comm, options.uniform, options.seed)
                                            : read_particles(comm, options);
  const DecomposeResult result = measure(comm, particles, options.parameters);
  comm.together([&] {
    if (!comm.is_master()) return;
    fmt::print("{}", table_of(comm, options.parameters, result));
    if (!options.json.empty()) write_text(options.json, json_of(comm, options.parameters, result));
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
  add_choice(*command, "--method", parameters.method, methods,
             "How the search for a cut narrows its interval");
  command
      ->add_option("--candidates", parameters.candidates,
                   "Cuts that `bisection` tries at once per cell and round")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  add_choice(*command, "--schedule", parameters.schedule, schedules,
             "What all ranks cut together: cells that straddle ranks, or every cell (master)");
  add_choice(*command, "--transport", parameters.transport, transports, "How service calls travel");
  command->add_option("--json", options->json, "Write the results to this file");
  command->callback([options, &action] {
    action = [options](const Communicator& comm) { run_decompose(comm, *options); };
  });
}

}  // namespace grove
