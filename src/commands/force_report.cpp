#include "commands/force_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/how_many.hpp"
#include "io/words.hpp"
#include "particles/field.hpp"
#include "run/log/step_counts_json.hpp"

namespace grove {
namespace {

/// The name that the processor gives itself.
std::string device_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "CPU";
}

double particles_of(const ForceResult& result) { return static_cast<double>(result.second.report.particles); }
double total_of(const MeasuredPass& pass) { return pass.seconds.at("total"); }

std::string accuracy(const ForceResult& result) {
  return result.gravity.needs_old_acceleration() ? fmt::format("delta {}", result.gravity.delta)
                                                 : fmt::format("theta {}", result.gravity.theta);
}

/// How forces come about.
std::string method(const ForceResult& result) {
  const GravityParameters& gravity = result.gravity;
  if (gravity.is_direct(result.second.report.particles)) return "direct summation";
  return fmt::format("{}, {}criterion {}, {}, {}", word_of(gravity.tree),
                     gravity.walk == WalkKind::rope ? "along ropes, " : "", word_of(gravity.criterion),
                     accuracy(result), word_of(gravity.order));
}

bool is_one_for_all(const std::array<double, particle_types>& lengths) {
  return std::all_of(lengths.begin(), lengths.end(), [&](double l) { return l == lengths[0]; });
}

/// "0.1 kpc", or by type "0.1 kpc (type 1), 0.03 kpc (type 2)".
std::string softening_of(const ForceResult& result) {
  const DisplayUnits shown(result.units);
  const auto& length = result.gravity.softening;
  if (result.softened == all_types && is_one_for_all(length)) return shown.text(length[0], dimension::length);
  std::vector<std::string> types;
  for (std::size_t t = 0; t < length.size(); ++t)
    if (result.softened >> t & 1)
      types.push_back(fmt::format("{} (type {})", shown.text(length[t], dimension::length), t));
  return fmt::format("{}", fmt::join(types, ", "));
}

/// A number, or those of a map by type.
nlohmann::ordered_json softening_json(const ForceResult& result) {
  const auto& length = result.gravity.softening;
  if (result.softened == all_types && is_one_for_all(length)) return length[0];
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t t = 0; t < length.size(); ++t)
    if (result.softened >> t & 1) json[std::to_string(t)] = length[t];
  return json;
}

std::string phase_table(const ForceResult& result) {
  std::string text =
      fmt::format("{:12}{:>12}{:>13}{:>10}\n", "seconds", "first pass", "second pass", "share");
  const double total = total_of(result.second);
  for (const char* phase : force_phases) {
    const double seconds = result.second.seconds.at(phase);
    text += fmt::format("{:12}{:12.4f}{:13.4f}{:8.1f} %\n", phase, result.first.seconds.at(phase), seconds,
                        100 * seconds / total);
  }
  return text;
}

nlohmann::ordered_json tables_json(const TableBytes& tables) {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < TableBytes::names.size(); ++i) json[TableBytes::names[i]] = tables.values()[i];
  return json;
}

}  // namespace

std::string force_table(const ForceResult& result) {
  const ForceReport& report = result.second.report;
  const double n = particles_of(result), cell = static_cast<double>(report.interactions.cell) / n,
               particle = static_cast<double>(report.interactions.particle) / n;
  std::string text = fmt::format("{}: {} in {} on {}\n", result.file, how_many(report.particles, "particle"),
                                 how_many(result.leaves, "leaf", "leaves"), how_many(result.ranks, "rank"));
  text += fmt::format(
      "{}, {} softening {}{}\n", method(result), word_of(result.gravity.kernel), softening_of(result),
      result.softening_suggested ? " (half of r / N^(1/3), r the radius of half of the particles)" : "");
  if (!result.gravity.images.are_open())
    text += fmt::format("in a periodic box of {}\n",
                        DisplayUnits(result.units).text(result.gravity.images.edge, dimension::length));
  text += result.no_gpu.empty() ? result.devices : fmt::format("no GPU is used: {}\n", result.no_gpu);
  text += '\n' + phase_table(result);
  text += fmt::format("\n{:.3f} million particles/s\n", n / total_of(result.second) / 1e6);
  text += fmt::format("a rank made at most: {}\n", result.second.counts.text());
  text +=
      fmt::format("{:.0f} + {:.0f} interactions with cells + particles, {:.1f} opening tests per particle\n",
                  cell, particle, static_cast<double>(report.interactions.tests) / n);
  if (const double expanded = static_cast<double>(report.interactions.expanded) / n; expanded > 0)
    text += fmt::format("{:.{}f} of these cells came by expansions about groups\n", expanded,
                        expanded < 10 ? 2 : 0);
  if (result.audit)
    text += fmt::format("error of {}: median {:.4f} %, 99th percentile {:.4f} %, largest {:.4f} %\n",
                        how_many(result.audit->sample, "particle"), 100 * result.audit->median,
                        100 * result.audit->p99, 100 * result.audit->max);
  if (result.ranks > 1)
    text += fmt::format(
        "received of other ranks' trees: {} nodes + {} particles, {:.2f} MB; {:.3f} of the particles of a "
        "rank\n",
        report.let.nodes, report.let.particles, static_cast<double>(report.let_bytes) / 1e6,
        report.let_fraction);
  text += fmt::format("peak memory {:.1f} MB on one rank, {:.0f} bytes per particle\n",
                      result.peak_bytes / 1e6, result.peak_bytes * result.ranks / n);
  if (result.peak_device_bytes > 0)
    text += fmt::format("peak memory of a GPU {:.1f} MB, {:.0f} bytes per particle\n",
                        result.peak_device_bytes / 1e6, result.peak_device_bytes * result.ranks / n);
  return text + fmt::format("forces {:016x}\n", result.forces_hash);
}

std::string force_json(const ForceResult& result) {
  const ForceReport& report = result.second.report;
  const double n = particles_of(result);
  nlohmann::ordered_json json = {{"n", report.particles},
                                 {"ranks", result.ranks},
                                 {"leaves", result.leaves},
                                 {"rule", word_of(result.rule)},
                                 {"backend", result.backend},
                                 {"device", result.devices.empty() ? device_name() : result.devices},
                                 {"direct", result.gravity.is_direct(report.particles)},
                                 {"criterion", word_of(result.gravity.criterion)},
                                 {"order", word_of(result.gravity.order)},
                                 {"kernel", word_of(result.gravity.kernel)},
                                 {"tree", word_of(result.gravity.tree)},
                                 {"walk", word_of(result.gravity.walk)},
                                 {"softening", softening_json(result)}};
  if (!result.gravity.images.are_open()) json["box"] = result.gravity.images.edge;
  if (result.gravity.tree == LocalTreeKind::octree) json["curve"] = word_of(result.gravity.curve);
  if (result.gravity.tree == LocalTreeKind::kd) json["split"] = word_of(result.gravity.split);
  if (result.gravity.tree != LocalTreeKind::bisection) json["bucket"] = result.gravity.bucket;
  if (result.gravity.needs_old_acceleration())
    json["delta"] = result.gravity.delta;
  else
    json["theta"] = result.gravity.theta;
  json["timing"] = result.second.seconds;
  json["timing_first"] = result.first.seconds;
  json["counts"] = json_of(result.second.counts);
  json["tables"] = tables_json(result.second.tables);
  json["particles_per_second"] = n / total_of(result.second);
  json["interactions_per_particle"] = {{"cell", static_cast<double>(report.interactions.cell) / n},
                                       {"particle", static_cast<double>(report.interactions.particle) / n},
                                       {"tests", static_cast<double>(report.interactions.tests) / n},
                                       {"expanded", static_cast<double>(report.interactions.expanded) / n}};
  const auto interactions = static_cast<double>(report.interactions.cell + report.interactions.particle);
  json["imbalance"] =
      interactions > 0 ? static_cast<double>(report.busiest) * result.ranks / interactions : 1;
  if (result.audit)
    json["error"] = {{"median", result.audit->median},
                     {"p99", result.audit->p99},
                     {"max", result.audit->max},
                     {"sample", result.audit->sample}};
  json["let"] = {{"nodes", report.let.nodes},
                 {"particles", report.let.particles},
                 {"bytes", report.let_bytes},
                 {"fraction", report.let_fraction}};
  json["peak_bytes"] = result.peak_bytes;
  if (result.peak_device_bytes > 0) json["peak_device_bytes"] = result.peak_device_bytes;
  json["forces_hash"] = fmt::format("{:016x}", result.forces_hash);
  return json.dump(2) + "\n";
}

std::string errors_table(const ForceResult& result) {
  const DisplayUnits shown(result.units);
  std::string table = "id";
  for (const char* axis : {"x", "y", "z"})
    table += fmt::format(",{}", shown.heading(axis, dimension::length));
  table += fmt::format(",{},error\n", shown.heading("acceleration", dimension::acceleration));
  const double length = shown.factor(dimension::length), acceleration = shown.factor(dimension::acceleration);
  for (const AuditedError& e : result.audit->errors)
    table +=
        fmt::format("{},{:.10g},{:.10g},{:.10g},{:.6g},{:.6g}\n", e.id, e.position.x * length,
                    e.position.y * length, e.position.z * length, e.acceleration * acceleration, e.error);
  return table;
}

}  // namespace grove
