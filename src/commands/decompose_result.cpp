#include "commands/decompose_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/how_many.hpp"
#include "io/words.hpp"

namespace grove {
namespace {

/// The activity of the busiest rank, each figure by itself.
Activity busiest(const Communicator& comm, const Activity& own) {
  std::uint64_t figures[] = {own.host_bytes, own.device_bytes, own.to_device, own.to_host,
                             own.sent,       own.launches,     own.transfers};
  comm.max(std::span<std::uint64_t>(figures));
  return {figures[0], figures[1], figures[2], figures[3], figures[4], figures[5], figures[6]};
}

/// From the root to the deepest one that has been timed.
std::size_t levels_of(const PhaseTimers& levels) {
  return levels.all().empty() ? 0 : std::stoul(levels.all().rbegin()->first) + 1;
}

PhaseResult over_ranks(const Communicator& comm, const PhaseTimers::Cost& own) {
  return {comm.max(own.seconds), busiest(comm, own.activity)};
}

std::string bytes(std::uint64_t count) {
  if (count >= 1000000000) return fmt::format("{:.2f} GB", static_cast<double>(count) * 1e-9);
  if (count >= 1000000) return fmt::format("{:.2f} MB", static_cast<double>(count) * 1e-6);
  return fmt::format("{:.1f} kB", static_cast<double>(count) * 1e-3);
}

nlohmann::ordered_json json_of(const Activity& activity) {
  return {{"host_bytes", activity.host_bytes},
          {"device_bytes", activity.device_bytes},
          {"to_device", activity.to_device},
          {"to_host", activity.to_host},
          {"sent", activity.sent},
          {"launches", activity.launches},
          {"transfers", activity.transfers}};
}

nlohmann::ordered_json json_of(const MachineRates& rates) {
  return {{"host_bytes_per_second", rates.host_bytes},     {"device_bytes_per_second", rates.device_bytes},
          {"to_device_bytes_per_second", rates.to_device}, {"to_host_bytes_per_second", rates.to_host},
          {"sent_bytes_per_second", rates.sent},           {"launch_seconds", rates.launch_seconds},
          {"transfer_seconds", rates.transfer_seconds}};
}

/// Measured and, with the rates of the machine, what the activity should take.
std::string phase_lines(const DecomposeResult& r) {
  std::string text =
      fmt::format("  {:<33}   seconds{}\n", "phase (slowest rank)",
                  r.rates ? "     model    host      GPU   bus in  bus out     sent launches" : "");
  for (const auto& [key, label] : decompose_phases) {
    const auto found = r.phases.find(key);
    if (found == r.phases.end() || found->second.seconds == 0) continue;
    const auto& [seconds, a] = found->second;
    text += fmt::format("  {:<33} {:9.4f}", label, seconds);
    if (r.rates) {
      const double model = r.rates->seconds(a);
      text += model > 0 ? fmt::format(" {:9.4f}", model) : fmt::format(" {:>9}", "-");
      for (const std::uint64_t figure : {a.host_bytes, a.device_bytes, a.to_device, a.to_host, a.sent})
        text += fmt::format(" {:>9}", figure > 0 ? bytes(figure) : "-");
      text += fmt::format(" {:6}", a.launches);
    }
    text += "\n";
  }
  return text;
}

std::string rate_lines(const MachineRates& rates) {
  const auto line = [](const char* what, double rate) {
    return rate > 0 ? fmt::format("  {:<33} {:9.2f} GB/s\n", what, rate * 1e-9) : "";
  };
  std::string text = "\nmeasured at start, per rank\n";
  text += line("host memory, read", rates.host_bytes);
  text += line("GPU memory, copied", rates.device_bytes);
  text += line("host to GPU", rates.to_device);
  text += line("GPU to host", rates.to_host);
  text += line("to another rank", rates.sent);
  if (rates.launch_seconds > 0)
    text += fmt::format("  {:<33} {:9.2f} us\n  {:<33} {:9.2f} us\n", "launch of a kernel",
                        rates.launch_seconds * 1e6, "smallest transfer", rates.transfer_seconds * 1e6);
  return text;
}

}  // namespace

double MachineRates::seconds(const Activity& a) const {
  const auto time = [](std::uint64_t amount, double rate) {
    return rate > 0 ? static_cast<double>(amount) / rate : 0.0;
  };
  return time(a.host_bytes, host_bytes) + time(a.device_bytes, device_bytes) + time(a.to_device, to_device) +
         time(a.to_host, to_host) + time(a.sent, sent) + static_cast<double>(a.launches) * launch_seconds +
         static_cast<double>(a.transfers) * transfer_seconds;
}

void add_run(const Communicator& comm, const DecompositionReport& report, const Domain& domain,
             std::vector<DecomposeResult>& runs) {
  DecomposeResult& run = runs.emplace_back();
  run.particles = domain.cells[0].count;
  run.leaves = domain.leaves();
  run.rounds = comm.max(report.rounds);
  run.collectives = report.collectives;
  const PhaseTimers& timers = report.timers;
  for (const Phase& phase : decompose_phases)
    run.phases[phase.key] = over_ranks(comm, timers.cost(phase.key));
  const double all = timers.seconds("total");
  double other = 2 * all;
  for (const auto& [phase, cost] : timers.all()) other -= cost.seconds;
  run.phases["other"].seconds = comm.broadcast(other);
  run.phases["cuts"].seconds =
      comm.max(all - timers.seconds("records") - timers.seconds("migrate") - timers.seconds("order"));
  const auto levels = comm.max(static_cast<std::int64_t>(levels_of(report.levels)));
  for (std::int64_t level = 0; level < levels; ++level)
    run.levels.push_back(over_ranks(comm, report.levels.cost(level_name(static_cast<std::size_t>(level)))));
  run.imbalance = imbalance(domain);
  run.aspect = aspect_ratios(domain);
}

DecomposeResult median_of(std::vector<DecomposeResult> runs) {
  const std::size_t middle = runs.size() / 2;
  const auto median = [&](const auto& seconds_of) {
    std::vector<double> seconds;
    for (const DecomposeResult& run : runs) seconds.push_back(seconds_of(run));
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(middle), seconds.end());
    return seconds[middle];
  };
  DecomposeResult result = runs.back();
  for (auto& [key, phase] : result.phases)
    phase.seconds = median([&](const DecomposeResult& run) { return run.phases.at(key).seconds; });
  for (std::size_t level = 0; level < result.levels.size(); ++level)
    result.levels[level].seconds =
        median([&](const DecomposeResult& run) { return run.levels.at(level).seconds; });
  return result;
}

std::string table_of(const Communicator& comm, const DecomposeOptions& options, const DecomposeResult& r) {
  const DecompositionParameters& p = options.parameters;
  std::string text = r.devices;
  text += fmt::format(
      "{} in {} on {}, backend {}{}{}\n"
      "rule {}, method {}, schedule {}, transport {}{}\n\n",
      how_many(r.particles, "particle"), how_many(r.leaves, "leaf", "leaves"), how_many(comm.size(), "rank"),
      options.backend, options.no_gpu.empty() ? "" : fmt::format(" (no GPU: {})", options.no_gpu),
      options.schedule ? fmt::format(", GPU schedule ({})", word_of(*options.schedule)) : "", word_of(p.rule),
      word_of(p.method), word_of(p.schedule), word_of(p.transport),
      r.payload.empty() ? "" : ", payload " + r.payload);
  text += phase_lines(r);
  if (r.rates) text += rate_lines(*r.rates);
  text += fmt::format(
      "\nrounds of the cut search  {}\ncollectives               {}\nimbalance of the work     {:.3f}\n"
      "aspect ratio of leaves    {:.2f} median, {:.2f} 99th percentile\n"
      "peak memory               {:.1f} bytes per particle{}\n"
      "cuts                      {}\ntree hash                 {:016x}\n",
      r.rounds, r.collectives, r.imbalance, r.aspect.median, r.aspect.p99, r.bytes_per_particle,
      options.backend == "cuda" ? " of the GPUs" : "",
      r.fault.empty() ? "exact, counted again" : "WRONG: " + r.fault, r.tree_hash);
  return text;
}

std::string json_of(const Communicator& comm, const DecomposeOptions& options, const DecomposeResult& r) {
  const DecompositionParameters& p = options.parameters;
  nlohmann::ordered_json timing, activity, model, levels = nlohmann::ordered_json::array();
  for (const auto& [key, phase] : r.phases) {
    timing[key] = phase.seconds;
    activity[key] = json_of(phase.activity);
    if (r.rates) model[key] = r.rates->seconds(phase.activity);
  }
  for (const PhaseResult& level : r.levels)
    levels.push_back({{"seconds", level.seconds}, {"activity", json_of(level.activity)}});
  nlohmann::ordered_json json = {{"n", r.particles},
                                 {"leaves", r.leaves},
                                 {"ranks", comm.size()},
                                 {"backend", options.backend},
                                 {"rule", word_of(p.rule)},
                                 {"method", word_of(p.method)},
                                 {"schedule", word_of(p.schedule)},
                                 {"transport", word_of(p.transport)},
                                 {"rounds", r.rounds},
                                 {"collectives", r.collectives},
                                 {"timing", timing},
                                 {"activity", activity},
                                 {"levels", levels},
                                 {"imbalance", r.imbalance},
                                 {"aspect", {{"median", r.aspect.median}, {"p99", r.aspect.p99}}},
                                 {"exact", r.fault.empty()},
                                 {"peak_bytes_per_particle", r.bytes_per_particle},
                                 {"tree_hash", fmt::format("{:016x}", r.tree_hash)}};
  if (options.file.empty())
    json["seed"] = options.seed;
  else
    json["file"] = options.file;
  json["candidates"] = p.candidates;
  json["repeat"] = options.repeat;
  if (options.schedule) json["schedule_gpu"] = word_of(*options.schedule);
  if (!r.payload.empty()) json["payload"] = r.payload;
  if (!r.device_name.empty()) json["device"] = r.device_name;
  if (r.rates) {
    json["rates"] = json_of(*r.rates);
    json["model"] = model;
  }
  return json.dump(2) + "\n";
}

}  // namespace grove
