#include "telemetry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/build_info.hpp"
#include "base/instruction_set.hpp"
#include "environment.hpp"
#include "run_log.hpp"
#include "step_counts_json.hpp"

namespace grove {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order in which they are set

Json json_of(const Vec3d& v) { return {v.x, v.y, v.z}; }

Json json_of(const Totals& totals, double energy_error, const DisplayUnits& shown) {
  const double energy = shown.factor(dimension::energy), momentum = shown.factor(dimension::momentum);
  return {{"kinetic", energy * totals.kinetic_energy},
          {"potential", energy * totals.potential_energy},
          {"external", energy * totals.external_energy},
          {"internal", energy * totals.internal_energy},
          {"total", energy * totals.total_energy()},
          {"error", energy_error},
          {"momentum", json_of(momentum * totals.momentum)},
          {"absolute_momentum", momentum * totals.absolute_momentum},
          {"angular_momentum", json_of(shown.factor(dimension::angular_momentum) * totals.angular_momentum)},
          {"centre", json_of(shown.factor(dimension::length) * totals.centre_of_mass())}};
}

/// Empty where values are bare numbers.
Json names_of(const DisplayUnits& shown) {
  constexpr std::pair<const char*, Dimension> kinds[] = {{"length", dimension::length},
                                                         {"mass", dimension::mass},
                                                         {"velocity", dimension::velocity},
                                                         {"time", dimension::time},
                                                         {"energy", dimension::energy},
                                                         {"momentum", dimension::momentum},
                                                         {"angular_momentum", dimension::angular_momentum}};
  Json names = Json::object();
  for (const auto& [kind, dimension] : kinds)
    if (const std::string name = shown.name(dimension); !name.empty()) names[kind] = name;
  return names;
}

Json json_of(const std::array<double, step_phases.size()>& seconds) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < step_phases.size(); ++i) phases[step_phases[i]] = seconds[i];
  return phases;
}

Json json_of(const Verdict& verdict, const DisplayUnits& shown) {
  const Conservation& kept = verdict.kept;
  Json json{{"energy", {{"largest", kept.largest_energy}, {"end", kept.energy}}}};
  if (verdict.spin_scale > 0)
    json["angular_momentum"] = {{"largest", kept.largest_spin / verdict.spin_scale},
                                {"end", kept.spin / verdict.spin_scale},
                                {"of", verdict.has_spin ? "size" : "sum of m |r| |v|"},
                                {"scale", shown.shown(verdict.spin_scale, dimension::angular_momentum)}};
  json["momentum"] = kept.momentum;
  json["audit"] = {{"audits", kept.audits}, {"median", kept.median}, {"p99", kept.p99}, {"max", kept.max}};
  json["lines"] = verdict.lines;
  json["warnings"] = verdict.warnings;
  return json;
}

}  // namespace

Telemetry::Telemetry(const std::filesystem::path& folder, const DisplayUnits& shown,
                     std::optional<std::int64_t> resumed_at)
    : path_(folder / "log.jsonl"), shown_(shown) {
  const auto is_later = [&](const std::string& line) { return step_of(line) > *resumed_at; };
  file_ = resumed_at ? open_log(path_, is_later) : open_log(path_);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
}

std::int64_t Telemetry::step_of(std::string_view line) {
  constexpr std::string_view of_step = R"({"event":"step","step":)";
  std::int64_t step = -1;
  if (line.starts_with(of_step))
    std::from_chars(line.data() + of_step.size(), line.data() + line.size(), step);
  return step;
}

void Telemetry::write(const std::string& object) {
  const std::string line = object + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size())
    throw std::runtime_error(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
}

void Telemetry::start(const Environment& environment, const RunStart& run) {
  const BuildInfo& build = build_info();
  Json hosts = Json::object();
  for (const auto& [host, ranks] : environment.hosts) hosts[host] = ranks;
  const Json json{{"event", "start"},
                  {"started", environment.started},
                  {"version", build.version},
                  {"commit", build.commit},
                  {"build_type", build.build_type},
                  {"compiler", build.compiler},
                  {"cuda", build.cuda},
                  {"instruction_set", compiled_instruction_set()},
                  {"mpi", environment.mpi},
                  {"processor", environment.processor},
                  {"ranks", environment.ranks},
                  {"hosts", hosts},
                  {"devices", run.devices},
                  {"particles", run.particles},
                  {"leaves", run.leaves},
                  {"units", names_of(shown_)},
                  {"time_begin", shown_.shown(run.begin, dimension::time)},
                  {"time_end", shown_.shown(run.end, dimension::time)},
                  {"longest_step", shown_.shown(run.step, dimension::time)}};
  write(json.dump());
}

void Telemetry::add(const StepReport& report) {
  Json json{{"event", "step"},
            {"step", report.step},
            {"time", shown_.shown(report.time, dimension::time)},
            {"dt", shown_.shown(report.dt, dimension::time)},
            {"rung", report.rung},
            {"active", report.active},
            {"tree_update", name_of(report.tree_update)},
            {"leaves_moved", report.leaves_moved},
            {"seconds", report.wall_seconds},
            {"run_seconds", report.run_seconds},
            {"cell_interactions", report.cell_interactions},
            {"particle_interactions", report.particle_interactions},
            {"phases", json_of(report.phases)},
            {"counts", json_of(report.counts)},
            {"walk_imbalance", report.imbalance},
            {"bytes", {{"sent", report.sent_bytes}, {"trees", report.tree_bytes}}}};
  if (report.scale_factor) json["scale_factor"] = *report.scale_factor;
  if (report.totals) json["energy"] = json_of(*report.totals, report.energy_error, shown_);
  if (report.memory)
    json["memory"] = {{"host", report.memory->host},
                      {"host_peak", report.memory->host_peak},
                      {"device_peak", report.memory->device_peak}};
  if (report.audit)
    json["audit"] = {
        {"median", report.audit->median}, {"p99", report.audit->p99}, {"max", report.audit->max}};
  write(json.dump());
}

void Telemetry::checkpoint(std::int64_t step) { write(Json{{"event", "checkpoint"}, {"step", step}}.dump()); }

void Telemetry::end(const RunEnd& run) {
  const Json json{{"event", "end"},
                  {"run_seconds", run.seconds},
                  {"phases", json_of(run.phases)},
                  {"memory", {{"host_peak", run.host_peak}, {"device_peak", run.device_peak}}},
                  {"verdict", json_of(run.verdict, shown_)}};
  write(json.dump());
}

void Telemetry::keep() const { ::fsync(::fileno(file_.get())); }

}  // namespace grove
